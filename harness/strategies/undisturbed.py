"""Undisturbed: what happens when nobody interferes. For what is run, not explored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.control.trace import default_choice

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["Undisturbed"]


class Undisturbed:
    """The present task goes on until it cannot, then the first runnable one; timeouts come late."""

    sees_all = False
    follows = True
    early_timeouts = False

    def begin(self, last: Ended | None) -> bool:
        """Once."""
        return last is None

    def choose(self, moment: Moment) -> Task:
        """The default."""
        return default_choice(moment)

    def draw(self, bound: int) -> int:
        """Always the first."""
        return 0
