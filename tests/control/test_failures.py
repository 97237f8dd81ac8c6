"""What goes wrong in an execution is told at once, by kind, with who waits for what and where."""

from __future__ import annotations

import _thread
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.control.failures import FailureKind
from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.findings import Verdict


class Pair:
    """Two locks."""

    def __init__(self, make=threading.Lock):
        self.a, self.b = make(), make()
        self.turns = 0


def ab(pair):
    """First a, then b."""
    with pair.a, pair.b:
        pass


def ba(pair):
    """First b, then a."""
    with pair.b, pair.a:
        pass


def reentrant():
    """Two locks of the other kind."""
    return Pair(threading.RLock)


def spin(pair):
    """A third task, that never ends, and is no livelock either."""
    while True:
        pair.turns += 1
        time.sleep(1)


def found(program, executions=300, **options):
    """The failure that an exploration ends with."""
    outcome = explored(program, Effort(executions=executions, seed=2, **options))
    assert outcome.verdict is Verdict.VIOLATION, outcome.reasons
    assert outcome.found.replayed == outcome.found.replays
    return outcome.found.failure


@pytest.mark.parametrize(("setup", "noun"), [(Pair, "Lock"), (reentrant, "RLock")])
def test_a_cycle_names_holders_and_places(setup, noun):
    """AB/BA: who waits, for what, held by whom, at which line."""
    failure = found(Program("abba", setup, (ab, ba)))
    assert failure.kind is FailureKind.DEADLOCK
    waits = {wait.task: wait for wait in failure.waits}
    assert {name: wait.holder for name, wait in waits.items()} == {"ab": "ba", "ba": "ab"}
    assert {wait.noun for wait in failure.waits} == {noun}
    line = ab.__code__.co_firstlineno + 2
    assert f"ab waits for {noun} held by ba, at test_failures.py:{line} in ab" in failure.message
    assert failure.where.count("test_failures.py:") == 2


def test_a_cycle_is_found_while_others_go_on():
    """Two tasks in a cycle are a deadlock at once, whatever a third one does."""
    failure = found(Program("abba and one", Pair, (ab, ba, spin)), steps=2_000)
    assert failure.kind is FailureKind.DEADLOCK
    assert {wait.task for wait in failure.waits} == {"ab", "ba"}


