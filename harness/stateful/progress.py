"""Counting what sequential programs did, over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from harness.stateful.session import Session

__all__ = ["Progress"]


class Progress:
    """Programs, calls, and how often each clause was decided."""

    def __init__(self, report: Callable[[int, int], None] = lambda executions, operations: None) -> None:
        self.executions = 0
        self.operations = 0
        self.checked: Counter[str] = Counter()
        self._report = report

    def add(self, session: Session) -> None:
        """Account for one program."""
        self.executions += 1
        self.operations += session.operations
        self.checked.update(session.checked)
        self._report(self.executions, self.operations)
