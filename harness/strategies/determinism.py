"""Determinism check: each execution of another strategy is run twice, and compared step by step.

Whatever is not under control (module state kept from one execution to the next, hashes, the real clock)
shows as a step at which the second run has other tasks to choose from, another operation or another time.
After the check of that name in AWS Shuttle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.control.numbers import Numbers
from harness.strategies.nondeterminism import OUTSIDE, Nondeterminism

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.protocol import Strategy

__all__ = ["DeterminismCheck"]


class DeterminismCheck:
    """Runs what `inner` chooses, then the same choices again; raises Nondeterminism where they differ."""

    sees_all = True
    follows = False

    def __init__(self, inner: Strategy) -> None:
        self.early_timeouts = inner.early_timeouts
        self._inner = inner
        self._seen: list[tuple[Any, ...]] = []
        self._draws: list[int] = []
        self._checking = True  # nothing, at first
        self._place = self._drawn = 0
        self._last: Ended | None = None
        self._numbers = Numbers()

    @property
    def complete(self) -> bool:
        """Whether the other strategy is through."""
        return bool(getattr(self._inner, "complete", False))

    def begin(self, last: Ended | None) -> bool:
        """The other strategy's next execution, or its last one again."""
        self._numbers.clear()
        if not self._checking:
            self._last, self._checking = last, True
            self._place = self._drawn = 0
            return True
        if self._place != len(self._seen):
            raise Nondeterminism(
                f"the same choices led elsewhere: the second run ended after {self._place} of "
                f"{len(self._seen)} steps. {OUTSIDE}"
            )
        self._checking = False
        self._seen.clear()
        self._draws.clear()
        begun = self._inner.begin(self._last)
        self.early_timeouts = self._inner.early_timeouts
        return begun

    def choose(self, moment: Moment) -> Task:
        """As the other strategy, or as it did before; raises Nondeterminism."""
        if self._checking:
            return self._again(moment)
        runnable = moment.runnable
        chosen = runnable[0]
        if len(runnable) > 1 or self._inner.sees_all:
            chosen = self._inner.choose(moment)
        self._seen.append(self._sight(moment, chosen))
        return chosen

    def draw(self, bound: int) -> int:
        """As the other strategy, or as it did before."""
        if not self._checking:
            self._draws.append(self._inner.draw(bound))
            return self._draws[-1]
        self._drawn += 1
        return self._draws[self._drawn - 1] if self._drawn <= len(self._draws) else 0

    def _again(self, moment: Moment) -> Task:
        seen = self._seen[self._place] if self._place < len(self._seen) else (-1, "the end")
        self._place += 1
        chosen = next((task for task in moment.runnable if task.id == seen[0]), None)
        if chosen is None or self._sight(moment, chosen) != seen:
            there = ", ".join(task.name for task in moment.runnable)
            after = chosen.pending[0] if chosen is not None and chosen is not moment.clock else "another one"
            raise Nondeterminism(
                f"the same choices led elsewhere: at step {moment.step} the first run came to {seen[1]}, the "
                f"second to {after}, with {there} to choose from. {OUTSIDE}"
            )
        return chosen

    def _sight(self, moment: Moment, chosen: Task) -> tuple[Any, ...]:
        kind, owner, key = moment.fire_operation() if chosen is moment.clock else chosen.pending
        plain = key if isinstance(key, str | int) else None
        tasks = tuple(task.id for task in moment.runnable)
        return chosen.id, kind, self._numbers.of(owner), plain, tasks, moment.now_ns
