"""Long histories: microseconds per operation where they are legal, seconds to a verdict where not."""

from __future__ import annotations

import resource
import time
from random import Random

from benchmarks.programs.histories import concurrent_history
from harness.findings import Verdict
from harness.history.linearizability import Budget, check_linearizable
from harness.history.models import KeyValue
from harness.history.recorder import Recorded

__all__ = ["measure"]


def measure(quick: bool) -> dict[str, float]:
    """A register with 20 clients, a store of 100 keys, and one wrong read among 50 clients."""
    scale = 10 if quick else 1
    register = concurrent_history(Random(1), clients=20, operations=10_000 // scale)
    store = concurrent_history(Random(2), clients=20, operations=100_000 // scale, keys=100)
    register_us = _us_per_operation(register)
    store_us = _us_per_operation(store)
    wrong = spoilt(concurrent_history(Random(3), clients=50, operations=2_000))
    began = time.perf_counter()
    checked = check_linearizable(wrong, KeyValue(), Budget(seconds=60))
    illegal_seconds = time.perf_counter() - began
    return {
        "register_us_per_operation": register_us,
        "store_us_per_operation": store_us,
        "us_per_operation_legal": max(register_us, store_us),
        "illegal_seconds": illegal_seconds,
        "illegal_decided": checked.verdict is Verdict.VIOLATION,
        "illegal_nodes": checked.nodes,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _us_per_operation(history: list[Recorded]) -> float:
    began = time.perf_counter()
    checked = check_linearizable(history, KeyValue())
    assert checked.verdict is Verdict.OK
    return (time.perf_counter() - began) * 1e6 / len(history)


def spoilt(history: list[Recorded]) -> list[Recorded]:
    """The same, with a read in the second half that answers what was overwritten long before."""
    reads = [place for place, item in enumerate(history) if item.operation == "get"]
    writes = [item for item in history if item.operation == "put"]
    place = next(place for place in reads if place > len(history) * 3 // 4)
    return [
        item._replace(response=writes[len(writes) // 8].arguments[1]) if number == place else item
        for number, item in enumerate(history)
    ]
