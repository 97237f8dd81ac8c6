"""Do the reductions lose anything? Outcome sets of DPOR and of the bounded search against brute force.

Brute force is the depth-first search over every decision, without any reduction or bound. Programs that
it cannot exhaust within a limit are drawn again.
"""

from __future__ import annotations

import time
from random import Random

from benchmarks.programs.tiny import Playground, random_program
from harness.strategies.bounded import BoundedSearch
from harness.strategies.dpor import DPOR

__all__ = ["measure", "mismatches_in"]

_NO_BOUND = 1 << 20
_MOST = 2_000  # three tasks of one access each have 1,680 orders


def measure(quick: bool) -> dict[str, float]:
    """Programs compared, mismatches, and executions of each search."""
    return mismatches_in(100 if quick else 5_000, seed=0)


def mismatches_in(programs: int, seed: int) -> dict[str, float]:
    """Compare this many programs; the numbers follow from the seed."""
    began = time.perf_counter()
    compared = mismatches = drawn = 0
    spent = {"brute": 0, "bounded": 0, "dpor": 0}
    playground = Playground()
    while compared < programs:
        program = random_program(Random(seed * 1_000_003 + drawn))
        drawn += 1
        before = playground.executions
        every = playground.outcomes(program, BoundedSearch(bound=_NO_BOUND), _MOST)
        if every is None:
            continue
        spent["brute"] += playground.executions - before
        compared += 1
        for name, search in (("bounded", BoundedSearch()), ("dpor", DPOR())):
            before = playground.executions
            if playground.outcomes(program, search) != every:
                mismatches += 1
                print(f"mismatch: {name} on program {drawn - 1} of seed {seed}: {program}")
            spent[name] += playground.executions - before
    return {
        "programs": compared,
        "mismatches": mismatches,
        **{f"{name}_executions": count for name, count in spent.items()},
        "seconds": time.perf_counter() - began,
    }
