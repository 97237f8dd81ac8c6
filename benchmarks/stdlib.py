"""Correct programs on the standard library's primitives: findings, which are false ones, and memory.

Memory is what the process grew by in the second half of an exploration, without what the numbers of the
schedules seen take, of which an exploration remembers a million at most.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.programs.stdlib import PROGRAMS
from harness.explore.exploration import Effort
from harness.explore.explorer import explored

__all__ = ["measure"]

_PAGE_KB = 4


def measure(quick: bool) -> dict[str, float]:
    """Per program executions, executions per second, findings and kilobytes per 1,000 executions."""
    executions = 1_000 if quick else 10_000
    figures: dict[str, float] = {"executions": 0, "false_findings": 0}
    for program in PROGRAMS:
        sizes: list[tuple[int, int, float]] = []

        def note(done: int, steps: int, distinct: int, sizes: list[tuple[int, int, float]] = sizes) -> None:
            sizes.append((done, distinct, _resident_kb()))

        outcome = explored(program, Effort(executions=executions, seed=1), note)
        half, end = sizes[len(sizes) // 2], sizes[-1]
        grown = end[2] - half[2] - _remembered_kb(end[1] - half[1])
        name = program.__name__
        figures[f"{name}_executions_per_s"] = outcome.executions / outcome.seconds
        figures[f"{name}_kb_per_1000"] = 1000 * grown / (end[0] - half[0])
        figures["executions"] += outcome.executions
        figures["false_findings"] += outcome.found is not None
    return figures


def _remembered_kb(schedules: int) -> float:
    """Each an int, and its entry in a set that is half full."""
    return schedules * (sys.getsizeof(1 << 62) + 32) / 1024


def _resident_kb() -> float:
    """Of this process, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE_KB
    except OSError:
        return 0.0
