"""Small programs for the explorer, at the top of a module so that they can be imported privately."""

from __future__ import annotations

import itertools
import threading
import time


class Counter:
    """Counts, and loses."""

    def __init__(self):
        self.value = 0
        self.lock = threading.Lock()
        self.open = 0


def increment(counter):
    """Read, then write."""
    counter.value = counter.value + 1


def increment_safely(counter):
    """Under the lock."""
    with counter.lock:
        counter.value = counter.value + 1


def nothing_lost(counter):
    """Two increments count two."""
    assert counter.value == 2, f"counted {counter.value}"


def look(counter):
    """Shares nothing that is announced."""


def open_and_close(counter):
    """For a moment the claim of `closed` does not hold."""
    counter.open = 1
    counter.open = 0


def closed(counter):
    """Nothing is open."""
    assert counter.open == 0, "it is open"


def is_closed(counter):
    """As `closed`, as an answer."""
    return counter.open == 0


def is_open(counter):
    """The contrary."""
    return counter.open != 0


def counted(counter):
    """Claims nothing."""
    return counter.value


def spin(counter):
    """Waits for what nobody does."""
    while counter.value == 0:
        pass


def busy(counter):
    """Runs for long, and changes something all the while."""
    for _ in range(200):
        counter.value += 1


def nap(counter):
    """Time passes; it is virtual."""
    time.sleep(3600)
    counter.value += 1


_turns = itertools.count()


def moody(counter):
    """Fails once and never again, whatever the schedule: a counter outlives the executions."""
    counter.value += 1
    assert next(_turns) != 7, "in a mood"


class Ordered:
    """Whether the second task came first."""

    def __init__(self):
        self.order = []


def first(ordered):
    """Note it."""
    ordered.order.append("first")


def second(ordered):
    """Note it."""
    ordered.order.append("second")


def in_order(ordered):
    """The first was first."""
    assert ordered.order[0] == "first", "overtaken"
