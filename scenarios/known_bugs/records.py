"""What a known bug is: a program that must lead to its finding, and a repaired twin that must not."""

from __future__ import annotations

from dataclasses import dataclass

from harness.explore.program import Program

__all__ = ["KnownBug"]


@dataclass(frozen=True)
class KnownBug:
    """A buggy program, its repaired twin, and the finding that tells that it was this bug.

    `source` is the suite of SCTBench that the program is ported from. `finding` is the kind of failure
    ("invariant": `check` failed; "exception": a task raised; "deadlock"), `message` a fragment of its
    message. `every_run` marks those that fail under every schedule: controls, which even a single
    execution must find.
    """

    name: str
    source: str
    about: str
    finding: str
    message: str
    buggy: Program
    repaired: Program
    every_run: bool = False
