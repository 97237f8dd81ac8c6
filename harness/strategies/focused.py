"""Focused PCT: change points drawn among the points that are worth one.

As PCT, but k counts only the points at which a preemption may change anything, as `Suspects` have learnt
them; the bound 1/(n k^(d-1)) then has a much smaller k, at the price of being asked at every point. Most
executions count still fewer: acquisitions in the middle of an operation, after a release that the same
call made, with unprotected accesses or without. That gap between two critical sections of one call is
where check-then-act lives.
"""

from __future__ import annotations

import sys
from random import Random
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from harness.control.where import is_foreign

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task
    from harness.strategies.suspects import Suspects

__all__ = ["FocusedPCT"]

_REMEMBERED = 20
_WIDE, _NARROW, _GAPS = range(3)
_SHARES = (0.2, 0.3, 0.5)  # of executions that count every suspect; accesses and gaps; gaps alone

Call = tuple[CodeType | None, int]


class FocusedPCT:
    """Random priorities, lowered at up to `depth` - 1 suspicious points."""

    sees_all = False
    follows = False

    def __init__(self, seed: int, suspects: Suspects, depth: int = 4) -> None:
        self._uniform = Random(seed).random
        self._suspects = suspects
        self._depth = depth
        self._lengths: tuple[list[int], ...] = ([], [], [])
        self._lore = -1
        self._focus = _WIDE
        self._released: dict[int, Call] = {}
        self._priorities: dict[int, float] = {}
        self._points: set[int] = set()
        self._count = 0
        self._lowest = 0.0
        self.early_timeouts = True

    def begin(self, last: Ended | None) -> bool:
        """Draw this execution's depth and change points."""
        if self._lore != self._suspects.lore:  # other points count now than did before
            self._lore = self._suspects.lore
            self._lengths = ([], [], [])
        elif last is not None and not last.cut:
            lengths = self._lengths[self._focus]
            lengths.append(self._count)
            del lengths[:-_REMEMBERED]
        number = self._uniform()
        self._focus = _WIDE if number < _SHARES[_WIDE] else _GAPS if number > 1 - _SHARES[_GAPS] else _NARROW
        self._released.clear()
        self._priorities.clear()
        self._lowest = 0.0
        self._count = 0
        length = max(self._lengths[self._focus], default=0)
        wanted = min(1 + int(self._uniform() * (self._depth - 1)), length // 2)
        self._points = {1 + int(self._uniform() * length) for _ in range(wanted)}
        return True

    def choose(self, moment: Moment) -> Task:
        """The highest priority, after demoting whoever had it at a change point."""
        priorities = self._priorities
        for task in moment.runnable:
            if task.id not in priorities:
                priorities[task.id] = 1.0 + self._uniform()
        best = max(moment.runnable, key=lambda task: priorities[task.id])
        if best is moment.current:
            due = best.pending[0] == "yield"
            if self._counts(best):
                self._count += 1
                due = due or self._count in self._points
            if due:
                self._lowest -= 1.0
                priorities[best.id] = self._lowest
                best = max(moment.runnable, key=lambda task: priorities[task.id])
        return best

    def _counts(self, task: Task) -> bool:
        """Whether the task's pending operation is among those that change points are drawn from."""
        kind = task.pending[0]
        if kind not in ("acquire", "release") or self._focus == _WIDE:
            return self._focus != _GAPS and self._suspects.worth(task.pending)
        call = _call(sys._getframe(2))  # noqa: SLF001  the stack of the task that asks
        if kind == "release":
            self._released[task.id] = call
            return False
        return call == (None, 0) or self._released.get(task.id) == call

    def draw(self, bound: int) -> int:
        """Uniform."""
        return int(self._uniform() * bound)


def _call(frame: FrameType | None) -> Call:
    """The outermost method call on the stack, by its code and the place it was made from."""
    found: Call = (None, 0)
    while frame is not None:
        code = frame.f_code
        if code.co_varnames[:1] == ("self",) and code.co_argcount and not is_foreign(code.co_filename):
            found = (code, frame.f_back.f_lasti if frame.f_back is not None else 0)
        frame = frame.f_back
    return found
