"""Two tasks, fifty acquire and release pairs each, around the increment of a shared counter."""

from __future__ import annotations

import threading

from harness.explore.program import Program

__all__ = ["COUNTER", "PAIRS", "Shared", "bare", "increment", "model"]

PAIRS = 50


class Shared:
    """A counter and its lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value = 0


def increment(shared: Shared) -> None:
    """One task."""
    for _ in range(PAIRS):
        shared.lock.acquire()
        shared.value += 1
        shared.lock.release()


def nothing_lost(shared: Shared) -> None:
    """Every increment counts."""
    assert shared.value == 2 * PAIRS


def bare() -> None:
    """The same operations one after the other, with real locks."""
    shared = Shared()
    increment(shared)
    increment(shared)
    nothing_lost(shared)


def model() -> None:
    """The same for tools that patch `threading` and take a whole program."""
    shared = Shared()
    threads = [threading.Thread(target=increment, args=(shared,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    nothing_lost(shared)


COUNTER = Program("counter", Shared, (increment, increment), nothing_lost)
