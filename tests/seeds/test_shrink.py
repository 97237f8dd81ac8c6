"""Replays survive edits and say what they missed; what is shrunk still fails and cannot be made smaller."""

from __future__ import annotations

import pytest

from harness.control.trace import TraceRecorder
from harness.explore.exploration import Effort
from harness.explore.explorer import laboratory_for
from harness.seeds.schedule import Seed, deviations_of
from harness.seeds.shrink import shrunk
from harness.strategies import strategy_named
from harness.strategies.replay import Replay
from harness.strategies.rerun import Rerun
from scenarios.known_bugs import KNOWN_BUGS

BUGS = {bug.name: bug for bug in KNOWN_BUGS}
SAMPLE = ("account", "stringbuffer", "deadlock01", "twostage", "wronglock", "din_phil_3")
EDITS = {
    "nothing": lambda text: text,
    "a comment": lambda text: text.replace("    left = till", "    # look\n    left = till"),
    "a statement": lambda text: text.replace("    left = till", "    unused = str(1)\n    left = till"),
    "an attribute": lambda text: text.replace(
        "        self.cash", "        self.owner = 1\n        self.cash"
    ),
    "a renamed local": lambda text: text.replace("left", "remaining"),
    "a function in front": lambda text: text.replace("def pay", "def other():\n    pass\n\n\ndef pay"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_schedule_survives_what_leaves_its_points_alone(laboratory, found_in, till, edit):
    """Through its text, the schedule of one version shows the same failure in the edited one."""
    found = found_in(laboratory(till))
    seed = Seed.from_text(Seed(found.schedule).to_text())
    edited = EDITS[edit](till)
    assert (edited == till) == (edit == "nothing")
    replay = Replay(seed.schedule)
    ended = laboratory(edited).run(replay)
    assert replay.missed == ""
    assert found.failure.message == ended.failure.message


def test_a_point_that_is_gone_is_named(laboratory, found_in, till):
    """Without the access that it waits for, a schedule says which step did not apply, and nothing fails."""
    found = found_in(laboratory(till))
    [deviation] = [one for one in found.schedule if "Till.cash" in one.at.label]
    repaired = till.replace("till.cash = left - 6", "till.paid = left").replace("== 5", "== 10")
    repaired = repaired.replace("till.cash = left + 1", "till.added = left")
    replay = Replay(found.schedule)
    ended = laboratory(repaired).run(replay)
    assert ended.failure is None
    assert replay.missed.startswith(
        f"step {found.schedule.index(deviation) + 1} of {len(found.schedule)} did"
    )
    assert f"{deviation.at.task} never came to '{deviation.at.label}' for the 1st time" in replay.missed


def a_failure(laboratory):
    """The first failing execution of a walk, as a schedule, with its failure and its preemptions."""
    walk, last = strategy_named("random", 3), None
    for _ in range(2_000):
        walk.begin(last)
        last = laboratory.run(walk)
        if last.failure is not None:
            recorder = TraceRecorder()
            laboratory.run(Rerun(last.decisions, walk.early_timeouts), recorder)
            return deviations_of(recorder.steps), last.failure, preemptions(recorder.steps)
    raise AssertionError("nothing failed")


def preemptions(steps):
    """How many of the steps preempt."""
    return sum(step.preempts for step in steps)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_shrunk_schedule_still_fails_and_is_no_larger(name):
    """Kind and type of the failure stay, preemptions and deviations do not grow, and it shows again."""
    laboratory = laboratory_for(BUGS[name].buggy, Effort())
    schedule, failure, before = a_failure(laboratory)
    small = shrunk(laboratory, schedule, failure)
    assert small.same(failure)
    assert small.shows_again()
    assert preemptions(small.steps) <= before
    assert (preemptions(small.steps), len(small.schedule)) <= (before, len(schedule))


@pytest.mark.parametrize("name", SAMPLE)
def test_shrinking_twice_is_shrinking_once(name):
    """What came out small stays as it is."""
    laboratory = laboratory_for(BUGS[name].buggy, Effort())
    schedule, failure, _ = a_failure(laboratory)
    small = shrunk(laboratory, schedule, failure)
    assert small.schedule == shrunk(laboratory, small.schedule, small.failure).schedule


@pytest.mark.parametrize("name", SAMPLE)
def test_shrinking_is_deterministic(name):
    """Two laboratories shrink the same schedule to the same, in as many replays."""
    results = []
    for _ in range(2):
        laboratory = laboratory_for(BUGS[name].buggy, Effort())
        schedule, failure, _ = a_failure(laboratory)
        small = shrunk(laboratory, schedule, failure)
        results.append((schedule, small.schedule, small.failure, small.replays))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", SAMPLE)
def test_no_deviation_is_superfluous(name):
    """Without any one of its deviations a shrunk schedule no longer fails in the same way."""
    laboratory = laboratory_for(BUGS[name].buggy, Effort())
    schedule, failure, _ = a_failure(laboratory)
    small = shrunk(laboratory, schedule, failure)
    for place in range(len(small.schedule)):
        ended = laboratory.run(Replay(small.schedule[:place] + small.schedule[place + 1 :]))
        assert ended.failure is None or not small.same(ended.failure)
