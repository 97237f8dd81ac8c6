"""Rerun: the decisions of an execution once more, step by step, in the same process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.strategies.nondeterminism import diverged

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["Rerun"]


class Rerun:
    """Follows `decisions`, pairs of (mark, task id), exactly; anything else is nondeterminism."""

    sees_all = True
    follows = True

    def __init__(self, decisions: tuple[tuple[int, int], ...], early_timeouts: bool = True) -> None:
        self.early_timeouts = early_timeouts
        self._decisions = decisions
        self._place = 0

    def begin(self, last: Ended | None) -> bool:
        """Once."""
        self._place = 0
        return last is None

    def choose(self, moment: Moment) -> Task:
        """The recorded task where one was recorded, else whoever asks."""
        current = moment.current
        if self._place < len(self._decisions):
            mark, wanted = self._decisions[self._place]
            if mark < moment.mark:
                raise diverged(moment, wanted, self._place + 1)
            if mark == moment.mark:
                self._place += 1
                for task in moment.runnable:
                    if task.id == wanted:
                        return task
                raise diverged(moment, wanted, self._place)
        if current is None:
            raise diverged(moment, moment.running.id, self._place + 1)
        return current

    def draw(self, bound: int) -> int:
        """Rerun executions draw nothing."""
        return 0
