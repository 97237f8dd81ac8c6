"""Livelock: an execution that goes round in circles although everybody gets a turn.

An execution that reaches its step bound proves nothing: it may be long. It is a livelock if, under the
fair choice of its last part, nothing changed any more: no shared write, no task began or ended, and every
task that was runnable came back to the same point with the same local values, again and again. Code that
reads the clock in that loop may be waiting for a time to come, so it only counts once days have passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.control.failures import Failure, FailureKind
from harness.control.trace import label_of
from harness.control.where import frames_of, innermost, is_foreign, where

if TYPE_CHECKING:
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["LivelockTracer"]

_CHANGES = frozenset({"write", "start", "finish", "spawn"})
_ROUNDS = 8
_LONG_NS = 48 * 3600 * 1_000_000_000
_SMALL = (int, float, str, bytes, bool, type(None))


class LivelockTracer:
    """Watches the last part of an execution, from step `begin` on. `failure` if it went in circles."""

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._changed = False
        self._looked_at_clock = False
        self._visits: dict[str, dict[tuple[Any, ...], int]] = {}
        self._places: dict[str, str] = {}
        self._started_ns: int | None = None
        self._now_ns = 0

    def decided(self, moment: Moment, chosen: Task) -> None:
        """Note where the task that goes on stands, and with what in its hands."""
        if not moment.exploring or moment.step < self._begin or chosen is moment.clock:
            return
        if self._started_ns is None:
            self._started_ns = moment.now_ns
        self._now_ns = moment.now_ns
        kind = chosen.pending[0]
        self._changed = self._changed or kind in _CHANGES
        self._looked_at_clock = self._looked_at_clock or kind == "time"
        visits = self._visits.setdefault(chosen.name, {})
        state = (label_of(chosen, moment), *_locals(chosen))
        visits[state] = visits.get(state, 0) + 1
        self._places[chosen.name] = where(chosen)

    def fired(self, moment: Moment, task: Task) -> None:
        """Time passes; no more to note."""

    def notified(self, moment: Moment, condition: Any) -> None:
        """Who goes in circles waits for nothing."""

    def missed(self, task: Task) -> str:
        """Nothing was noted."""
        return ""

    @property
    def failure(self) -> Failure | None:
        """The livelock, if it is one."""
        passed = self._now_ns - (self._started_ns or 0)
        if self._changed or not self._visits or (self._looked_at_clock and passed < _LONG_NS):
            return None
        for visits in self._visits.values():
            if min(visits.values()) < _ROUNDS:
                return None
        places = ", ".join(f"{task} at {place}" for task, place in sorted(self._places.items()))
        return Failure(
            FailureKind.LIVELOCK,
            f"these tasks go round in circles and nothing changes, although each gets its turns: {places}",
            where=" / ".join(place for _, place in sorted(self._places.items())),
        )


def _locals(task: Task) -> tuple[Any, ...]:
    """The small local values of the code under test, in all of the task's frames."""
    frame = innermost(frames_of(task))
    found: list[Any] = []
    while frame is not None:
        if not is_foreign(frame.f_code.co_filename):
            found.append(
                (
                    frame.f_code,
                    frame.f_lasti,
                    *(
                        (name, type(value), value)
                        for name, value in sorted(frame.f_locals.items())
                        if isinstance(value, _SMALL)
                    ),
                )
            )
        frame = frame.f_back
    return tuple(found)
