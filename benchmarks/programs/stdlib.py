"""Correct programs on the standard library's own primitives, whose code runs unmodified."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["PROGRAMS"]


def pool() -> None:
    """Three calls on two workers, and a shutdown."""
    with ThreadPoolExecutor(2) as executor:
        futures = [executor.submit(pow, number, 2) for number in range(3)]
        assert [future.result() for future in futures] == [0, 1, 4]


def bounded_queue() -> None:
    """Three items through a queue with room for one."""
    items: queue.Queue[int] = queue.Queue(1)
    got: list[int] = []

    def take() -> None:
        for _ in range(3):
            got.append(items.get())
            items.task_done()

    taker = threading.Thread(target=take)
    taker.start()
    for number in range(3):
        items.put(number)
    items.join()
    taker.join()
    assert got == [0, 1, 2]


def timer() -> None:
    """One timer is cancelled, whether it rang or not; another one rings."""
    rang = threading.Event()
    cancelled = threading.Timer(5, rang.set)
    cancelled.start()
    cancelled.cancel()
    cancelled.join()
    left_alone = threading.Timer(1, rang.set)
    left_alone.start()
    left_alone.join()
    assert rang.is_set()


def barrier() -> None:
    """Nobody goes on before all three are there."""
    gate, there = threading.Barrier(3), [0]

    def meet() -> None:
        with lock:
            there[0] += 1
        gate.wait()
        assert there[0] == 3

    lock = threading.Lock()
    _together(meet)


def semaphore() -> None:
    """At most two of three are inside."""
    slots, lock, inside, most = threading.Semaphore(2), threading.Lock(), [0], [0]

    def enter() -> None:
        with slots:
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            with lock:
                inside[0] -= 1

    _together(enter)
    assert most[0] <= 2


def _together(function: Callable[[], None]) -> None:
    threads = [threading.Thread(target=function) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


PROGRAMS = (pool, bounded_queue, timer, barrier, semaphore)
