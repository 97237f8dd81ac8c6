"""Focused PCT: change points drawn among the points that are worth one.

As PCT, but k counts only the points at which a preemption may change anything, as `Suspects` have learnt
them; the bound 1/(n k^(d-1)) then has a much smaller k, at the price of being asked at every point. Most
executions count still fewer: unprotected accesses; or acquisitions in the middle of an operation, after a
release that the same call made; or those inside of another critical section. The gap between two critical
sections of one call is where check-then-act lives, the nested one is where deadlocks do.

A change point is drawn in two steps, first the place in the program, then which of its occurrences: the
one store that matters is not outnumbered by the loop that polls it. In some executions every occurrence of
one place is a change point: seven philosophers with one fork each take seven preemptions, all alike.
"""

from __future__ import annotations

import sys
from bisect import bisect
from random import Random
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from harness.control.where import is_foreign

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.suspects import Suspects

__all__ = ["FocusedPCT"]

_ALL, _ACCESSES, _GAPS, _NESTED = range(4)
_BOUNDS = (0.1, 0.5, 0.9)  # executions count every suspect; accesses; gaps; nested acquisitions
_EVERYWHERE = (0.2, 0.15, 0.35, 0.5)  # of each, executions that leave every task at the same place

Call = tuple[CodeType | None, int]
Place = tuple[Any, ...]


class FocusedPCT:
    """Random priorities, lowered at up to `depth` - 1 suspicious points."""

    sees_all = False
    follows = False

    def __init__(self, seed: int, suspects: Suspects, depth: int = 4) -> None:
        self._uniform = Random(seed).random
        self._suspects = suspects
        self._depth = depth
        self._most: tuple[dict[Place, int], ...] = ({}, {}, {}, {})  # occurrences in one execution, by place
        self._lore = -1
        self._focus = _ALL
        self._released: dict[int, Call] = {}
        self._priorities: dict[int, float] = {}
        self._counts: dict[Place, int] = {}
        self._points: set[tuple[Place, int]] = set()
        self._always: Place | None = None
        self._held: dict[int, int] = {}
        self._lowest = 0.0
        self.early_timeouts = True

    def begin(self, last: Ended | None) -> bool:
        """Draw this execution's depth and change points."""
        if self._lore != self._suspects.lore:  # other points count now than did before
            self._lore = self._suspects.lore
            self._most = ({}, {}, {}, {})
        elif last is not None and not last.cut:
            most = self._most[self._focus]
            for place, count in self._counts.items():
                most[place] = max(count, most.get(place, 0))
        self._released.clear()
        self._held.clear()
        self._priorities.clear()
        self._counts.clear()
        self._lowest = 0.0
        self._focus = bisect(_BOUNDS, self._uniform())
        most = self._most[self._focus]
        self._points = self._drawn(most)
        self._always = None
        if most and self._uniform() < _EVERYWHERE[self._focus]:
            self._always = list(most)[int(self._uniform() * len(most))]
        return True

    def _drawn(self, most: dict[Place, int]) -> set[tuple[Place, int]]:
        places = list(most)
        wanted = min(1 + int(self._uniform() * (self._depth - 1)), sum(most.values()) // 2)
        chosen = [places[int(self._uniform() * len(places))] for _ in range(wanted)]
        return {(place, 1 + int(self._uniform() * most[place])) for place in chosen}

    def choose(self, moment: Moment) -> Task:
        """The highest priority, after demoting whoever had it at a change point."""
        priorities = self._priorities
        for task in moment.runnable:
            if task.id not in priorities:
                priorities[task.id] = 1.0 + self._uniform()
        best = max(moment.runnable, key=lambda task: priorities[task.id])
        if best is moment.current:
            due = best.pending[0] == "yield"
            place = self._place(best)
            if place is not None:
                count = self._counts[place] = self._counts.get(place, 0) + 1
                due = due or place == self._always or (place, count) in self._points
            if due:
                self._lowest -= 1.0
                priorities[best.id] = self._lowest
                best = max(moment.runnable, key=lambda task: priorities[task.id])
        return best

    def _place(self, task: Task) -> Place | None:
        """Which of the points that change points are drawn from the task's pending operation is, if any."""
        kind, owner, key = task.pending
        if self._focus in (_ALL, _ACCESSES):
            counts = kind in ("read", "write") or self._focus == _ALL
            return (kind, type(owner), key) if counts and self._suspects.worth(task.pending) else None
        if kind not in ("acquire", "release"):
            return None
        call, site = _call(sys._getframe(2))  # noqa: SLF001  the stack of the task that asks
        held = self._held.get(task.id, 0)
        if kind == "release":
            self._released[task.id] = call
            self._held[task.id] = held - 1
            return None
        self._held[task.id] = held + 1
        if self._focus == _NESTED:
            counts = held > 0
        else:
            counts = call == (None, 0) or self._released.get(task.id) == call
        return (kind, type(owner), call, site) if counts else None

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)


def _call(frame: FrameType | None) -> tuple[Call, Call]:
    """The outermost method call on the stack, by its code and its caller's place; and the innermost place."""
    found: Call = (None, 0)
    site: Call = (None, 0)
    while frame is not None:
        code = frame.f_code
        if not is_foreign(code.co_filename):
            if site == (None, 0):
                site = code, frame.f_lasti
            if code.co_varnames[:1] == ("self",) and code.co_argcount:
                found = (code, frame.f_back.f_lasti if frame.f_back is not None else 0)
        frame = frame.f_back
    return found, site
