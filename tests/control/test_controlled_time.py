"""Time in the controlled world: virtual, free of charge, and a choice where it races with something."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.findings import Verdict

DAY_S = 24 * 3600.0


def slept(modules):
    """How long a sleep takes, on each clock, in whole milliseconds."""
    read = (modules.time.monotonic, modules.time.time, modules.time.perf_counter)
    before = [clock() for clock in read]
    modules.time.sleep(1_000)
    exact = modules.time.monotonic_ns()
    modules.time.sleep(0.25)
    return [round(clock() - begun, 3) for clock, begun in zip(read, before, strict=True)] + [
        modules.time.monotonic_ns() - exact
    ]


def test_a_sleep_takes_its_time_and_no_more(controlled):
    """Each clock moves by exactly what was slept, and nothing waits for it."""
    assert controlled.run(slept) == [1_000.25, 1_000.25, 1_000.25, 250_000_000]


def test_a_thousand_seconds_cost_a_few_steps(controlled):
    """A long sleep is one step, like a short one."""
    short, _ = controlled.execute(lambda modules: modules.time.sleep(0.001))
    long, _ = controlled.execute(lambda modules: modules.time.sleep(DAY_S))
    assert short.steps == long.steps <= 3


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1", None])
def test_impossible_sleeps_raise_as_the_real_one(controlled, outcome_of, seconds):
    """What `sleep` refuses it refuses under control, with the same exception."""
    expected = outcome_of(time.sleep, seconds)
    assert expected[0] == "raised"
    assert expected == controlled.run(lambda modules: outcome_of(modules.time.sleep, seconds))


def test_every_execution_begins_at_the_same_time(controlled):
    """Clocks start anew, so that nothing that depends on them differs between executions."""

    def program(modules):
        modules.time.sleep(77)
        return modules.time.monotonic_ns(), modules.time.time_ns()

    assert controlled.run(program) == controlled.run(program)


def ordered(modules):
    """The order in which sleepers wake up."""
    seen, sleep = [], modules.time.sleep

    def nap(seconds):
        sleep(seconds)
        seen.append(seconds)

    threads = [modules.threading.Thread(target=nap, args=(seconds,)) for seconds in (3, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def test_sleepers_wake_in_the_order_of_their_deadlines(controlled):
    """Undisturbed, the shortest sleep ends first."""
    assert controlled.run(ordered) == [1, 2, 3]


def timed(modules):
    """A Timer that fires, one that is cancelled, and waits that are over in time."""
    threading, seen = modules.threading, []
    timer = threading.Timer(5, seen.append, ("fired",))
    other = threading.Timer(5, seen.append, ("never",))
    other.cancel()
    for each in (timer, other):
        each.start()
    before = modules.time.monotonic()
    event = threading.Event()
    seen.append(event.wait(2))
    seen.append(round(modules.time.monotonic() - before, 3))
    for each in (timer, other):
        each.join()
    return seen


def test_timers_fire_on_the_virtual_clock(controlled):
    """A timer calls its function once its time has come, or not at all if it was cancelled."""
    assert controlled.run(timed) == [False, 2.0, "fired"]


def waits(modules):
    """Waits with a timeout that nobody ends, each with how long it took in milliseconds."""
    threading, clock = modules.threading, modules.time.monotonic
    held, condition = threading.Lock(), threading.Condition()
    held.acquire()
    sleeper = threading.Thread(target=modules.time.sleep, args=(DAY_S,), daemon=True)
    sleeper.start()
    pool = modules.futures.ThreadPoolExecutor(1)
    late = pool.submit(modules.time.sleep, 1_000)
    calls = {
        "lock": lambda: held.acquire(timeout=3),
        "condition": lambda: condition.wait(3),
        "wait for": lambda: condition.wait_for(list, 3),
        "event": lambda: threading.Event().wait(3),
        "semaphore": lambda: threading.Semaphore(0).acquire(timeout=3),
        "join": lambda: sleeper.join(3) or sleeper.is_alive(),
        "queue": lambda: modules.queue.Queue().get(timeout=3),
        "simple queue": lambda: modules.queue.SimpleQueue().get(timeout=3),
        "barrier": lambda: threading.Barrier(2).wait(3),
        "future": lambda: late.result(3),
    }
    seen = {}
    with condition:
        for name, call in calls.items():
            before = clock()
            try:
                told = call()
            except Exception as error:
                told = type(error).__name__
            seen[name] = (told, round(clock() - before, 3))
    return seen


def test_a_wait_that_nobody_ends_takes_its_timeout(controlled):
    """Every timed wait of the library ends at its deadline, with its own way to say so."""
    assert controlled.run(waits) == {
        "lock": (False, 3.0),
        "condition": (False, 3.0),
        "wait for": ([], 3.0),
        "event": (False, 3.0),
        "semaphore": (False, 3.0),
        "join": (True, 3.0),
        "queue": ("Empty", 3.0),
        "simple queue": ("Empty", 3.0),
        "barrier": ("BrokenBarrierError", 3.0),
        "future": ("TimeoutError", 3.0),
    }


# ------------------------------------------------------------------ explored


class Meeting:
    """What two tasks meet at, and what came of it."""

    def __init__(self):
        self.event = threading.Event()
        self.lock = threading.Lock()
        self.items = queue.Queue()
        self.told = None


def wait_for_event(meeting):
    """In time or not."""
    meeting.told = meeting.event.wait(60)


def set_event(meeting):
    """What it waits for."""
    meeting.event.set()


def get_item(meeting):
    """In time or not."""
    try:
        meeting.told = meeting.items.get(timeout=60) is None
    except queue.Empty:
        meeting.told = False


def put_item(meeting):
    """What it waits for."""
    meeting.items.put(None)


def take_lock(meeting):
    """In time or not."""
    meeting.told = meeting.lock.acquire(timeout=60)
    if meeting.told:
        meeting.lock.release()


def hold_lock(meeting):
    """What it waits for."""
    with meeting.lock:
        time.sleep(0)


def in_time(meeting):
    """Claims that the wait never times out."""
    assert meeting.told, "timed out"


def too_late(meeting):
    """Claims that the wait always times out."""
    assert not meeting.told, "in time"


RACES = [(wait_for_event, set_event), (get_item, put_item), (take_lock, hold_lock)]


@pytest.mark.parametrize("strategy", ["portfolio", "random", "dpor", "bounded"])
@pytest.mark.parametrize(("waiter", "other"), RACES, ids=["Event", "Queue", "Lock"])
def test_a_timeout_racing_its_end_goes_both_ways(waiter, other, strategy):
    """Whether a wait ends in time or not are two outcomes, and both are found."""
    effort = Effort(executions=600, seed=1, strategy=strategy)
    for check, message in ((in_time, "timed out"), (too_late, "in time")):
        outcome = explored(Program("race", Meeting, (waiter, other), check), effort)
        assert outcome.found is not None
        assert outcome.found.failure.message == message


def busy_wait():
    """Spins until a deadline; a flag may come earlier."""
    flag = []
    threading.Thread(target=lambda: (time.sleep(1), flag.append(1))).start()
    deadline = time.monotonic() + 30
    while not flag and time.monotonic() < deadline:
        pass


def polite_wait():
    """The same, with naps."""
    flag = []
    threading.Thread(target=flag.append, args=(1,)).start()
    deadline = time.monotonic() + 30
    while not flag and time.monotonic() < deadline:
        time.sleep(0.01)


def periodic():
    """Work on a schedule, with a pool and a sleeping main thread."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        naps = [pool.submit(time.sleep, 600 * number) for number in range(3)]
        time.sleep(3_600)
    assert all(nap.done() for nap in naps)


@pytest.mark.parametrize("program", [busy_wait, polite_wait, periodic], ids=lambda each: each.__name__)
def test_waiting_for_a_time_is_no_livelock(program):
    """Loops that end when their time has come do end, whoever decides."""
    outcome = explored(program, Effort(executions=300, seed=3, steps=5_000))
    assert outcome.found is None, outcome.found.failure.message
    assert outcome.verdict is Verdict.OK