def daemon_beside():
    """A cycle between two threads, beside a daemon that loops for ever."""
    pair = Pair()
    threading.Thread(target=spin, args=(pair,), daemon=True).start()
    threads = [threading.Thread(target=job, args=(pair,)) for job in (ab, ba)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_cycle_is_found_beside_an_endless_daemon():
    """A daemon that never stops does not hide that two threads are stuck."""
    failure = found(daemon_beside, steps=3_000)
    assert failure.kind is FailureKind.DEADLOCK
    assert {wait.noun for wait in failure.waits} == {"Lock"}
    assert {wait.where.rpartition(" in ")[2] for wait in failure.waits} == {"ab", "ba"}


def twice_with():
    """Takes a plain lock inside of itself."""
    lock = threading.Lock()
    with lock, lock:
        pass


def twice_acquire():
    """The same without `with`: nobody is left to release it."""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def from_outside():
    """Held by a thread that is gone."""
    lock = threading.Lock()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()
    lock.acquire()


def endless_join():
    """Joins a thread that waits for ever."""
    gate = threading.Event()

    def wait():
        gate.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()


def joined_by_each_other():
    """Two threads that join each other."""
    threads, started = [], threading.Event()

    def join(number):
        started.wait()
        threads[number].join()

    threads += [threading.Thread(target=join, args=(1 - number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    started.set()


def lost_wakeup():
    """A notify that comes before the wait is lost, since nobody checks what it is about."""
    condition = threading.Condition()

    def wait():
        with condition:
            condition.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    with condition:
        condition.notify()
    thread.join()


STUCK = {
    twice_with: {("main", "Lock", "itself", "twice_with")},
    from_outside: {("main", "Lock", "main/1", "from_outside")},
    endless_join: {
        ("main", "Thread.join (END)", "main/1", "endless_join"),
        ("main/1", "Event.wait (Lock)", "", "endless_join.<locals>.wait"),
    },
    joined_by_each_other: {
        ("main/1", "Thread.join (END)", "main/2", "joined_by_each_other.<locals>.join"),
        ("main/2", "Thread.join (END)", "main/1", "joined_by_each_other.<locals>.join"),
    },
    lost_wakeup: {
        ("main", "Thread.join (END)", "main/1", "lost_wakeup"),
        ("main/1", "Condition.wait (Lock)", "", "lost_wakeup.<locals>.wait"),
    },
}


@pytest.mark.parametrize("program", STUCK, ids=lambda program: program.__name__)
def test_who_is_stuck_is_told(program):
    """Each task that waits for ever, what for in the words of `threading`, who holds it, and where."""
    failure = found(program)
    lost = FailureKind.LOST_WAKEUP if program is lost_wakeup else FailureKind.DEADLOCK
    assert failure.kind is lost
    told = {
        (wait.task, wait.noun, wait.holder, wait.where.rpartition(" in ")[2] or wait.where)
        for wait in failure.waits
    }
    end = "the end of a thread" if hasattr(_thread, "start_joinable_thread") else "Lock"
    assert told == {(task, noun.replace("END", end), *rest) for task, noun, *rest in STUCK[program]}
    assert "; ".join(str(wait) for wait in failure.waits) == failure.message


def test_a_lock_acquired_twice_is_held_by_its_waiter():
    """A task that waits for its own lock is told so, however it took it."""
    assert "main waits for Lock held by itself, at " in found(twice_acquire).message


def joined_waiter():
    """A thread that is nothing but a wait."""
    thread = threading.Thread(target=threading.Event().wait)
    thread.start()
    thread.join()


def test_a_thread_of_the_librarys_code_is_named_by_its_target():
    """Without a line of the user's in its stack, a thread waits for what its target was."""
    assert "main/1 waits for Event.wait (Lock)" in found(joined_waiter).message


def raises(state=None):
    """Fails."""
    raise KeyError("missing")


def thread_that_raises():
    """An exception that ends a thread, unseen by whoever joins it."""
    thread = threading.Thread(target=raises)
    thread.start()
    thread.join()


def bare_thread_that_raises():
    """The same without a Thread."""
    _thread.start_new_thread(raises, ())
    time.sleep(1)


PROGRAMS_THAT_RAISE = [
    (thread_that_raises, "main/1"),
    (bare_thread_that_raises, "main/1"),
    (Program("one raises", Pair, (raises, ab)), "raises"),
]


@pytest.mark.parametrize(("program", "task"), PROGRAMS_THAT_RAISE, ids=["Thread", "bare thread", "task"])
def test_an_exception_is_told_with_its_place(program, task):
    """Whichever way a strand was started, an exception that ends it is the failure of the execution."""
    failure = found(program)
    assert (failure.kind, failure.task) == (FailureKind.EXCEPTION, task)
    assert (failure.error_type, failure.message) == ("KeyError", "KeyError: 'missing'")
    assert failure.where == f"test_failures.py:{raises.__code__.co_firstlineno + 2} in raises"


def never(state):
    """A check that fails."""
    assert isinstance(state, int)


def test_a_failed_check_is_an_invariant_with_its_line():
    """A check that fails without words is told by its source line, as a broken claim."""
    failure = found(Program("checked", Pair, (ab, ab), check=never))
    assert failure.kind is FailureKind.INVARIANT
    assert failure.message == "assert isinstance(state, int)"
    assert failure.where.endswith("in never")


def idle_pool():
    """A pool that nobody shuts down; its threads are let go at the end, as an interpreter does."""
    pool = ThreadPoolExecutor(max_workers=2)
    assert pool.submit(abs, -1).result() == 1


def idle_daemons():
    """Daemons that wait for ever, or loop."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    threading.Thread(target=spin, args=(Pair(),), daemon=True).start()


def main_ends_first():
    """The main function returns while a thread still works; that thread is waited for."""
    done = []

    def work():
        time.sleep(5)
        done.append(time.monotonic())

    threading.Thread(target=work).start()
    threading.Timer(60, lambda: done.append(1)).start()


def exits_in_a_thread():
    """SystemExit in a thread is its own affair."""

    def leave():
        raise SystemExit(2)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()


FINE = [idle_pool, idle_daemons, main_ends_first, exits_in_a_thread]


@pytest.mark.parametrize("program", FINE, ids=lambda program: program.__name__)
def test_what_ends_by_itself_is_no_failure(program):
    """Idle pool threads, daemons and threads that outlive the main one are no deadlock."""
    outcome = explored(program, Effort(executions=300, seed=2))
    assert outcome.found is None, outcome.found.failure.message
    assert outcome.verdict is Verdict.OK
    assert outcome.cut == 0


def joins_main():
    """A thread that waits for the main function to return."""
    main = threading.current_thread()
    threading.Thread(target=main.join).start()


def test_the_main_thread_can_be_joined():
    """Who joins the main thread goes on when the main function has returned."""
    outcome = explored(joins_main, Effort(executions=300, seed=2))
    assert outcome.found is None, outcome.found.failure.message


def left_waiting():
    """The main function returns while a thread that is no daemon waits for ever."""
    threading.Thread(target=threading.Event().wait).start()


def test_a_thread_left_waiting_is_a_deadlock():
    """An interpreter would never end here; that the main function did is no excuse."""
    failure = found(left_waiting)
    assert failure.kind is FailureKind.DEADLOCK
    assert [wait.task for wait in failure.waits] == ["main/1"]
