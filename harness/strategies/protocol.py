"""What a strategy is: an oracle with three questions, and a mark for how much it wants to see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["Strategy", "derived", "drawn"]


class Strategy(Protocol):
    """The policy that decides who goes on; keeps what it learns across executions.

    `sees_all`: it is asked at every scheduling point, also where only one task is runnable, and every
    task's `pending` operation is up to date. `follows`: it only repeats what was decided before; others
    give way to a fair choice late in a long execution. `early_timeouts`: a deadline may pass while somebody
    is runnable; read anew at the start of each execution.
    """

    sees_all: bool
    follows: bool
    early_timeouts: bool

    def begin(self, last: Ended | None) -> bool:
        """Get ready for an execution; `last` is how the one before ended. False: all are explored."""

    def choose(self, moment: Moment) -> Task:
        """Who goes on, one of `moment.runnable` (never empty, sorted by id, the clock last).

        `moment.current` is the task that asks, None if it cannot go on. With `moment.hold(n)` the
        answer stands for n further points, unless the runnable set changes before.
        """

    def draw(self, bound: int) -> int:
        """A data choice in range(bound)."""


def derived(seed: int, *path: int) -> int:
    """A seed for a part of what runs under `seed`, the same on every machine."""
    number = seed
    for item in path:
        number = (number * 6_364_136_223_846_793_005 + item * 1_442_695_040_888_963_407 + 1) & (2**64 - 1)
        number ^= number >> 29
    return number


def drawn(uniform: float, bound: int) -> int:
    """An integer below `bound` from a uniform number, the same on every Python version."""
    return int(uniform * bound)
