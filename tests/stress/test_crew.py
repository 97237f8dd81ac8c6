"""The threads that play the roles: how they start, what becomes of their errors, and when they are stuck."""

from __future__ import annotations

import queue
import threading
import time

import pytest

from harness.history import Recorder
from harness.stress import crew as crew_module
from harness.stress.crew import Crew, Stuck
from harness.stress.parking import parking_is_visible

PATIENCE = 10  # seconds after which a test that hangs gives up; none takes as long


@pytest.fixture
def crew(scenario):
    """Makes crews, and sends them home after the test."""
    made = []

    def make(roles, **others):
        made.append(Crew(scenario(roles, **others), None, time.sleep))
        return made[-1]

    yield make
    for one in made:
        one.dismiss()


@pytest.fixture
def impatient(monkeypatch):
    """Beats so short that a stuck strand is reported in a fraction of a second."""
    monkeypatch.setattr(crew_module, "_BEAT_S", 0.005)
    monkeypatch.setattr(crew_module, "_BEATS_TO_STUCK", 40)
    monkeypatch.setattr(crew_module, "_BEATS_PARKED", 10)


def nothing(strand):
    """Plays no part."""


@pytest.mark.stress
def test_all_members_are_inside_together(crew):
    """A barrier that needs every strand of every role opens, round after round."""
    barrier = threading.Barrier(5)
    meet = lambda strand: barrier.wait(PATIENCE)  # noqa: E731 - a role's body
    played = crew({"one": (meet, 3), "two": (meet, 2)})
    for _ in range(20):
        played.play(0.0, lambda: None)
    assert [None] * 5 == [member.error for member in played.members]
    assert ["one-0", "one-1", "one-2", "two-0", "two-1"] == [member.name for member in played.members]


@pytest.mark.stress
def test_an_error_is_kept_with_the_member_that_made_it(crew):
    """The others play on, and the round ends as usual."""

    def odd_ones_fail(strand):
        if strand.index % 2:
            raise ValueError(strand.index)

    played = crew({"one": (odd_ones_fail, 4)})
    played.play(0.0, lambda: None)
    assert [None, "1", None, "3"] == [member.error and str(member.error) for member in played.members]


@pytest.mark.stress
def test_a_soak_goes_on_until_its_time_is_over(crew):
    """`running` is true while the caller's part lasts, and false afterwards."""
    seen, playing = [], threading.Event()

    def soak(strand):
        while strand.running():
            playing.set()
            strand.pause(1)
        seen.append(strand.index)

    played = crew({"one": (soak, 2)})
    for _ in range(2):
        playing.clear()
        played.play(0.0, lambda: playing.wait(PATIENCE))
    assert [0, 0, 1, 1] == sorted(seen)


@pytest.mark.stress
def test_strands_that_do_not_return_are_reported_with_their_stacks(crew, impatient, release):
    """Precisely those, each with the line at which it is."""

    def never_returns(strand):
        release.wait()

    played = crew({"free": (nothing, 2), "stuck": (never_returns, 2)})
    with pytest.raises(Stuck, match="stuck-0, stuck-1") as caught:
        played.play(0.0, lambda: None)
    assert ["stuck-0", "stuck-1"] == sorted(caught.value.stacks)
    assert all("in never_returns" in stack for stack in caught.value.stacks.values())
    assert not any("in _bootstrap" in stack for stack in caught.value.stacks.values())


@pytest.mark.stress
def test_a_strand_that_runs_in_circles_is_stuck_too(crew, impatient, release):
    """It is never parked, and gets nowhere."""

    def circles(strand):
        while not release.is_set():
            time.sleep(0)

    played = crew({"circling": circles, "free": nothing})
    with pytest.raises(Stuck) as caught:
        played.play(0.0, lambda: None)
    assert ["circling-0"] == list(caught.value.stacks)


@pytest.mark.stress
def test_the_auditor_works_alone(crew):
    """Nobody else is inside while the auditor is, and what it raises is raised to the caller."""
    inside = []
    played = crew({"one": (nothing, 3)})
    played.audit(lambda strand: inside.extend(member.inside for member in played.members))
    played.play(0.0, lambda: None)
    played.audit(lambda strand: inside.append(strand.name))
    assert [False, False, False, "audit-0"] == inside

    def fails(strand):
        raise LookupError("audit")

    with pytest.raises(LookupError, match="audit"):
        played.audit(fails)


@pytest.mark.stress
def test_an_auditor_that_does_not_return_is_stuck(crew, impatient, release):
    """The closing look is a strand like any other."""
    with pytest.raises(Stuck) as caught:
        crew({"one": nothing}).audit(lambda strand: release.wait())
    assert ["audit-0"] == list(caught.value.stacks)


@pytest.mark.stress
def test_dismissed_threads_go_home(crew):
    """A crew leaves no thread behind."""
    before = set(threading.enumerate())
    played = crew({"one": (nothing, 3)})
    ours = set(threading.enumerate()) - before
    played.play(0.0, lambda: None)
    played.dismiss()
    for thread in ours:
        thread.join(PATIENCE)
    assert (4, set()) == (len(ours), ours & set(threading.enumerate()))


@pytest.mark.stress
@pytest.mark.skipif(not parking_is_visible(), reason="this system does not show the states of threads")
def test_a_strand_can_await_others_that_are_blocked(crew, release):
    """True once all strands of the role sleep inside of their bodies."""
    answers = []

    def opener(strand):
        answers.append(strand.await_parked("blocked"))
        release.set()

    played = crew({"blocked": (lambda strand: release.wait(), 3), "opener": opener})
    played.play(0.0, lambda: None)
    assert [True] == answers


