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

    def begin(self, last: Ended | None) -> bool:
        """Toss the coin for this execution's timeouts."""
        self.early_timeouts = self._uniform() < 0.5
        return True

    def choose(self, moment: Moment) -> Task:
        """Any, and for how long."""
        runnable = moment.runnable
        count = len(runnable)
        chosen = runnable[int(self._uniform() * count)]
        if 1 < count < 64:
            # after the switch the chosen task is asked again at its next point; it stays with 1/n each time
            moment.hold(int(log(1.0 - self._uniform()) / _LOGS[count]))
        return chosen

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)
