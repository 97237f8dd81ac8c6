"""CS/lazy01: a task that looks at a sum and takes it for granted that not all others have run."""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["LAZY01"]


class Sum:
    """A number, guarded by a lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.value = 0


def add_one(total: Sum) -> None:
    """Add under the lock."""
    with total.lock:
        total.value += 1


def add_two(total: Sum) -> None:
    """Add under the lock."""
    with total.lock:
        total.value += 2


def look_too_soon(total: Sum) -> None:
    """Claims that the others cannot both have been here."""
    with total.lock:
        assert total.value < 3, f"the sum is {total.value} already"


def look(total: Sum) -> None:
    """Claims what holds at any time."""
    with total.lock:
        assert 0 <= total.value <= 3, f"the sum is {total.value}"


LAZY01 = KnownBug(
    name="lazy01",
    source="CS",
    about="The assertion holds as long as the last of three tasks is not the last to run.",
    finding="exception",
    message="the sum is 3 already",
    buggy=Program("lazy01", Sum, (add_one, add_two, look_too_soon)),
    repaired=Program("lazy01_ok", Sum, (add_one, add_two, look)),
)
