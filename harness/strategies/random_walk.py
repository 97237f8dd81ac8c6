"""Random walk: at every point each runnable task is as likely as any other.

The number of points until a walk changes its mind is geometric, so it is drawn once and held, instead
of asking at each.
"""

from __future__ import annotations

from math import log
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["RandomWalk"]

_LOGS = [0.0, 0.0, *(log(1 / n) for n in range(2, 64))]


class RandomWalk:
    """Uniform over the runnable tasks. In every second execution, on average, timeouts come late."""

    sees_all = False
    follows = False

    def __init__(self, seed: int) -> None:
        self._uniform = Random(seed).random
        self.early_timeouts = True
        self._who, self._among, self._until = -1, 0, 0  # whose stay, among how many, until which step

    def begin(self, last: Ended | None) -> bool:
        """Toss the coin for this execution's timeouts."""
        self.early_timeouts = self._uniform() < 0.5
        self._who, self._among, self._until = -1, 0, 0
        return True

    def choose(self, moment: Moment) -> Task:
        """Any, and for how long: at each further point it stays with 1/n, else any other goes on."""
        runnable, current = moment.runnable, moment.current
        count = len(runnable)
        if count >= len(_LOGS):
            return runnable[int(self._uniform() * count)]
        if count == 1:
            return runnable[0]
        if current is not None and current.id == self._who and count == self._among:
            left = self._until - moment.step
            if left > 0:
                moment.hold(left - 1)
                return current
            others = [task for task in runnable if task is not current]
            chosen = others[int(self._uniform() * len(others))]
        else:
            chosen = runnable[int(self._uniform() * count)]
        points = int(log(1.0 - self._uniform()) / _LOGS[count])
        self._who, self._among, self._until = chosen.id, count, moment.step + points + 1
        moment.hold(points)
        return chosen

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)
