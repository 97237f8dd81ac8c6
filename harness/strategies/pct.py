"""PCT: random priorities, lowered at a few random points (Burckhardt et al., ASPLOS 2010).

A bug that needs d ordering constraints among n tasks and k steps is found with probability of at least
1/(n k^(d-1)) per execution. Deviations from the paper: the depth is drawn anew for each execution and
clamped so that at most a quarter of the steps are change points; k counts racing points only (where at
least two tasks were runnable) and is a high quantile of past executions, not their maximum, which one
spinning execution would spoil. The task *about to run* is demoted, before it runs. The clock has a
priority like everybody else.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.suspects import Suspects

__all__ = ["PCT"]

_FOR_EVER = 1 << 60
_REMEMBERED = 50
_FIRST = 8  # so many executions are looked at one by one, later ones from time to time


class PCT:
    """Priorities with up to `depth` - 1 change points.

    Where `suspects` know better, a change point waits for one that is worth it.
    """

    sees_all = False
    follows = False

    def __init__(self, seed: int, depth: int = 4, length: int = 0, suspects: Suspects | None = None) -> None:
        self._suspects = suspects
        self._uniform = Random(seed).random
        self._depth = depth
        self._lengths: list[int] = []
        self._length = length
        self._priorities: dict[int, float] = {}
        self._points: list[int] = []  # ascending from the end
        self._lowest = 0.0
        self.early_timeouts = True

    def begin(self, last: Ended | None) -> bool:
        """Draw this execution's depth and change points."""
        if last is not None and not last.cut:
            self._lengths.append(last.racing)
            if len(self._lengths) <= _FIRST or len(self._lengths) >= 2 * _REMEMBERED:
                del self._lengths[:-_REMEMBERED]
                self._length = sorted(self._lengths)[len(self._lengths) * 9 // 10]
        self._priorities.clear()
        self._lowest = 0.0
        length = self._length
        wanted = min(int(self._uniform() * self._depth), length // 4)
        points = {1 + int(self._uniform() * length) for _ in range(wanted)}
        self._points = sorted(points, reverse=True)
        return True

    def choose(self, moment: Moment) -> Task:
        """The highest priority, after demoting whoever had it at a change point."""
        priorities = self._priorities
        best, highest = moment.runnable[0], -_FOR_EVER * 1.0
        for task in moment.runnable:
            if task.id not in priorities:
                priorities[task.id] = 1.0 + self._uniform()
            if priorities[task.id] > highest:
                best, highest = task, priorities[task.id]
        points = self._points
        spins = moment.current is not None and best is moment.current and best.pending[0] == "yield"
        due = bool(points) and moment.racing >= points[-1]
        if due and best is moment.current and self._suspects is not None:
            due = self._suspects.worth(best.pending)
        if spins or due:
            while points and moment.racing >= points[-1]:
                points.pop()
            self._lowest -= 1.0
            priorities[best.id] = self._lowest
            best = max(moment.runnable, key=lambda task: priorities[task.id])
        moment.hold(max(0, points[-1] - moment.racing - 1) if points else _FOR_EVER, priorities)
        return best

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)
