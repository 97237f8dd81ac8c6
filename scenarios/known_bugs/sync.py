"""CS/sync01 and sync02: a hand-over whose count begins with a number that nobody can use up."""

from __future__ import annotations

from functools import partial
from threading import Condition, Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["SYNC01", "SYNC02"]

ROUNDS = 2


class Slot:
    """A count that should begin with zero, and a condition for each of its two sides."""

    def __init__(self, filled: int) -> None:
        self.lock = Lock()
        self.empty = Condition(self.lock)
        self.full = Condition(self.lock)
        self.filled = filled


def fill_once(slot: Slot) -> None:
    """Fill the slot when it is empty."""
    with slot.lock:
        while slot.filled > 0:
            slot.empty.wait()
        slot.filled += 1
        slot.full.notify()


def see_full_once(slot: Slot) -> None:
    """Wait until the slot is full, and leave it so."""
    with slot.lock:
        while slot.filled == 0:
            slot.full.wait()
        slot.empty.notify()


def produce(slot: Slot) -> None:
    """Fill the slot, twice, when it is empty."""
    for _ in range(ROUNDS):
        fill_once(slot)


def consume(slot: Slot) -> None:
    """Empty the slot, twice, when it is full."""
    for _ in range(ROUNDS):
        with slot.lock:
            while slot.filled == 0:
                slot.full.wait()
            slot.filled -= 1
            slot.empty.notify()


SYNC01 = KnownBug(
    name="sync01",
    source="CS",
    about="The slot is full from the beginning, nobody empties it, and one task waits until it is empty.",
    finding="deadlock",
    message="",
    buggy=Program("sync01", partial(Slot, 1), (fill_once, see_full_once)),
    repaired=Program("sync01_ok", partial(Slot, 0), (fill_once, see_full_once)),
    every_run=True,
)

SYNC02 = KnownBug(
    name="sync02",
    source="CS",
    about="The consumer is content with what was there at the beginning, and leaves the producer waiting.",
    finding="deadlock",
    message="",
    buggy=Program("sync02", partial(Slot, 2), (produce, consume)),
    repaired=Program("sync02_ok", partial(Slot, 0), (produce, consume)),
    every_run=True,
)
