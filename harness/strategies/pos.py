"""POS: partial order sampling with the starts first (Yuan, Yang, Gu, CAV 2018).

Each pending operation has a random priority; the highest runs, and afterwards it and every pending
operation that races with it draw anew. Tasks that have not begun go first, for otherwise the order of
spawning decides more than the order of accesses.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from harness.strategies.dependency import dependent

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.suspects import Suspects

__all__ = ["POS"]


class POS:
    """Random priorities of pending operations."""

    sees_all = True
    follows = False

    def __init__(self, seed: int, suspects: Suspects | None = None) -> None:
        self._suspects = suspects
        self._uniform = Random(seed).random
        self._priorities: dict[int, float] = {}
        self.early_timeouts = True

    def begin(self, last: Ended | None) -> bool:
        """Forget all priorities."""
        self._priorities.clear()
        if self._suspects is not None:
            self._suspects.begin()
        self.early_timeouts = self._uniform() < 0.5
        return True

    def choose(self, moment: Moment) -> Task:
        """Starts first, then the highest priority."""
        priorities = self._priorities
        best: Task | None = None
        highest = -1.0
        for task in moment.runnable:
            if task.pending[0] == "start" and task is not moment.clock:
                best = task
                break
            priority = priorities.get(task.id)
            if priority is None:
                priority = priorities[task.id] = self._uniform()
            if priority > highest:
                best, highest = task, priority
        assert best is not None
        for task in moment.runnable:
            if task is best or dependent(task.pending, best.pending):
                priorities.pop(task.id, None)
        if self._suspects is not None:
            self._suspects.executed(best, moment)
        return best

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)
