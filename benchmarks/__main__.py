"""Run one benchmark and print its table, or one flat JSON object of numbers."""

from __future__ import annotations

import argparse
import json

from benchmarks import (
    checker_fuzz,
    checker_long,
    gates,
    recording,
    reduction,
    replay,
    sctbench,
    stdlib,
    steps,
    variants,
)

__all__ = ["main"]

BENCHMARKS = {
    "recording": recording.measure,
    "gate": gates.measure,
    "steps": steps.measure,
    "variants": variants.measure,
    "sctbench": sctbench.measure,
    "reduction": reduction.measure,
    "stdlib": stdlib.measure,
    "checker-fuzz": checker_fuzz.measure,
    "checker-long": checker_long.measure,
    "replay": replay.measure,
}


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", action="store_true", help="one flat JSON object")
    options = parser.parse_args()
    figures = BENCHMARKS[options.name](options.quick)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:32} {value:>14.3f}" if isinstance(value, float) else f"{name:32} {value:>14}")


if __name__ == "__main__":
    main()
