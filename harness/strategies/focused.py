"""Focused PCT: change points drawn among the points that are worth one.

As PCT, but k counts only the points at which a preemption may change anything, as `Suspects` have learnt
them; the bound 1/(n k^(d-1)) then has a much smaller k, at the price of being asked at every point.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.suspects import Suspects

__all__ = ["FocusedPCT"]

_REMEMBERED = 20


class FocusedPCT:
    """Random priorities, lowered at up to `depth` - 1 suspicious points."""

    sees_all = False
    follows = False

    def __init__(self, seed: int, suspects: Suspects, depth: int = 4) -> None:
        self._uniform = Random(seed).random
        self._suspects = suspects
        self._depth = depth
        self._lengths: list[int] = []
        self._priorities: dict[int, float] = {}
        self._points: set[int] = set()
        self._count = 0
        self._lowest = 0.0
        self.early_timeouts = True

    def begin(self, last: Ended | None) -> bool:
        """Draw this execution's depth and change points."""
        if last is not None and not last.cut:
            self._lengths.append(self._count)
            del self._lengths[:-_REMEMBERED]
        self._priorities.clear()
        self._lowest = 0.0
        self._count = 0
        length = max(self._lengths, default=0)
        wanted = min(1 + int(self._uniform() * (self._depth - 1)), length // 2)
        self._points = {1 + int(self._uniform() * length) for _ in range(wanted)}
        return True

    def choose(self, moment: Moment) -> Task:
        """The highest priority, after demoting whoever had it at a change point."""
        priorities = self._priorities
        for task in moment.runnable:
            if task.id not in priorities:
                priorities[task.id] = 1.0 + self._uniform()
        best = max(moment.runnable, key=lambda task: priorities[task.id])
        if best is moment.current:
            due = best.pending[0] == "yield"
            if self._suspects.worth(best.pending):
                self._count += 1
                due = due or self._count in self._points
            if due:
                self._lowest -= 1.0
                priorities[best.id] = self._lowest
                best = max(moment.runnable, key=lambda task: priorities[task.id])
        return best

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)
