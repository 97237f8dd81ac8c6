"""When the same decisions do not lead to the same execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.findings import HarnessError

if TYPE_CHECKING:
    from harness.control.scheduling import Moment

__all__ = ["OUTSIDE", "Nondeterminism", "diverged"]

OUTSIDE = (
    "Something outside the schedule decides: module state kept from one execution to the next, random "
    "numbers, hashes, the real clock, or real threads"
)
"""What may be behind it, for every message."""


class Nondeterminism(HarnessError):
    """The same schedule gave another set of runnable tasks: something is not under control."""


def diverged(moment: Moment, wanted: int, decision: int) -> Nondeterminism:
    """The error for a decision that cannot be made again."""
    runnable = ", ".join(task.name for task in moment.runnable)
    name = moment.tasks[wanted].name if wanted < len(moment.tasks) else f"task {wanted}"
    return Nondeterminism(
        f"the same decisions led elsewhere: at decision {decision} (step {moment.step}) {name} should go on, "
        f"but only {runnable} could. {OUTSIDE}"
    )
