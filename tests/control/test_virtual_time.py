"""Virtual time: exact, moved by waits alone, and readable by code that truncates."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.control.virtual import Allocations, VirtualTime

TEN_YEARS_MS = 10 * 365 * 24 * 3_600 * 1_000
DURATIONS = st.integers(0, TEN_YEARS_MS)


@settings(deadline=None)
@given(milliseconds=DURATIONS)
def test_truncated_seconds_are_the_milliseconds_that_we_mean(milliseconds):
    """int(seconds * 1000) gives the intended millisecond, on each clock, for ten years."""
    clock = VirtualTime()
    module = clock.module()
    began, wall = clock.now_ms, module.time_ns() // 1_000_000
    clock.advance_ms(milliseconds)
    assert began + milliseconds == clock.now_ms
    assert began + milliseconds == int(module.monotonic() * 1_000) == int(module.perf_counter() * 1_000)
    assert wall + milliseconds == int(module.time() * 1_000)


@settings(deadline=None)
@given(waits=st.lists(st.integers(1, 300_000), max_size=20))
def test_waits_for_float_seconds_add_up_to_whole_milliseconds(waits):
    """Waiting is exact: no rounding gathers up over many waits of milliseconds given as seconds."""
    clock = VirtualTime()
    began = clock.now_ms
    for milliseconds in waits:
        clock.wait(milliseconds / 1_000)
    assert began + sum(waits) == clock.now_ms == int(clock.module().monotonic() * 1_000)
    assert len(waits) == clock.moves


@settings(deadline=None)
@given(began=st.integers(0, 10**7), budget=st.integers(1, 10**6))
def test_waiting_out_a_remainder_in_floats_stays_within_a_millisecond(began, budget):
    """A deadline kept in float seconds, and waited for by its remainder, is met to the millisecond."""
    clock = VirtualTime()
    module = clock.module()
    clock.advance_ms(began)
    start = clock.now_ms
    deadline = module.monotonic() + budget / 1_000
    clock.wait(deadline - module.monotonic())
    assert start + budget == clock.now_ms


def test_a_truncated_difference_is_the_milliseconds_that_we_mean():
    """int((later - earlier) * 1000) gives the time that passed."""
    clock = VirtualTime()
    module = clock.module()
    lost = []
    for milliseconds in range(1, 100):
        before = module.monotonic()
        clock.advance_ms(milliseconds)
        if milliseconds != int((module.monotonic() - before) * 1_000):
            lost.append(milliseconds)
    assert lost == []


def test_the_wall_clock_steps_alone():
    """Stepping the wall clock moves time.time and nothing else, and counts as no wait."""
    clock = VirtualTime()
    module = clock.module()
    monotonic, wall = module.monotonic_ns(), module.time_ns()
    clock.step_wall_ms(-3_600_000)
    assert monotonic == module.monotonic_ns()
    assert wall - 3_600_000 * 1_000_000 == module.time_ns()
    assert clock.moves == 0


def test_a_reset_goes_back_to_the_beginning():
    """After a reset the same program sees the same times."""
    clock = VirtualTime()
    module = clock.module()
    first = module.monotonic_ns(), module.time_ns(), clock.moves
    module.sleep(3)
    clock.step_wall_ms(5)
    clock.reset()
    assert first == (module.monotonic_ns(), module.time_ns(), clock.moves)


def test_sleeping_moves_the_clock():
    """A sleep lasts exactly as long as asked and is counted; none lasts no time."""
    clock = VirtualTime()
    sleep = clock.module().sleep
    before = clock.now_ns
    sleep(1.5)
    assert 0 <= clock.now_ns - before - 1_500_000_000 < 1_000
    assert clock.moves == 1


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1", None])
def test_sleeping_refuses_what_the_real_sleep_refuses(seconds):
    """Impossible durations raise the exception that the real sleep raises."""
    with pytest.raises((ValueError, TypeError)) as real:
        time.sleep(seconds)
    with pytest.raises(real.type):
        VirtualTime().module().sleep(seconds)


def test_every_sleep_moves_the_clock_a_little():
    """A loop that yields until a deadline gets there."""
    clock = VirtualTime()
    before = clock.now_ns
    clock.module().sleep(0)
    assert before < clock.now_ns


def test_the_rest_of_the_time_module_is_there():
    """What is not about now is the real thing, and the real module is left as it was."""
    before = dict(vars(time))
    module = VirtualTime().module()
    assert module.strftime is time.strftime
    assert module.struct_time is time.struct_time
    assert set(dir(time)) <= set(dir(module))
    assert before == vars(time)


@pytest.mark.xfail(
    reason="a limit: time.clock_gettime and the local-time functions read the machine's clocks", strict=True
)
@pytest.mark.skipif(not hasattr(time, "clock_gettime_ns"), reason="there is no clock_gettime here")
def test_clock_gettime_is_virtual():
    """The system call's wrapper shows the virtual clock too."""
    clock = VirtualTime()
    assert clock.now_ns == clock.module().clock_gettime_ns(time.CLOCK_MONOTONIC)


@pytest.mark.parametrize("which", [1, 2, 5])
def test_the_allocation_that_was_asked_for_fails(which):
    """Exactly one allocation raises, and says that it was we who did it."""
    allocations = Allocations()
    allocations.fail_at = which
    for _ in range(which - 1):
        allocations.count()
    assert not allocations.failed
    with pytest.raises(MemoryError, match="injected by the harness"):
        allocations.count()
    assert allocations.failed
    allocations.count()
