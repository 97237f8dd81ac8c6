"""Which points are worth a preemption: learnt from executions in which every operation was seen.

Leaving a task before it releases a lock, or before an access that all tasks make under one common lock,
changes little: whoever could interfere waits for that lock. Worth it are acquisitions, looks at resources,
and accesses to places that several tasks use, one of them writing, with no lock in common (the lockset of
Savage et al., TOCS 1997). Places are known by the type of their owner and the key, so that what was learnt
holds in the next execution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.control.numbers import Numbers

if TYPE_CHECKING:
    from harness.control.scheduling import Moment
    from harness.control.task import Operation, Task

__all__ = ["Suspects"]

_ALWAYS = frozenset({"acquire", "timed", "try", "time", "timer", "yield", "spawn", "fire"})
_ACCESSES = frozenset({"read", "write"})


class _Place:
    """What was seen of one place in one execution."""

    __slots__ = ("kind", "locks", "shared", "task", "written")

    def __init__(self, kind: type, task: int, locks: frozenset[int]) -> None:
        self.kind = kind
        self.task = task
        self.locks = locks
        self.shared = False
        self.written = False


class Suspects:
    """Learns from `executed`, answers `worth`; `lore` changes whenever something was learnt."""

    def __init__(self) -> None:
        self._racy: set[tuple[type, Any]] = set()
        self._places: dict[tuple[int, Any], _Place] = {}
        self._held: dict[int, frozenset[int]] = {}
        self._numbers = Numbers()
        self._learnt = False
        self.lore = 0

    def begin(self) -> None:
        """An execution in which everything is seen begins; draw the conclusions of the last."""
        before = len(self._racy), self._learnt
        for (_, key), place in self._places.items():
            if place.shared and place.written and not place.locks:
                self._racy.add((place.kind, key))
        self._learnt = self._learnt or bool(self._places)
        self.lore += before != (len(self._racy), self._learnt)
        self._places.clear()
        self._held.clear()
        self._numbers.clear()

    def executed(self, task: Task, moment: Moment) -> None:
        """`task` goes on with its pending operation."""
        kind, owner, key = task.pending
        held = self._held.get(task.id, frozenset())
        if kind in _ACCESSES:
            self._accessed(owner, key, task.id, held, kind == "write")
        elif kind in ("acquire", "timed"):
            self._held[task.id] = held | {self._numbers.of(owner)}
        elif kind == "release":
            self._held[task.id] = held - {self._numbers.of(owner)}

    def worth(self, operation: Operation) -> bool:
        """Whether a preemption just before this operation may change anything."""
        kind, owner, key = operation
        if kind in _ACCESSES:
            return not self._learnt or (type(owner), key) in self._racy or (type(owner), "*") in self._racy
        return kind in _ALWAYS

    def _accessed(self, owner: Any, key: Any, task: int, held: frozenset[int], write: bool) -> None:
        name = self._numbers.of(owner), key
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = _Place(type(owner), task, held)
        place.shared = place.shared or place.task != task
        place.written = place.written or write
        place.locks &= held
