"""What a step costs: two tasks with fifty acquire and release pairs each, beside the peers.

`sync`: primitives are the only points. `access`: shared attributes too, against the peers'
instruction-level mode. Peers (extra `[bench]`, Python 3.12 or newer) are measured in the same run, in
turn; where one is not installed its figure is 0 and the ratios are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.programs import counter
from harness.explore.exploration import Effort
from harness.explore.explorer import run_batch
from harness.explore.laboratory import ProgramLaboratory

__all__ = ["measure"]

_SEED = 1


def measure(quick: bool) -> dict[str, float]:
    """Executions per second of each tool and mode, and the ratios to the best peer."""
    rounds = 3 if quick else 7
    tools: dict[str, tuple[Callable[[int], float], int]] = {
        "sync": (_ours(accesses=False), 400),
        "access": (_ours(accesses=True), 400),
        "bare": (_bare, 2000),
        **_peers(),
    }
    rates: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(rounds):
        for name, (run, executions) in tools.items():
            began = time.perf_counter()
            done = run(executions)
            rates[name].append(done / (time.perf_counter() - began))
    figures = {f"{name}_executions_per_s": median(found) for name, found in rates.items()}
    steps = _steps_of(accesses=True)
    figures["steps_per_execution"] = steps
    figures["us_per_step"] = 1e6 / (figures["access_executions_per_s"] * steps)
    figures["access_vs_bare"] = figures["bare_executions_per_s"] / figures["access_executions_per_s"]
    figures["sync_vs_bare"] = figures["bare_executions_per_s"] / figures["sync_executions_per_s"]
    sync = [figures[f"{name}_executions_per_s"] for name in tools if name.startswith("peer_sync")]
    instruction = [figures[f"{name}_executions_per_s"] for name in tools if name.startswith("peer_access")]
    if sync:
        figures["sync_vs_best_peer"] = figures["sync_executions_per_s"] / max(sync)
    if instruction:
        figures["access_vs_best_peer"] = figures["access_executions_per_s"] / max(instruction)
    return figures


def _ours(accesses: bool) -> Callable[[int], float]:
    laboratory = ProgramLaboratory(counter.COUNTER, accesses=accesses)

    def run(executions: int) -> float:
        effort = Effort(executions=executions, strategy="pct", seed=_SEED)
        batch = run_batch(laboratory, effort, 0, executions, None, lambda done, steps: None)
        assert batch.failed is None
        return batch.executions

    return run


def _steps_of(accesses: bool) -> float:
    laboratory = ProgramLaboratory(counter.COUNTER, accesses=accesses)
    batch = run_batch(laboratory, Effort(strategy="pct"), 0, 20, None, lambda done, steps: None)
    return batch.steps / batch.executions


def _bare(executions: int) -> float:
    for _ in range(executions):
        counter.bare()
    return executions


def _peers() -> dict[str, tuple[Callable[[int], float], int]]:
    """The peers that are installed, each in its fastest mode of either sort."""
    found: dict[str, tuple[Callable[[int], float], int]] = {}
    try:
        import interleave_test
    except ImportError:
        pass
    else:
        here = str(Path(counter.__file__))

        def interleave(**mode: object) -> Callable[[int], float]:
            def run(executions: int) -> float:
                interleave_test.explore(
                    counter.model, iterations=executions, seed=_SEED, strategy="pct", **mode
                )
                return executions

            return run

        found["peer_sync_interleave"] = (interleave(exclude=[here]), 40)
        found["peer_access_interleave"] = (interleave(granularity="opcode"), 10)
    try:
        import frontrun
    except ImportError:
        pass
    else:

        def frontrun_random(executions: int) -> float:
            result = frontrun.explore(
                setup=counter.Shared,
                workers=counter.increment,
                count=2,
                invariant=lambda shared: shared.value == 2 * counter.PAIRS,
                strategy="random",
                max_attempts=executions,
                max_ops=100_000,
                seed=_SEED,
            )
            return float(getattr(result, "num_explored", executions) or executions)

        try:
            frontrun_random(1)
            found["peer_access_frontrun"] = (frontrun_random, 3)
        except RuntimeError:  # it wants its own command line around the process: `frontrun python -m ...`
            pass
    return found
