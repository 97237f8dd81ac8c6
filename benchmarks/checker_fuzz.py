"""The checkers against all permutations, on random histories of every model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random

from benchmarks.programs.brute_force import in_real_time, legal, linearizable, parts_of
from benchmarks.programs.histories import random_history
from harness.findings import Verdict
from harness.history.automaton import BLOCKED
from harness.history.linearizability import Checked, check_linearizable
from harness.history.models import MODELS, Model
from harness.history.recorder import Recorded

__all__ = ["measure", "mismatches_in"]


def measure(quick: bool) -> dict[str, float]:
    """Histories, verdicts and mismatches."""
    return mismatches_in(2_000 if quick else 100_000, seed=0)


def mismatches_in(histories: int, seed: int) -> dict[str, float]:
    """Compare so many; the numbers follow from the seed."""
    began = time.perf_counter()
    verdicts = {Verdict.OK: 0, Verdict.VIOLATION: 0, Verdict.UNKNOWN: 0}
    names = sorted(MODELS)
    mismatches = 0
    for number in range(histories):
        random = Random(f"{seed}/{number}")
        name = names[number % len(names)]
        model = MODELS[name]()
        history = random_history(random, name, random.randint(1, 6))
        checked = check_linearizable(history, model)
        verdicts[checked.verdict] += 1
        agrees = (checked.verdict is Verdict.OK) == linearizable(history, model)
        if not agrees or not _is_witness(checked, history, model):
            mismatches += 1
            print(f"mismatch: {name}, history {number} of seed {seed}: {history}")
    return {
        "histories": histories,
        "ok": verdicts[Verdict.OK],
        "violations": verdicts[Verdict.VIOLATION],
        "mismatches": mismatches,
        "seconds": time.perf_counter() - began,
    }


def _is_witness(checked: Checked, history: Sequence[Recorded], model: Model) -> bool:
    """Whether what it shows is what it says: an order of all that returned, or where it gets stuck."""
    if checked.verdict is not Verdict.OK:
        return checked.stuck is not None or any(item.response is BLOCKED for item in history)
    finished = [item for item in history if item.returned is not None]
    if any(item not in checked.order for item in finished):
        return False
    parts = parts_of(checked.order, model)
    return in_real_time(checked.order) and all(legal(order, (), model) for order in parts)
