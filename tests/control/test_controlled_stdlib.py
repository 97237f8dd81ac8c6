"""Queues and futures in the controlled world: as the real ones, and without false findings when explored."""

from __future__ import annotations

import gc
import queue
import sys
import threading
import time
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed, wait

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.findings import Verdict

BRIEF_S = 0.000_001

QUEUE = {
    "put 1": lambda items: items.put(1, timeout=BRIEF_S),
    "put 3": lambda items: items.put(3, False),
    "put 2": lambda items: items.put_nowait(2),
    "put late": lambda items: items.put(1, timeout=-1),
    "get": lambda items: items.get(block=False),
    "get now": lambda items: items.get_nowait(),
    "get late": lambda items: items.get(timeout=-1),
    "size": lambda items: items.qsize(),
    "empty": lambda items: items.empty(),
}
BOUNDED = QUEUE | {
    "get briefly": lambda items: items.get(timeout=BRIEF_S),
    "full": lambda items: items.full(),
    "done": lambda items: items.task_done(),
    "join if done": lambda items: items.unfinished_tasks or items.join(),
}
QUEUES = {
    "Queue": (lambda module: module.Queue(2), BOUNDED),
    "Queue without bound": (lambda module: module.Queue(-1), BOUNDED),
    "LifoQueue": (lambda module: module.LifoQueue(3), BOUNDED),
    "PriorityQueue": (lambda module: module.PriorityQueue(), BOUNDED),
    # CPython's own waits without end if a budget is over before it looks at the clock again
    "SimpleQueue": (lambda module: module.SimpleQueue(), QUEUE),
}


@pytest.mark.parametrize("kind", QUEUES)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_one_thread_sees_no_difference_in_queues(controlled, outcome_of, kind, data):
    """The same calls on a queue give the same values and exceptions."""
    make, actions = QUEUES[kind]
    names = data.draw(st.lists(st.sampled_from(sorted(actions)), max_size=15))

    def program(modules):
        items = make(modules.queue)
        return [(name, *outcome_of(actions[name], items)) for name in names]

    assert program(controlled.real) == controlled.run(program)


FUTURE = {
    "result": lambda future, told: future.result(timeout=BRIEF_S),
    "exception": lambda future, told: str(future.exception(timeout=BRIEF_S)),
    "cancel": lambda future, told: future.cancel(),
    "run": lambda future, told: future.set_running_or_notify_cancel(),
    "set result": lambda future, told: future.set_result(1),
    "set exception": lambda future, told: future.set_exception(ValueError("no")),
    "state": lambda future, told: (future.cancelled(), future.running(), future.done()),
    "call back": lambda future, told: future.add_done_callback(lambda it: told.append(it.done())),
}


@pytest.mark.parametrize("begun", [False, True])
@settings(deadline=None, max_examples=80)
@given(names=st.lists(st.sampled_from(sorted(FUTURE)), max_size=10))
def test_one_thread_sees_no_difference_in_futures(controlled, outcome_of, begun, names):
    """A future goes through its states as the real one does, its callbacks too."""

    def program(modules):
        future, told = modules.futures.Future(), []
        if begun:
            future.set_running_or_notify_cancel()
        return [(name, *outcome_of(FUTURE[name], future, told), list(told)) for name in names]

    assert program(controlled.real) == controlled.run(program)


