"""CS/wronglock: one of those who change a value holds another lock than the rest."""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["WRONGLOCK", "WRONGLOCK_1", "WRONGLOCK_3"]


class Data:
    """A value, the lock that guards it, and one that does not."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.other_lock = Lock()
        self.value = 0


def increment_and_look(data: Data) -> None:
    """Under the lock nobody else may change the value."""
    with data.lock:
        before = data.value
        data.value += 1
        after = data.value
        assert after == before + 1, f"{before} was incremented to {after}"


def increment_wrongly(data: Data) -> None:
    """Increment under the other lock."""
    with data.other_lock:
        data.value += 1


def increment(data: Data) -> None:
    """Increment under the lock."""
    with data.lock:
        data.value += 1


def _wronglock(name: str, others: int) -> KnownBug:
    return KnownBug(
        name=name,
        source="CS",
        about=f"The value changes under a lock that {others} others do not take.",
        finding="exception",
        message="was incremented to",
        buggy=Program(name, Data, (increment_and_look, *[increment_wrongly] * others)),
        repaired=Program(f"{name}_ok", Data, (increment_and_look, *[increment] * others)),
    )


WRONGLOCK = _wronglock("wronglock", 7)
WRONGLOCK_1 = _wronglock("wronglock_1", 1)
WRONGLOCK_3 = _wronglock("wronglock_3", 3)
