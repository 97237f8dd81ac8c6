"""The single-strand world's `threading` and `queue` against the real ones, on the same programs.

With one strand the two must answer alike, except that a wait takes virtual time instead of real, and
that what would block for ever raises. Budgets are a microsecond, so that the real side is quick.
"""

from __future__ import annotations

import queue
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.control.virtual import NeedsThreads, WouldBlock
from harness.control.world import solo_world

BRIEF_S = 0.000_001
BRIEF_NS = 1_000


class Both:
    """The private modules, with their clock, and the real ones."""

    def __init__(self):
        self.world, self.clock, self.allocations = solo_world([])
        self.threading = self.world.load("threading")
        self.queue = self.world.load("queue")

    def outcome(self, action, *arguments):
        """An action's value or exception, as something to compare, and how far it moved the clock."""
        before = self.clock.now_ns
        try:
            told = ("returned", action(*arguments))
        except Exception as error:
            told = ("raised", type(error).__name__)
        return told, self.clock.now_ns - before


@pytest.fixture(scope="module")
def both():
    """One world for all programs: the clock only goes on."""
    return Both()


LOCK = {
    "try": lambda lock: lock.acquire(blocking=False),
    "try briefly": lambda lock: lock.acquire(timeout=BRIEF_S),
    "release": lambda lock: lock.release(),
    "locked": lambda lock: lock.locked() if hasattr(lock, "locked") else None,
    "enter if free": lambda lock: (
        lock.__enter__() if lock.acquire(blocking=False) and not lock.release() else None
    ),
    "exit": lambda lock: lock.__exit__(None, None, None),
}
RLOCK = {name: action for name, action in LOCK.items() if name != "locked"}
CONDITION = {
    "acquire": lambda condition: condition.acquire(blocking=False),
    "release": lambda condition: condition.release(),
    "wait": lambda condition: condition.wait(BRIEF_S),
    "wait 0": lambda condition: condition.wait(0),
    "wait for it": lambda condition: condition.wait_for(lambda: False, BRIEF_S),
    "wait for nothing": lambda condition: condition.wait_for(lambda: "there", BRIEF_S),
    "notify": lambda condition: condition.notify(),
    "notify all": lambda condition: condition.notify_all(),
}
EVENT = {
    "set": lambda event: event.set(),
    "clear": lambda event: event.clear(),
    "is set": lambda event: event.is_set(),
    "wait": lambda event: event.wait(BRIEF_S),
    "wait 0": lambda event: event.wait(0),
}
SEMAPHORE = {
    "try": lambda semaphore: semaphore.acquire(blocking=False),
    "try briefly": lambda semaphore: semaphore.acquire(timeout=BRIEF_S),
    "mixed up": lambda semaphore: semaphore.acquire(blocking=False, timeout=BRIEF_S),
    "release": lambda semaphore: semaphore.release(),
    "release two": lambda semaphore: semaphore.release(2),
    "release none": lambda semaphore: semaphore.release(0),
}
QUEUE = {
    "put": lambda items: items.put(len(str(items)), block=False),
    "put 1": lambda items: items.put(1, timeout=BRIEF_S),
    "put 2": lambda items: items.put_nowait(2),
    "put late": lambda items: items.put(1, timeout=-1),
    "get": lambda items: items.get(block=False),
    "get briefly": lambda items: items.get(timeout=BRIEF_S),
    "get late": lambda items: items.get(timeout=-1),
    "size": lambda items: items.qsize(),
    "empty": lambda items: items.empty(),
}
BOUNDED = {**QUEUE, "full": lambda items: items.full(), "done": lambda items: items.task_done()}
BOUNDED.pop("put")  # a repr with an address in it
QUEUE.pop("put")
# A budget that is over before CPython's SimpleQueue looks at the clock again becomes a wait without end.
UNTIMED = {name: action for name, action in QUEUE.items() if name != "get briefly"}
BARRIER = {
    "wait": lambda barrier: barrier.wait(BRIEF_S),
    "abort": lambda barrier: barrier.abort(),
    "reset": lambda barrier: barrier.reset(),
    "broken": lambda barrier: barrier.broken,
    "waiting": lambda barrier: barrier.n_waiting,
}
KINDS = {
    "Lock": (lambda module: module.Lock(), LOCK),
    "RLock": (lambda module: module.RLock(), RLOCK),
    "Condition": (lambda module: module.Condition(), CONDITION),
    "Condition of a Lock": (lambda module: module.Condition(module.Lock()), CONDITION),
    "Event": (lambda module: module.Event(), EVENT),
    "Semaphore": (lambda module: module.Semaphore(1), SEMAPHORE),
    "BoundedSemaphore": (lambda module: module.BoundedSemaphore(2), SEMAPHORE),
    "Barrier(1)": (lambda module: module.Barrier(1), BARRIER),
    "Barrier(2)": (lambda module: module.Barrier(2), BARRIER),
    "Queue": (lambda module: module.Queue(2), BOUNDED),
    "LifoQueue": (lambda module: module.LifoQueue(), BOUNDED),
    "PriorityQueue": (lambda module: module.PriorityQueue(1), BOUNDED),
    "SimpleQueue": (lambda module: module.SimpleQueue(), UNTIMED),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_a_primitive_answers_as_the_real_one(both, kind, data):
    """Same program, same results and exceptions; time moves only where a timed wait ran out."""
    make, actions = KINDS[kind]
    modules = (both.queue, queue) if "Queue" in kind else (both.threading, threading)
    private, real = (make(module) for module in modules)
    for name in data.draw(st.lists(st.sampled_from(sorted(actions)), max_size=15)):
        expected, _ = both.outcome(actions[name], real)
        told, moved = both.outcome(actions[name], private)
        assert expected == told, name
        assert moved == 0 or "wait" in name or "try" in name or "get" in name or "put" in name


TIMED_OUT = {
    "Lock": lambda module, seconds: taken(module.Lock()).acquire(timeout=seconds),
    "Condition": lambda module, seconds: held(module.Condition()).wait(seconds),
    "Event": lambda module, seconds: module.Event().wait(seconds),
    "Semaphore": lambda module, seconds: module.Semaphore(0).acquire(timeout=seconds),
}


def taken(lock):
    """A lock that is held."""
    assert lock.acquire()
    return lock


def held(condition):
    """A condition whose lock is held."""
    condition.acquire()
    return condition


@pytest.mark.parametrize("kind", TIMED_OUT)
@settings(deadline=None, max_examples=40)
@given(milliseconds=st.integers(1, 10**7))
def test_a_wait_takes_exactly_its_budget(both, kind, milliseconds):
    """A wait that nobody ends moves the clock by its budget, once, and answers False."""
    both.clock.reset()
    told, moved = both.outcome(TIMED_OUT[kind], both.threading, milliseconds / 1_000)
    assert told == ("returned", False)
    assert milliseconds == round(moved / 1_000_000)
    assert 0 <= moved - milliseconds * 1_000_000 <= 3 * 1_000  # late by a trifle, as real waits are
    assert 1 <= both.clock.moves <= 3


@pytest.mark.parametrize("milliseconds", [1, 5, 80, 30_000])
def test_a_queue_waits_exactly_its_budget(both, milliseconds):
    """Get and put with a timeout raise Empty and Full after it."""
    both.clock.reset()
    for empty in (both.queue.Queue(), both.queue.SimpleQueue()):
        told, moved = both.outcome(empty.get, True, milliseconds / 1_000)
        assert told == ("raised", "Empty")
        assert milliseconds == round(moved / 1_000_000)
    full = both.queue.Queue(1)
    full.put("x")
    told, moved = both.outcome(full.put, "y", True, milliseconds / 1_000)
    assert told == ("raised", "Full")
    assert milliseconds == round(moved / 1_000_000)


def put_twice(module):
    """Put more into a queue than it holds."""
    items = module.Queue(1)
    items.put(1)
    items.put(2)


ENDLESS = {
    "Lock": lambda one: taken(one.threading.Lock()).acquire(),
    "with Lock": lambda one: taken(one.threading.Lock()).__enter__(),
    "Condition": lambda one: held(one.threading.Condition()).wait(),
    "wait_for": lambda one: held(one.threading.Condition()).wait_for(lambda: False),
    "Event": lambda one: one.threading.Event().wait(),
    "Semaphore": lambda one: one.threading.Semaphore(0).acquire(),
    "Barrier": lambda one: one.threading.Barrier(2).wait(),
    "Queue.get": lambda one: one.queue.Queue().get(),
    "Queue.put": lambda one: put_twice(one.queue),
    "SimpleQueue.get": lambda one: one.queue.SimpleQueue().get(),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_waiting_for_ever_would_block(both, kind):
    """An untimed wait that nobody can end raises WouldBlock, which `except Exception` does not catch."""
    before = both.clock.now_ns
    with pytest.raises(WouldBlock, match="blocked for ever"):
        ENDLESS[kind](both)
    assert before == both.clock.now_ns
    assert not issubclass(WouldBlock, Exception)


STARTS = {
    "Thread": lambda one: one.threading.Thread(target=print).start(),
    "Timer": lambda one: one.threading.Timer(1, print).start(),
    "pool": lambda one: one.world.load("concurrent.futures").ThreadPoolExecutor().submit(print),
    "_thread": lambda one: one.world.load("_thread").start_new_thread(print, ()),
}


@pytest.mark.parametrize("kind", STARTS)
def test_starting_a_thread_is_refused(kind):
    """Whatever starts a thread raises NeedsThreads, which `except Exception` does not catch."""
    with pytest.raises(NeedsThreads, match="starts a thread"):
        STARTS[kind](Both())
    assert not issubclass(NeedsThreads, Exception)


@pytest.mark.parametrize("kind", ["Lock", "Condition", "Semaphore", "Event"])
def test_another_thread_is_refused(both, kind):
    """A primitive of this world that is used from another thread raises there."""
    primitive = getattr(both.threading, kind)()
    seen = []

    def use():
        try:
            primitive.is_set() or primitive.wait(1) if kind == "Event" else primitive.acquire()
        except NeedsThreads as error:
            seen.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == ["a lock made in the single-strand world was used from another thread"]


@pytest.mark.parametrize(
    "misuse",
    [
        pytest.param(
            lambda lock: lock.acquire(False, BRIEF_S),
        ),
        pytest.param(
            lambda lock: lock.acquire(True, -5),
        ),
        pytest.param(
            lambda lock: lock.acquire(timeout=None),
        ),
        lambda lock: lock.release(),
    ],
    ids=["timeout without blocking", "negative timeout", "no timeout at all", "release of a free lock"],
)
def test_a_misused_lock_raises_as_the_real_one(both, misuse):
    """What the real lock refuses, free as it is, the private one refuses with the same exception."""
    expected, _ = both.outcome(misuse, threading.Lock())
    told, _ = both.outcome(misuse, both.threading.Lock())
    assert expected[0] == "raised"
    assert expected == told


def test_a_held_lock_refuses_a_timeout_without_blocking(both):
    """acquire(False, timeout) makes no sense, and the real lock says so."""
    with pytest.raises(ValueError, match="timeout for a non-blocking call"):
        taken(both.threading.Lock()).acquire(False, BRIEF_S)


def test_every_primitive_allocates_a_lock(both):
    """An injected failure meets whatever is built on a lock, whichever module makes it."""
    for make in (
        both.threading.Lock,
        both.threading.RLock,
        both.threading.Condition,
        both.threading.Event,
        both.queue.Queue,
    ):
        both.allocations.fail_at = 1
        with pytest.raises(MemoryError):
            make()
    assert both.allocations.fail_at == 0
