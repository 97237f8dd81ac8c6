"""The controlled world's `threading` against the real one, program by program."""

from __future__ import annotations

import _thread
import copy
import pickle
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

BRIEF_S = 0.000_001

LOCK = {
    "try": lambda lock: lock.acquire(False),
    "try briefly": lambda lock: lock.acquire(timeout=BRIEF_S),
    "try for no time": lambda lock: lock.acquire(True, 0),
    "mixed up": lambda lock: lock.acquire(False, BRIEF_S),
    "negative": lambda lock: lock.acquire(timeout=-2),
    "endless": lambda lock: lock.acquire(timeout=1e12),
    "no number": lambda lock: lock.acquire(timeout="soon"),
    "None": lambda lock: lock.acquire(timeout=None),
    "release": lambda lock: lock.release(),
    "locked": lambda lock: lock.locked(),
    "exit": lambda lock: lock.__exit__(None, None, None),
    "with if free": lambda lock: lock.acquire(False) and (lock.release(), lock.__enter__())[1],
}
RLOCK = {name: action for name, action in LOCK.items() if name not in {"locked", "endless"}} | {
    "acquire": lambda lock: lock.acquire(),
    "with": lambda lock: lock.__enter__(),
}
CONDITION = {
    "acquire": lambda condition: condition.acquire(blocking=False),
    "release": lambda condition: condition.release(),
    "wait": lambda condition: condition.wait(BRIEF_S),
    "wait 0": lambda condition: condition.wait(0),
    "wait for it": lambda condition: condition.wait_for(list, BRIEF_S),
    "wait for nothing": lambda condition: condition.wait_for(lambda: "there"),
    "notify": lambda condition: condition.notify(),
    "notify 3": lambda condition: condition.notify(3),
    "notify all": lambda condition: condition.notify_all(),
    "exit": lambda condition: condition.__exit__(None, None, None),
}
EVENT = {
    "set": lambda event: event.set(),
    "clear": lambda event: event.clear(),
    "is set": lambda event: event.is_set(),
    "wait": lambda event: event.wait(BRIEF_S),
    "wait 0": lambda event: event.wait(timeout=0),
    "wait less": lambda event: event.wait(-1),
}
SEMAPHORE = {
    "try": lambda semaphore: semaphore.acquire(blocking=False),
    "try briefly": lambda semaphore: semaphore.acquire(timeout=BRIEF_S),
    "mixed up": lambda semaphore: semaphore.acquire(blocking=False, timeout=BRIEF_S),
    "release": lambda semaphore: semaphore.release(),
    "release two": lambda semaphore: semaphore.release(2),
    "release none": lambda semaphore: semaphore.release(0),
    "exit": lambda semaphore: semaphore.__exit__(None, None, None),
}
BARRIER = {
    "wait": lambda barrier: barrier.wait(BRIEF_S),
    "abort": lambda barrier: barrier.abort(),
    "reset": lambda barrier: barrier.reset(),
    "broken": lambda barrier: barrier.broken,
    "waiting": lambda barrier: barrier.n_waiting,
    "parties": lambda barrier: barrier.parties,
}
LOCAL = {
    "set": lambda local: setattr(local, "x", 1),
    "get": lambda local: local.x,
    "del": lambda local: delattr(local, "x"),
    "dict": lambda local: sorted(local.__dict__),
    "new dict": lambda local: setattr(local, "__dict__", {}),
    "no dict": lambda local: delattr(local, "__dict__"),
}
KINDS = {
    "Lock": (lambda module: module.Lock(), LOCK),
    "RLock": (lambda module: module.RLock(), RLOCK),
    "Condition": (lambda module: module.Condition(), CONDITION),
    "Condition of a Lock": (lambda module: module.Condition(module.Lock()), CONDITION),
    "Event": (lambda module: module.Event(), EVENT),
    "Semaphore": (lambda module: module.Semaphore(1), SEMAPHORE),
    "BoundedSemaphore": (lambda module: module.BoundedSemaphore(2), SEMAPHORE),
    "Barrier(1)": (lambda module: module.Barrier(1, lambda: None), BARRIER),
    "Barrier(2)": (lambda module: module.Barrier(2), BARRIER),
    "local": (lambda module: module.local(), LOCAL),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_one_thread_sees_no_difference(controlled, outcome_of, kind, data):
    """The same calls on a primitive give the same values and exceptions, misuse included."""
    make, actions = KINDS[kind]
    names = data.draw(st.lists(st.sampled_from(sorted(actions)), max_size=15))

    def program(modules):
        primitive = make(modules.threading)
        return [(name, *outcome_of(actions[name], primitive)) for name in names]

    assert program(controlled.real) == controlled.run(program)


WRONGLY_MADE = {
    "semaphore below zero": lambda module: module.Semaphore(-1),
    "bounded semaphore below zero": lambda module: module.BoundedSemaphore(-1),
    "local with an argument": lambda module: module.local(1),
    "thread with a group": lambda module: module.Thread("group"),
    "condition of nothing": lambda module: module.Condition(3),
    "lock of something": lambda module: module.Lock(1),
    "join before start": lambda module: module.Thread().join(),
    "join itself": lambda module: module.current_thread().join(),
    "daemon after start": lambda module: setattr(module.current_thread(), "daemon", True),
    "no function": lambda module: module._start_new_thread(3, ()),
    "a stack too small": lambda module: module.stack_size(1),
    "wait without the lock": lambda module: module.Condition().wait(),
    "notify without the lock": lambda module: module.Condition().notify(),
    "excepthook without arguments": lambda module: module.excepthook(),
}


@pytest.mark.parametrize("misuse", WRONGLY_MADE)
def test_misuse_raises_the_same(controlled, outcome_of, misuse):
    """What the real module refuses, the controlled one refuses with the same exception."""

    def program(modules):
        return outcome_of(WRONGLY_MADE[misuse], modules.threading)

    expected = program(controlled.real)
    assert expected[0] == "raised"
    assert expected == controlled.run(program)


def held(modules):
    """A reentrant lock that is held."""
    lock = modules.threading.RLock()
    lock.acquire()
    return lock


REFUSED = {
    "too long a timeout on a lock of one's own": lambda modules: held(modules).acquire(timeout=1e12),
    "arguments in a list": lambda modules: isinstance(modules._thread.start_new_thread(int, [1]), int),
    "a copied lock": lambda modules: copy.copy(modules.threading.Lock()) is not None,
    "a lock copied deeply": lambda modules: copy.deepcopy([modules.threading.RLock()]) is not None,
    "a pickled lock": lambda modules: pickle.dumps(modules.threading.Lock()) is not None,
    "a lock's subclass": lambda modules: type("Mine", (type(modules.threading.Lock()),), {}) is not None,
}


@pytest.mark.parametrize("misuse", REFUSED)
def test_what_the_real_primitives_refuse_is_refused(controlled, outcome_of, misuse):
    """Rarer misuse raises the same exception too."""

    def program(modules):
        return outcome_of(REFUSED[misuse], modules)

    assert program(controlled.real) == controlled.run(program)


def subclassed(modules):
    """A Thread with a run of its own, looked at before, in and after."""
    threading = modules.threading
    seen = []

    class Counter(threading.Thread):
        def run(self):
            seen.append((self.is_alive(), threading.current_thread() is self, self.ident is not None))
            seen.append(self.ident == threading.get_ident())

    counter = Counter(name="counter")
    seen.append((counter.is_alive(), counter.ident, counter.daemon, counter.name))
    counter.start()
    counter.join()
    seen.append((counter.is_alive(), counter.ident is not None))
    return seen


def named(modules):
    """Default names count up from the first; a target's name is part of it."""
    threading = modules.threading

    def job():
        """Does nothing."""

    first = threading.Thread(target=job)
    second = threading.Thread(target=job)
    numbers = [int(thread.name.split("-")[1].split(" ")[0]) for thread in (first, second)]
    renamed = threading.Thread()
    renamed.name = "it"
    return numbers[1] - numbers[0], first.name.endswith("(job)"), renamed.name


def counted(modules):
    """Who is there while one waits, and afterwards."""
    threading = modules.threading
    before = threading.active_count()
    gate, there = threading.Event(), threading.Event()

    def wait():
        there.set()
        gate.wait()

    thread = threading.Thread(target=wait, name="waiter", daemon=True)
    thread.start()
    there.wait()
    seen = [
        threading.active_count() - before,
        thread in threading.enumerate(),
        thread.is_alive(),
        thread.daemon,
        thread.join(BRIEF_S),
        thread.is_alive(),
        thread.join(0),
        thread.join(-1),
    ]
    gate.set()
    thread.join()
    return [*seen, threading.active_count() - before, thread in threading.enumerate()]


def nested(modules):
    """Threads that start threads; daemons beget daemons."""
    threading = modules.threading
    seen = []

    def inner():
        seen.append((threading.current_thread().name, threading.current_thread().daemon))

    def outer():
        thread = threading.Thread(target=inner, name="inner")
        thread.start()
        thread.join()
        seen.append(threading.current_thread().name)

    for daemon in (True, False):
        thread = threading.Thread(target=outer, name="outer", daemon=daemon)
        thread.start()
        thread.join()
    return seen


def started_twice(modules):
    """A second start raises."""
    thread = modules.threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    try:
        thread.start()
    except RuntimeError as error:
        return str(error)
    return "started again"


def locals_of(modules):
    """A subclass of `local` is made anew in each thread, with the arguments it was made with."""
    threading = modules.threading

    class Mine(threading.local):
        kind = "mine"

        def __init__(self, begin, *, step):
            self.values = [begin, step]

    mine, seen = Mine(1, step=2), []
    mine.values.append("main")

    def look():
        mine.values.append(len(seen))
        seen.append((mine.kind, list(mine.values), hasattr(mine, "other")))

    mine.other = 1
    for _ in range(2):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    return seen, mine.values


def bare(modules):
    """A thread without an object has an ident, and a stand-in for its Thread."""
    threading = modules.threading
    done, seen = threading.Event(), []

    def look():
        here = threading.current_thread()
        seen.append((here.ident == threading.get_ident(), here.daemon, type(here).__name__))
        done.set()

    ident = modules._thread.start_new_thread(look, ())
    done.wait()
    return seen, ident != threading.get_ident(), isinstance(ident, int)


def main_thread(modules):
    """The first thread is the main one and is no daemon."""
    threading = modules.threading
    here = threading.current_thread()
    return (
        here is threading.main_thread(),
        here.daemon,
        here.is_alive(),
        here.name,
        here in threading.enumerate(),
    )


def exits(modules):
    """SystemExit ends a thread without a word."""
    threading = modules.threading

    def leave():
        raise SystemExit(3)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    return thread.is_alive()


PROGRAMS = [subclassed, named, counted, nested, started_twice, locals_of, bare, main_thread, exits]


# pytest's hook, not threading's own, tells of the real thread that exits
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_threads_do_as_real_threads(controlled, program):
    """Each program of threads has one outcome, under any schedule, and it is that of real threads."""
    assert [program(controlled.real)] == controlled.run_often(program)


class Watched:
    """Something that takes a lock when it dies."""

    def __init__(self, lock):
        self.lock = lock

    def __del__(self):
        with self.lock:
            self.lock = None


def hands_over(modules):
    """Gives the last reference to a thread that is left over."""
    gate = modules.threading.Event()
    watched = Watched(modules.threading.Lock())
    modules._thread.start_new_thread(lambda watched: gate.wait(), (watched,))
    del watched
    modules.time.sleep(1)


def test_nothing_of_an_execution_dies_in_the_next(controlled):
    """What an execution refers to is gone when it is over, so that the next one has no steps of it."""
    assert len({controlled.execute(hands_over)[0].steps for _ in range(4)}) == 1


@pytest.mark.skipif(not hasattr(_thread, "_set_sentinel"), reason="threads are joined by handles here")
def test_what_threading_keeps_in_sets_has_an_order(controlled):
    """The locks by which threads are joined are hashed by creation, in every execution alike."""
    kept = [controlled.run(lambda modules: modules._thread._set_sentinel()) for _ in range(2)]
    assert hash(kept[0]) == hash(kept[1])


def test_the_real_modules_are_left_alone(controlled):
    """No private module is the real one, and the real ones know nothing of it."""
    assert controlled.modules.threading is not threading
    assert controlled.modules.threading.Lock is not threading.Lock
    assert threading.current_thread() is threading.main_thread()
    assert controlled.runtime.executing is False
