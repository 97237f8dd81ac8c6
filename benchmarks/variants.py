"""The eight one-bug variants of a small ledger: whether the default portfolio finds each, and how fast.

Both forms (two tasks; three tasks and eleven operations) over many seeds, then the repaired twins, on
which any finding is a false one.
"""

from __future__ import annotations

from statistics import median

from benchmarks.programs.ledger_variants import VARIANTS
from harness.explore.exploration import Effort
from harness.explore.explorer import explored

__all__ = ["measure"]

_MOST = 10_000


def measure(quick: bool) -> dict[str, float]:
    """How many of the variants' searches found their bug, the worst medians, and false findings."""
    seeds, twins = (5, 500) if quick else (20, 20_000)
    found = wanted = false = twin_executions = 0
    figures: dict[str, float] = {}
    executions: list[float] = []
    seconds: list[float] = []
    for variant in VARIANTS:
        for form in ("natural", "generic"):
            outcomes = [
                explored(getattr(variant, form), Effort(executions=_MOST, seed=seed, shrink=False))
                for seed in range(seeds)
            ]
            hits = [outcome for outcome in outcomes if outcome.found is not None]
            wanted += seeds
            found += len(hits)
            executions.append(median(outcome.executions for outcome in outcomes))
            seconds.append(median(outcome.seconds for outcome in outcomes))
            figures[f"{variant.name}_{form}_executions"] = executions[-1]
            share = twins // (2 * len(VARIANTS))
            twin = explored(getattr(variant, f"{form}_repaired"), Effort(executions=share, seed=0))
            false += twin.found is not None
            twin_executions += twin.executions
    return {
        **figures,
        "found": found,
        "of": wanted,
        "worst_median_executions": max(executions),
        "worst_median_seconds": max(seconds),
        "twin_executions": twin_executions,
        "false_findings": false,
    }
