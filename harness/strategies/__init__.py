"""Who runs next. One strategy per file, all behind the protocol of `harness.strategies.protocol`."""

from __future__ import annotations

from collections.abc import Callable

from harness.findings import UsageError
from harness.strategies.bounded import BoundedSearch
from harness.strategies.determinism import DeterminismCheck
from harness.strategies.dpor import DPOR
from harness.strategies.pct import PCT
from harness.strategies.portfolio import Portfolio
from harness.strategies.pos import POS
from harness.strategies.protocol import Strategy
from harness.strategies.random_walk import RandomWalk
from harness.strategies.urw import URW

__all__ = ["SEARCHES", "STRATEGIES", "strategy_named"]

STRATEGIES: dict[str, Callable[[int], Strategy]] = {
    "portfolio": Portfolio,
    "random": RandomWalk,
    "pct": PCT,
    "pos": POS,
    "urw": URW,
    "bounded": lambda seed: BoundedSearch(),
    "dpor": lambda seed: DPOR(),
    "determinism": lambda seed: DeterminismCheck(Portfolio(seed)),
}
"""Strategies by name, made from a seed."""

SEARCHES = frozenset({"bounded", "dpor"})
"""Those that come to an end by themselves."""


def strategy_named(name: str, seed: int) -> Strategy:
    """A new strategy; raises UsageError for an unknown name."""
    if name not in STRATEGIES:
        raise UsageError(f"there is no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return STRATEGIES[name](seed)
