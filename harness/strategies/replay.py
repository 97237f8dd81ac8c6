"""Replay: follow a schedule whose points are named by meaning.

Between its deviations the execution runs undisturbed, so edits that neither add nor remove the named
points change nothing. A deviation whose point never comes is what makes a seed stale; `missed` then
says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.control.trace import Arrivals, default_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.seeds.schedule import Deviation

__all__ = ["Replay"]


class Replay:
    """Applies `deviations` in order; what follows the last runs undisturbed.

    One whose point has not come when a later one's does is passed over, and remembered as missed.
    """

    sees_all = True
    follows = True
    early_timeouts = True

    def __init__(self, deviations: Sequence[Deviation]) -> None:
        self._deviations = deviations
        self._arrivals = Arrivals()
        self._next = 0
        self._missed: list[int] = []

    def begin(self, last: Ended | None) -> bool:
        """Once."""
        self._arrivals = Arrivals()
        self._next = 0
        self._missed = []
        return last is None

    def choose(self, moment: Moment) -> Task:
        """The deviation for this point, if it is its turn and its task can go on."""
        at = self._arrivals.at(moment)
        for place in range(self._next, len(self._deviations)):
            deviation = self._deviations[place]
            if deviation.at == at:
                for task in moment.runnable:
                    if task.name == deviation.to:
                        self._missed += range(self._next, place)
                        self._next = place + 1
                        return task
        return default_choice(moment)

    def draw(self, bound: int) -> int:
        """Always the first."""
        return 0

    @property
    def missed(self) -> str:
        """Which step did not apply, in words; empty if all did."""
        missed = [*self._missed, *range(self._next, len(self._deviations))]
        if not missed:
            return ""
        deviation = self._deviations[missed[0]]
        at = deviation.at
        return (
            f"step {missed[0] + 1} of {len(self._deviations)} did not apply: {at.task} never came to "
            f"'{at.label}' for the {_ordinal(at.occurrence)} time with {deviation.to} able to go on"
        )


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number if number < 20 else number % 10, "th")
    return f"{number}{ending}"
