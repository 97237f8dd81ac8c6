"""CS/arithmetic_prog: a sum over a hand-over of one slot, and an assertion that is always wrong."""

from __future__ import annotations

from threading import Condition, Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["ARITHMETIC_PROG"]

ROUNDS = 3
SUM = ROUNDS * (ROUNDS + 1) // 2


class Slot:
    """One slot, with a condition for each of its two sides."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.empty = Condition(self.lock)
        self.full = Condition(self.lock)
        self.filled = 0
        self.total = 0
        self.finished = False


def produce(slot: Slot) -> None:
    """Fill the slot once per round."""
    for _ in range(ROUNDS):
        with slot.lock:
            while slot.filled > 0:
                slot.empty.wait()
            slot.filled += 1
            slot.full.notify()


def consume(slot: Slot) -> None:
    """Empty the slot once per round, and add up the rounds."""
    for step in range(ROUNDS):
        with slot.lock:
            while slot.filled == 0:
                slot.full.wait()
            slot.total += step
            slot.filled -= 1
            slot.empty.notify()
    slot.total += ROUNDS
    slot.finished = True


def check_other_sum(slot: Slot) -> None:
    """Claims the opposite of what holds; raises AssertionError."""
    assert not slot.finished or slot.total != SUM, f"the total is {slot.total}"


def check_sum(slot: Slot) -> None:
    """Raises AssertionError for another total than the sum of the rounds."""
    assert slot.finished, "the consumer has not finished"
    assert slot.total == SUM, f"the total is {slot.total}"


ARITHMETIC_PROG = KnownBug(
    name="arithmetic_prog",
    source="CS",
    about="The assertion denies the sum that every run arrives at.",
    finding="invariant",
    message="the total is 6",
    buggy=Program("arithmetic_prog", Slot, (produce, consume), check_other_sum),
    repaired=Program("arithmetic_prog_ok", Slot, (produce, consume), check_sum),
    every_run=True,
)
