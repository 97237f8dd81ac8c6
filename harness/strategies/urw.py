"""URW: weighted walk, uniform over interleavings (after Zhao et al., ASPLOS 2025).

A task is chosen with probability proportional to the operations that it has left, its unspawned
children's included, so that every interleaving of the estimated lengths is equally likely. Lengths are
learnt per task name (its path of creation) as a moving average; at first all are alike.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["URW"]

_NEWEST = 0.25  # weight of the newest execution in the moving average


class URW:
    """Chooses by remaining length."""

    sees_all = False
    follows = False

    def __init__(self, seed: int) -> None:
        self._uniform = Random(seed).random
        self._lengths: dict[str, float] = {}
        self._counted: dict[str, int] = {}
        self._left: dict[int, float] = {}
        self.early_timeouts = True

    def begin(self, last: Ended | None) -> bool:
        """Learn from the last execution's lengths."""
        for name, count in self._counted.items():
            known = self._lengths.get(name)
            self._lengths[name] = count if known is None else known + _NEWEST * (count - known)
        self._counted = {}
        self._left = {}
        self.early_timeouts = self._uniform() < 0.5
        return True

    def choose(self, moment: Moment) -> Task:
        """One of the runnable, by weight."""
        left = self._left
        total = 0.0
        for task in moment.runnable:
            if task.id not in left:
                self._arrived(task, moment)
            total += left[task.id]
        mark = self._uniform() * total
        chosen = moment.runnable[-1]
        for task in moment.runnable:
            mark -= left[task.id]
            if mark < 0:
                chosen = task
                break
        left[chosen.id] = max(1.0, left[chosen.id] - 1.0)
        self._counted[chosen.name] = self._counted.get(chosen.name, 0) + 1
        return chosen

    def _arrived(self, task: Task, moment: Moment) -> None:
        """Weigh a new task with all its descendants, and take that from its parent."""
        prefix = task.name + "/"
        own = self._lengths.get(task.name, 1.0)
        weight = own + sum(length for name, length in self._lengths.items() if name.startswith(prefix))
        self._left[task.id] = max(1.0, weight)
        creator = task.name.rpartition("/")[0]
        for other in moment.tasks:
            if other.name == creator and other.id in self._left:
                self._left[other.id] = max(1.0, self._left[other.id] - weight)

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)
