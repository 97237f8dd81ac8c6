"""CS/twostage: two values with a lock each, and a reader that gets in between the two stages."""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["TWOSTAGE", "TWOSTAGE_100"]


class Stages:
    """The second value follows from the first."""

    def __init__(self) -> None:
        self.first_lock = Lock()
        self.second_lock = Lock()
        self.first = 0
        self.second = 0


def write(stages: Stages) -> None:
    """Write one value after the other, each under its lock."""
    with stages.first_lock:
        stages.first = 1
    with stages.second_lock:
        stages.second = stages.first + 1


def read(stages: Stages) -> None:
    """Read one value after the other, each under its lock."""
    with stages.first_lock:
        if stages.first == 0:
            return
        first = stages.first
    with stages.second_lock:
        second = stages.second
    _compare(first, second)


def write_both(stages: Stages) -> None:
    """Write both values under the first lock."""
    with stages.first_lock:
        stages.first = 1
        with stages.second_lock:
            stages.second = stages.first + 1


def read_both(stages: Stages) -> None:
    """Read both values under the first lock."""
    with stages.first_lock:
        if stages.first == 0:
            return
        first = stages.first
        with stages.second_lock:
            second = stages.second
    _compare(first, second)


def _compare(first: int, second: int) -> None:
    assert second == first + 1, f"the second value is {second}, after {first}"


def _twostage(name: str, writers: int) -> KnownBug:
    return KnownBug(
        name=name,
        source="CS",
        about="The reader sees the first value already, and the second one not yet.",
        finding="exception",
        message="the second value is 0, after 1",
        buggy=Program(name, Stages, (*[write] * writers, read)),
        repaired=Program(f"{name}_ok", Stages, (*[write_both] * writers, read_both)),
    )


TWOSTAGE = _twostage("twostage", 1)
TWOSTAGE_100 = _twostage("twostage_100", 99)
