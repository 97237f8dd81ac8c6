"""Known bugs of the concurrency-testing literature: executions until the default portfolio finds them."""

from __future__ import annotations

from harness.explore.exploration import Effort, Exploration
from harness.explore.explorer import explored
from scenarios.known_bugs import KNOWN_BUGS
from scenarios.known_bugs.records import KnownBug

__all__ = ["is_found", "measure"]

_MOST = 1_000
_AS_MEASURED = frozenset({"safestack"})  # the study's hardest: reported, not counted on


def measure(quick: bool) -> dict[str, float]:
    """Searches that found the bug within the limit, the most executions needed, and false findings."""
    seeds = 3 if quick else 20
    figures: dict[str, float] = {}
    found = wanted = false = worst = 0
    for bug in KNOWN_BUGS:
        outcomes = [
            explored(bug.buggy, Effort(executions=_MOST, seed=seed, shrink=False)) for seed in range(seeds)
        ]
        hits = [outcome for outcome in outcomes if is_found(bug, outcome)]
        most = max(outcome.executions for outcome in outcomes)
        figures[f"{bug.name}_found"] = len(hits)
        figures[f"{bug.name}_most_executions"] = most
        twin = explored(bug.repaired, Effort(executions=_MOST if not quick else 200, seed=0))
        false += twin.found is not None
        if bug.name not in _AS_MEASURED:
            found += len(hits)
            wanted += seeds
            worst = max(worst, most)
    return {
        **figures,
        "found": found,
        "of": wanted,
        "worst_executions": worst,
        "false_findings": false,
    }


def is_found(bug: KnownBug, outcome: Exploration) -> bool:
    """Whether an exploration showed this bug, and not just anything."""
    if outcome.found is None:
        return False
    failure = outcome.found.failure
    return failure.kind.value == bug.finding and bug.message in failure.message