@pytest.mark.stress
def test_a_strand_does_not_await_others_for_ever(crew, monkeypatch):
    """False when they have returned, or when nothing can be known."""
    monkeypatch.setattr(crew_module, "_PARKING_LOOKS", 5)
    answers = []
    played = crew({"gone": nothing, "asks": lambda strand: answers.append(strand.await_parked("gone"))})
    played.play(0.0, lambda: None)
    monkeypatch.setattr(crew_module, "parking_is_visible", lambda: False)
    played.play(0.0, lambda: None)
    assert [False, False] == answers


@pytest.mark.stress
@pytest.mark.skipif(not parking_is_visible(), reason="this system does not show the states of threads")
def test_a_role_that_nobody_plays_is_never_parked(crew):
    """A misspelt role must not look like one whose strands are all blocked."""
    answers = []
    played = crew({"asks": lambda strand: answers.append(strand.await_parked("ask"))})
    played.play(0.0, lambda: None)
    assert [False] == answers or isinstance(played.members[0].error, LookupError)


@pytest.mark.stress
def test_values_are_fresh(crew):
    """No two strands are given the same value, nor one strand in two rounds."""
    values = []
    played = crew({"one": (lambda strand: values.extend([strand.fresh("x"), strand.fresh("x")]), 3)})
    played.play(0.0, lambda: None)
    played.play(0.0, lambda: None)
    assert 12 == len(set(values)) == len(values)


# When a strand counts as stuck: scripted beats instead of time


class Beats:
    """The queue on which members come back; None is a beat without any."""

    def __init__(self, *script):
        self.script = list(script)
        self.used = 0

    def get(self, timeout):
        self.used += 1
        entry = self.script.pop(0) if self.script else None
        if entry is None:
            raise queue.Empty
        return entry


@pytest.fixture
def scripted(crew, monkeypatch):
    """Lets a crew of two await scripted beats, with progress and parking as told; the beats it used."""
    monkeypatch.setattr(crew_module, "_BEATS_TO_STUCK", 4)
    monkeypatch.setattr(crew_module, "_BEATS_PARKED", 3)

    def play(*script, moves=(), parked=lambda beat: False):
        played = crew({"one": (nothing, 2)})
        beats = played._back = Beats(*script)
        monkeypatch.setattr(played, "_progress", lambda missing: sum(beat <= beats.used for beat in moves))
        monkeypatch.setattr(played, "_all_parked", lambda missing: parked(beats.used))
        try:
            played._await({0, 1})
        except Stuck as stuck:
            return beats.used, sorted(stuck.stacks)
        return beats.used, []

    return play


def test_enough_beats_without_progress_are_stuck(scripted):
    """Four beats in which nobody got on, and not three."""
    assert (4, ["one-0", "one-1"]) == scripted()
    assert (5, []) == scripted(None, None, None, 0, 1)
    assert (5, ["one-1"]) == scripted(0)


def test_progress_resets_the_beats(scripted):
    """A strand that made a call gets all of its beats again."""
    assert (7, ["one-0", "one-1"]) == scripted(moves=[3])
    assert (13, ["one-0", "one-1"]) == scripted(moves=[3, 6, 9])


def test_a_member_that_comes_back_resets_the_beats(scripted):
    """The others may have waited for it."""
    assert (8, ["one-1"]) == scripted(None, None, None, 0)


def test_parked_strands_are_stuck_sooner(scripted):
    """Three beats in which all that are still out are blocked; one look that says otherwise starts again."""
    assert (3, ["one-0", "one-1"]) == scripted(parked=lambda beat: True)
    assert (4, ["one-0", "one-1"]) == scripted(parked=lambda beat: beat > 1)
    assert (4, ["one-0", "one-1"]) == scripted(parked=lambda beat: beat != 2)


def test_a_wait_within_its_budget_is_not_stuck(crew, scripted, monkeypatch):
    """The beats count from the end of the budget on, for all who may be waiting for that strand."""
    monkeypatch.setattr(Crew, "_waits_by_right", lambda self, missing: self._back.used <= 20)
    assert (24, ["one-0", "one-1"]) == scripted()
    assert (23, ["one-0", "one-1"]) == scripted(parked=lambda beat: True)


def test_a_budget_lasts_from_the_call_on(scenario, monkeypatch):
    """A strand waits by right as long as its call in progress was given, and not once that is over."""
    clock = [0]
    monkeypatch.setattr(time, "perf_counter_ns", lambda: clock[0])
    played = Crew(scenario({"one": (nothing, 2)}), None, time.sleep, lambda call: call.arguments[0])
    played.dismiss()
    seen = []

    def look(_):
        for clock[0] in (29_999_999, 30_000_000):
            seen.append((played._waits_by_right({0, 1}), played._waits_by_right({0})))

    recorder = played.members[1].recorder = Recorder("one-1")
    call = recorder.wrap("wait", look)
    call(30)
    assert [(True, False), (False, False)] == seen
    assert not played._waits_by_right({0, 1})


def test_progress_is_made_by_calls(crew):
    """It is counted per strand that is still out, and by what has returned."""
    played = crew({"one": (nothing, 2)})
    before = played._progress({0, 1})
    recorder = played.members[1].recorder = Recorder("one-1")
    recorder.wrap("call", lambda: None)()
    assert ([0, 0], [0, 1], [0]) == (before, played._progress({0, 1}), played._progress({0}))
