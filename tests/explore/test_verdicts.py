"""What an exploration says, and when it refuses to say anything."""

from __future__ import annotations

import pytest

from harness.control.failures import FailureKind
from harness.explore.exploration import Coverage, Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.findings import Verdict


@pytest.fixture
def counted(programs):
    """Makes a program of tasks over one counter."""

    def make(*tasks, check=None, invariant=None):
        return Program("counter", programs.Counter, tasks, check, invariant)

    return make


def test_a_sound_program_is_ok(programs, counted):
    """Nothing found within the budget, and it is said that the budget is what ended it."""
    program = counted(*[programs.increment_safely] * 2, check=programs.nothing_lost)
    outcome = explored(program, Effort(executions=60))
    assert (Verdict.OK, Coverage.BUDGET, None) == (outcome.verdict, outcome.coverage, outcome.found)
    assert outcome.executions == 60
    assert 1 < outcome.distinct <= 60


@pytest.mark.parametrize("strategy", ["bounded", "dpor"])
def test_a_search_that_is_through_is_exhausted(programs, counted, strategy):
    """All of a small program is fewer executions than allowed, and that is a proof for it."""
    program = counted(*[programs.increment_safely] * 2, check=programs.nothing_lost)
    outcome = explored(program, Effort(executions=10_000, strategy=strategy))
    assert (Verdict.OK, Coverage.EXHAUSTED) == (outcome.verdict, outcome.coverage)
    assert outcome.executions < 10_000


def test_a_search_that_is_not_through_is_no_proof(programs, counted):
    """A budget that ends a search is named as what ended it."""
    program = counted(*[programs.increment_safely] * 2, check=programs.nothing_lost)
    outcome = explored(program, Effort(executions=3, strategy="bounded"))
    assert (Coverage.BUDGET, 3) == (outcome.coverage, outcome.executions)


@pytest.mark.parametrize("strategy", ["portfolio", "random", "pos", "urw", "bounded", "dpor"])
def test_a_lost_update_is_a_violation(programs, counted, strategy):
    """The finding has kind, message, the fewest preemptions, and replays every time."""
    program = counted(*[programs.increment] * 2, check=programs.nothing_lost)
    found = explored(program, Effort(executions=300, strategy=strategy)).found
    assert (FailureKind.INVARIANT, "counted 1") == (found.failure.kind, found.failure.message)
    assert 1 == found.preemptions
    assert (10, 10) == (found.replayed, found.replays)


def test_the_same_seed_finds_the_same(programs, counted):
    """Execution, schedule and number of steps follow from the seed."""
    program = counted(*[programs.increment] * 2, check=programs.nothing_lost)
    one, other = (explored(program, Effort(executions=300, seed=9)) for _ in range(2))
    assert one.found == other.found
    assert (one.executions, one.steps, one.distinct) == (other.executions, other.steps, other.distinct)


def test_one_task_exercises_no_concurrency(programs, counted):
    """There never were two runnable tasks: UNKNOWN, and it says what to look at."""
    outcome = explored(counted(programs.increment), Effort(executions=20))
    assert outcome.verdict is Verdict.UNKNOWN
    assert "no concurrency was exercised" in outcome.reasons[0]


def test_tasks_that_announce_nothing_are_unknown(programs, counted):
    """Two tasks that pass no point could not have been interleaved."""
    outcome = explored(counted(programs.look, programs.look), Effort(executions=20))
    assert outcome.verdict is Verdict.UNKNOWN
    assert "no scheduling point" in outcome.reasons[0]


def test_executions_that_are_all_cut_are_unknown(programs, counted):
    """A step bound that no execution stays within is named."""
    outcome = explored(counted(programs.busy, programs.busy), Effort(executions=8, steps=50))
    assert (Verdict.UNKNOWN, Coverage.CUT, 8) == (outcome.verdict, outcome.coverage, outcome.cut)
    assert outcome.reasons == ("every execution reached the bound of 50 steps",)


def test_going_round_in_circles_is_a_livelock(programs, counted):
    """A loop that waits for what nobody does is a finding, not merely a long execution."""
    found = explored(counted(programs.spin, programs.spin), Effort(executions=4, steps=2_000)).found
    assert found.failure.kind is FailureKind.LIVELOCK
    assert "small_programs.py" in found.failure.where


def test_no_execution_is_no_verdict(programs, counted):
    """A budget of nothing is UNKNOWN."""
    program = counted(*[programs.increment_safely] * 2)
    for effort in (Effort(executions=0), Effort(seconds=0.0)):
        outcome = explored(program, effort)
        assert (Verdict.UNKNOWN, 0) == (outcome.verdict, outcome.executions)
        assert outcome.reasons == ("the budget allowed no execution",)


def test_seconds_end_an_exploration(programs, counted):
    """Of more executions than anybody could wait for, time lets through some."""
    program = counted(*[programs.increment_safely] * 2)
    outcome = explored(program, Effort(executions=1 << 60, seconds=0.1))
    assert (Verdict.OK, Coverage.BUDGET) == (outcome.verdict, outcome.coverage)
    assert 1 <= outcome.executions < 1 << 40


def test_a_counter_that_outlives_executions_is_not_blamed_on_the_schedule(programs, counted):
    """A failure that does not come back under the same decisions is UNKNOWN, and said to be."""
    outcome = explored(counted(programs.moody, programs.moody), Effort(executions=50))
    assert (Verdict.UNKNOWN, FailureKind.NONDETERMINISM) == (outcome.verdict, outcome.found.failure.kind)
    assert "in a mood" in outcome.reasons[0]


def test_time_that_passes_is_virtual(programs, counted):
    """An hour of sleep in each of many executions passes, and both sleepers wake."""
    program = counted(programs.nap, programs.nap)
    assert explored(program, Effort(executions=20)).verdict is Verdict.OK


def test_an_invariant_is_checked_after_every_step_if_asked_for(programs, counted):
    """What holds at the end, and not on the way, is found by looking on the way only."""
    program = counted(
        programs.open_and_close, programs.look, check=programs.closed, invariant=programs.closed
    )
    found = explored(program, Effort(executions=20, every_step=True)).found
    assert (FailureKind.INVARIANT, "it is open") == (found.failure.kind, found.failure.message)
    assert explored(program, Effort(executions=20)).found is None


def test_a_racing_start_lets_early_tasks_go_on(programs):
    """With it a task may be through before the next is spawned; both ways each order is reached."""
    program = Program("order", programs.Ordered, (programs.first, programs.second), programs.in_order)
    for racing in (True, False):
        found = explored(program, Effort(executions=200, racing_start=racing)).found
        assert found.failure.message == "overtaken"
        assert ("spawn" in {step.kind for step in found.steps}) == racing


def test_processes_find_what_one_process_finds(programs, counted):
    """Batches follow from the seed, whoever runs them."""
    program = counted(*[programs.increment] * 2, check=programs.nothing_lost)
    alone, together = (explored(program, Effort(executions=500, seed=2, jobs=jobs)) for jobs in (1, 2))
    assert alone.found == together.found
