"""Going round in circles is told from taking long: the one is a failure, the other says nothing."""

from __future__ import annotations

import threading
import time

import pytest

from harness.control.failures import FailureKind
from harness.explore.exploration import Coverage, Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.findings import Verdict

STEPS = 3_000


class Desk:
    """What polite tasks share."""

    def __init__(self):
        self.lock = threading.Lock()
        self.go = False
        self.count = 0


def spin_on_flag(desk):
    """Waits for a flag that nobody sets, without a pause."""
    while not desk.go:
        pass


def sleep_on_flag(desk):
    """The same with a pause."""
    while not desk.go:
        time.sleep(0.1)


def yield_on_flag(desk):
    """The same, politely."""
    while not desk.go:
        time.sleep(0)


def try_for_ever(desk):
    """Tries for a lock that is never free."""
    while not desk.lock.acquire(blocking=False):
        pass


def keep(desk):
    """Takes the lock and leaves with it."""
    desk.lock.acquire()


def locked_look(desk):
    """Looks under a lock, again and again."""
    while True:
        with desk.lock:
            if desk.go:
                return


def nothing(desk):
    """A second task, that is soon done."""
    with desk.lock:
        pass


CIRCLES = [spin_on_flag, sleep_on_flag, yield_on_flag, locked_look]


@pytest.mark.parametrize("spinner", CIRCLES, ids=lambda each: each.__name__)
def test_a_loop_that_nothing_ends_is_a_livelock(spinner):
    """A task that looks again and again at what nobody will change is named with its line."""
    outcome = explored(Program("circle", Desk, (spinner, nothing)), Effort(50, steps=STEPS))
    assert outcome.verdict is Verdict.VIOLATION
    failure = outcome.found.failure
    assert failure.kind is FailureKind.LIVELOCK
    assert failure.message.startswith("these tasks go round in circles and nothing changes")
    assert f"{spinner.__name__} at test_livelock.py:" in failure.message
    assert failure.where.endswith(f" in {spinner.__name__}")


def test_two_that_wait_for_each_others_flag_are_both_named():
    """Every task that takes part is told."""
    outcome = explored(Program("two", Desk, (spin_on_flag, yield_on_flag)), Effort(50, steps=STEPS))
    assert outcome.found.failure.kind is FailureKind.LIVELOCK
    assert "spin_on_flag at test_livelock.py:" in outcome.found.failure.message
    assert "yield_on_flag at test_livelock.py:" in outcome.found.failure.message


def test_trying_for_a_lock_that_is_never_free_is_a_livelock():
    """A lock that its taker left with is spun on for ever; a blocking acquire would be a deadlock."""
    outcome = explored(Program("try", Desk, (keep, try_for_ever)), Effort(50, steps=STEPS))
    assert outcome.found.failure.kind is FailureKind.LIVELOCK
    assert "try_for_ever at test_livelock.py:" in outcome.found.failure.message


def raise_flag(desk):
    """Ends the wait."""
    desk.go = True


@pytest.mark.parametrize("spinner", CIRCLES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("strategy", ["portfolio", "random", "pct"])
def test_a_loop_that_another_task_ends_is_none(spinner, strategy):
    """However long a strategy starves the task that ends it, a spin is no livelock."""
    program = Program("spin", Desk, (spinner, raise_flag))
    outcome = explored(program, Effort(executions=200, steps=STEPS, strategy=strategy))
    assert outcome.found is None, outcome.found.failure.message
    assert outcome.verdict is Verdict.OK
    assert outcome.cut == 0


def long_count(desk):
    """Changes something in every round, and is not done before the bound."""
    for _ in range(STEPS):
        desk.count += 1


def local_count(desk):
    """Comes back to the same point with another local value each time."""
    seen = 0
    while seen < STEPS:
        seen += not desk.go


def by_the_clock(desk):
    """Waits for an hour, looking at the clock in between."""
    until = time.monotonic() + 3_600
    while time.monotonic() < until and not desk.go:
        time.sleep(0.5)


@pytest.mark.parametrize("program", [long_count, local_count, by_the_clock], ids=lambda each: each.__name__)
def test_what_only_takes_long_is_cut_and_says_nothing(program):
    """An execution that reaches its bound while something changes is no failure, and no pass either."""
    outcome = explored(Program("long", Desk, (program, nothing)), Effort(20, steps=STEPS))
    assert outcome.found is None
    assert outcome.cut == outcome.executions
    assert outcome.coverage is Coverage.CUT
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reasons == (f"every execution reached the bound of {STEPS} steps",)


def for_days(desk):
    """Looks at the clock and at a flag, and has no end in sight."""
    while not desk.go:
        time.monotonic()
        time.sleep(3_600)


def test_a_loop_that_reads_the_clock_needs_days():
    """Once days have passed, who waits for a time would have seen it come."""
    outcome = explored(Program("days", Desk, (for_days, nothing)), Effort(20, steps=STEPS))
    assert outcome.found.failure.kind is FailureKind.LIVELOCK


def dance(desk):
    """Flips a flag to and fro."""
    while True:
        desk.go = True
        desk.go = False


@pytest.mark.xfail(reason="a limit: writing the same two values in turn counts as a change", strict=True)
def test_a_dance_that_changes_something_is_a_livelock():
    """Tasks that undo each other's work for ever change something and get nowhere."""
    outcome = explored(Program("dance", Desk, (dance, dance)), Effort(20, steps=STEPS))
    assert outcome.found is not None
    assert outcome.found.failure.kind is FailureKind.LIVELOCK
