"""A contract as test items, for `pytest --pyargs scenarios --harness-target mypkg.jobs:Table`."""

from __future__ import annotations

from typing import Any

__all__ = ["test_clause", "test_stage"]


def test_clause(harness_gate: Any, harness_clause: str) -> None:
    """No stage broke the clause, and some stage decided it."""
    harness_gate.decide_clause(harness_clause)


def test_stage(harness_gate: Any, harness_stage: str) -> None:
    """The stage ran to its end and could have found something."""
    harness_gate.decide_stage(harness_stage)
