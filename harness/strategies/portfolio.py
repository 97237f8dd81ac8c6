"""The default: several strategies take turns, for no single one finds everything.

One round of turns: random walk, POS, focused PCT, PCT, focused PCT, URW, focused PCT. Each keeps what it
learnt from its own turns; POS, which sees every operation, also learns which points are worth a preemption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.strategies.focused import FocusedPCT
from harness.strategies.pct import PCT
from harness.strategies.pos import POS
from harness.strategies.protocol import derived
from harness.strategies.random_walk import RandomWalk
from harness.strategies.suspects import Suspects
from harness.strategies.urw import URW

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.protocol import Strategy

__all__ = ["Portfolio"]


class Portfolio:
    """Takes turns between sampling strategies, each with a seed derived from `seed`."""

    sees_all = False
    follows = False
    early_timeouts = True

    def __init__(self, seed: int) -> None:
        suspects = Suspects()
        focused = FocusedPCT(derived(seed, 4), suspects)
        self._turns: tuple[Strategy, ...] = (
            RandomWalk(derived(seed, 0)),
            POS(derived(seed, 2), suspects),
            focused,
            PCT(derived(seed, 1), suspects=suspects),
            focused,
            URW(derived(seed, 3)),
            focused,
        )
        self._turn = -1
        self.present: Strategy = self._turns[0]
        self._last: dict[int, Ended] = {}

    def begin(self, last: Ended | None) -> bool:
        """Next turn; every strategy hears only of its own executions."""
        if last is not None:
            self._last[id(self.present)] = last
        self._turn += 1
        self.present = self._turns[self._turn % len(self._turns)]
        begun = self.present.begin(self._last.pop(id(self.present), None))
        self.sees_all = self.present.sees_all
        self.early_timeouts = self.present.early_timeouts
        return begun

    def choose(self, moment: Moment) -> Task:
        """As the strategy whose turn it is."""
        return self.present.choose(moment)

    def draw(self, bound: int) -> int:
        """As the strategy whose turn it is."""
        return self.present.draw(bound)