def mapped(modules):
    """`map` in order, with its exception where it belongs, and its timeout."""
    seen = []
    with modules.futures.ThreadPoolExecutor(max_workers=2) as pool:
        seen.append(list(pool.map(pow, [2, 3, 4], [3, 2, 1])))
        results = pool.map(lambda n: 1 // n, [1, 0, 1])
        seen.append(next(results))
        try:
            next(results)
        except ZeroDivisionError as error:
            seen.append(str(error))
    return seen


def submitted(modules):
    """Results, exceptions with their type, and what a pool that was shut down says."""
    pool = modules.futures.ThreadPoolExecutor(2, thread_name_prefix="mine")
    named = pool.submit(lambda: modules.threading.current_thread().name.startswith("mine_"))
    failing = pool.submit(int, "x")
    seen = [named.result(), type(failing.exception()).__name__, named.done(), failing.cancelled()]
    pool.shutdown(wait=True)
    for call in (lambda: pool.submit(int), lambda: pool.map(int, "1")):
        try:
            call()
        except RuntimeError as error:
            seen.append(str(error))
    return seen


def cancelled(modules):
    """What has not begun can be cancelled, what runs cannot, and shutdown cancels the rest."""
    gate, there = modules.threading.Event(), modules.threading.Event()

    def first():
        there.set()
        return gate.wait()

    pool = modules.futures.ThreadPoolExecutor(max_workers=1)
    running, waiting, last = pool.submit(first), pool.submit(int), pool.submit(int)
    there.wait()
    seen = [running.cancel(), waiting.cancel(), waiting.cancelled(), running.running(), last.done()]
    pool.shutdown(wait=False, cancel_futures=True)
    seen.append(last.cancelled())
    try:
        last.result()
    except modules.futures.CancelledError:
        seen.append("cancelled")
    try:
        running.result(timeout=BRIEF_S)
    except TimeoutError:
        seen.append("timeout")
    gate.set()
    return [*seen, running.result()]


def waited_for(modules):
    """`wait` and `as_completed` see the same sets, with and without a timeout."""
    futures, gate = modules.futures, modules.threading.Event()
    with futures.ThreadPoolExecutor(max_workers=2) as pool:
        early, late = pool.submit(int), pool.submit(gate.wait)
        done, left = futures.wait([early, late], return_when=futures.FIRST_COMPLETED)
        seen = [early in done, late in left]
        try:
            list(futures.as_completed([late], timeout=BRIEF_S))
        except TimeoutError as error:
            seen.append(str(error))
        gate.set()
        seen.append(sorted(future.result() for future in futures.as_completed([early, late])))
    return seen


def initialized(modules):
    """An initializer runs once in each thread; with one that fails the pool is broken."""
    local = modules.threading.local()
    with modules.futures.ThreadPoolExecutor(1, initializer=setattr, initargs=(local, "x", 5)) as pool:
        seen = [pool.submit(lambda: local.x).result()]
    for wrong in (0, -1):
        try:
            modules.futures.ThreadPoolExecutor(wrong)
        except ValueError as error:
            seen.append(str(error))
    return seen


PROGRAMS = [mapped, submitted, cancelled, waited_for, initialized]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_pools_do_as_real_pools(controlled, program):
    """Each program of a pool has one outcome, under any schedule, and it is that of the real pool."""
    assert [program(controlled.real)] == controlled.run_often(program)


# ------------------------------------------------------------------ explored


def hand_over(items, got):
    """One item from a queue to the next."""
    got.put(items.get())


def several_queues():
    """Two producers and two consumers over each kind of queue get every item once."""
    for make in (lambda: queue.Queue(1), queue.LifoQueue, queue.PriorityQueue, queue.SimpleQueue):
        items, got = make(), queue.Queue()
        producers = [threading.Thread(target=items.put, args=(number,)) for number in range(2)]
        consumers = [threading.Thread(target=hand_over, args=(items, got)) for _ in range(2)]
        for thread in consumers + producers:
            thread.start()
        for thread in consumers + producers:
            thread.join()
        assert [0, 1] == sorted(got.get_nowait() for _ in range(2))
        assert items.empty()


def joined_queue():
    """`join` returns once each item is done and not before, however often a timed `get` gives up."""
    items, done = queue.Queue(), []

    def serve():
        while True:
            try:
                item = items.get(timeout=60)
            except queue.Empty:
                continue
            if item is None:
                return
            done.append(item)
            items.task_done()

    server = threading.Thread(target=serve)
    server.start()
    for number in range(3):
        items.put(number)
    items.join()
    assert done == [0, 1, 2]
    items.put(None)
    server.join()


def pool_with_shutdown():
    """What was submitted before shutdown(wait=True) is done after it."""
    pool = ThreadPoolExecutor(max_workers=2)
    futures = [pool.submit(pow, number, 2) for number in range(3)]
    pool.shutdown(wait=True)
    assert all(future.done() for future in futures)
    assert [0, 1, 4] == [future.result() for future in futures]


def pool_of_waiters():
    """`as_completed`, `wait`, callbacks and cancel agree on how each future ended."""
    called = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        futures = [pool.submit(abs, -number) for number in range(3)]
        futures[2].add_done_callback(called.append)
        stopped = futures[2].cancel()
        results = [None if future.cancelled() else future.result() for future in as_completed(futures)]
        assert not wait(futures).not_done
    assert called == [futures[2]]
    assert stopped == (None in results)
    assert len(results) == 3


def future_by_hand():
    """A future that one thread fulfils and one cancels is one or the other, and its waiter is told."""
    future, seen = Future(), []

    def fulfil():
        if future.set_running_or_notify_cancel():
            future.set_result("done")

    def look():
        try:
            seen.append(future.result())
        except CancelledError:
            seen.append("cancelled")

    threads = [threading.Thread(target=job) for job in (fulfil, look, future.cancel)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["cancelled" if future.cancelled() else "done"]


CORRECT = [several_queues, joined_queue, pool_with_shutdown, pool_of_waiters, future_by_hand]


@pytest.mark.parametrize("program", CORRECT, ids=lambda program: program.__name__)
def test_a_correct_program_has_no_finding(program):
    """The default portfolio explores it 300 times and finds nothing to say."""
    outcome = explored(program, Effort(executions=300, seed=5))
    assert outcome.found is None, outcome.found.failure.message
    assert outcome.verdict is Verdict.OK
    assert outcome.cut == 0
    assert outcome.distinct > 100


def hasty_pool():
    """Forgets to wait: shutdown(wait=False) promises nothing."""
    done = []
    pool = ThreadPoolExecutor(max_workers=1)
    pool.submit(done.append, 1)
    pool.shutdown(wait=False)
    assert done == [1]


def test_a_pool_that_is_not_waited_for_is_seen_unfinished():
    """The explorations above are not blind: without waiting, the work is seen undone."""
    outcome = explored(hasty_pool, Effort(executions=300, seed=5))
    assert outcome.found is not None
    failure = outcome.found.failure
    assert (failure.error_type, failure.message) == ("AssertionError", "assert done == [1]")


def test_killing_a_pool_thread_logs_nothing(caplog):
    """What ends the threads of a pool when an execution is over is no event of the program."""
    explored(hasty_pool, Effort(executions=300, seed=5, strategy="dpor"))
    assert caplog.messages == []


def stuck_with_a_pool():
    """Waits for ever, with a pool in its hands."""
    pool = ThreadPoolExecutor(max_workers=1)
    pool.submit(int).result()
    threading.Event().wait()


def test_killing_the_owner_of_a_pool_is_quiet(monkeypatch):
    """A pool that dies because its owner is killed does not complain; the deadlock is what is shown."""
    complaints = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: complaints.append(repr(told.exc_value)))
    outcome = explored(stuck_with_a_pool, Effort(executions=20, seed=5))
    gc.collect()
    assert outcome.found is not None
    first = outcome.found.failure.waits[0]
    assert (first.task, first.noun) == ("main", "Event.wait (Lock)")
    assert complaints == []


def dropped_pool():
    """Drops its pool, whose thread ends some time after it."""
    pool = ThreadPoolExecutor(max_workers=1)
    pool.submit(int).result()
    del pool
    time.sleep(1)
    assert threading.active_count() == 1, "thread left"


def test_a_death_comes_at_the_same_step_in_the_rerun():
    """An executor dies with its last reference in a lean run as in a traced one."""
    for seed in range(8):
        outcome = explored(dropped_pool, Effort(executions=300, seed=seed, strategy="random"))
        assert outcome.found.failure.message == "thread left"
        assert outcome.found.replayed == outcome.found.replays


def lost_in_between():
    """A queue that two check and one empties."""
    items = queue.Queue()
    items.put(1)
    return items


def take_if_any(items):
    """Check, then act."""
    if not items.empty():
        items.get_nowait()


def test_a_check_before_a_get_is_found_wrong():
    """Two that look before they take: one finds the queue empty."""
    program = Program("takers", lost_in_between, (take_if_any, take_if_any))
    outcome = explored(program, Effort(executions=300, seed=5))
    assert outcome.found is not None
    assert outcome.found.failure.error_type == "Empty"
    assert outcome.found.failure.where.endswith("in take_if_any")
