"""Wakeups that came before the wait: which notify a waiter, stuck for ever, would have needed.

A notify that finds nobody waiting is lost to a task that had looked before and comes to the wait after it.
Who looks again under the condition's lock has seen what the notify was about, and waits for something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from harness.control.where import frames_of, innermost, is_foreign, shown

if TYPE_CHECKING:
    from harness.control.runtime import Runtime
    from harness.control.task import Task
    from harness.control.trace import Step

__all__ = ["UnheardNotifies", "notifies_told"]

_LOOKS = frozenset({"read", "try", "time", "acquire", "timed"})


@dataclass(frozen=True, slots=True)
class _Notify:
    condition: Any
    task: str
    where: str
    steps: int  # there had been so many


class UnheardNotifies:
    """The notifies of one execution that woke nobody."""

    def __init__(self) -> None:
        self._all: list[_Notify] = []

    def add(self, condition: Any, task: str, frame: FrameType | None, steps: int) -> None:
        """One happened after so many steps."""
        user = innermost(frame)
        place = shown(user.f_code, user.f_lineno) if user is not None else "an unknown place"
        self._all.append(_Notify(condition, task, place, steps))

    def missed_by(self, task: Task, steps: Sequence[Step], number: Callable[[Any], int]) -> str:
        """The notify that a task which waits for ever came too late for, in words; '' if there is none."""
        condition = _awaited(task)
        if condition is None:
            return ""
        own = [(place, step) for place, step in enumerate(steps) if step.task == task.name]
        lock, door = number(condition._lock), number(task.waiting_on)  # noqa: SLF001
        entered = max((at for at, step in own if step.resource == lock and _takes(step)), default=None)
        if entered is None:
            return ""
        looks = [at for at, step in own if step.kind in _LOOKS and step.resource != door and step.file]
        if any(at > entered and steps[at].resource != lock for at in looks):
            return ""
        looked = max((at for at in looks if at < entered), default=-1)
        for notify in self._all:
            late = looked < notify.steps <= entered
            if late and notify.condition is condition and notify.task != task.name:
                return f"{notify.task} notified at {notify.where}, when nobody waited"
        return ""


@contextmanager
def notifies_told(runtime: Runtime, threading: ModuleType | None) -> Iterator[None]:
    """Meanwhile the runtime's tracer hears of notifies that find nobody waiting."""
    condition = getattr(threading, "Condition", None)
    if condition is None:
        yield
        return
    notify = condition.notify

    def told(self: Any, n: int = 1) -> None:
        if not self._waiters and runtime.tracer is not None and runtime.exploring:
            runtime.tracer.notified(runtime, self)
        notify(self, n)

    condition.notify = told
    try:
        yield
    finally:
        condition.notify = notify


def _awaited(task: Task) -> Any:
    """The condition in whose `wait` a task stands."""
    frame = frames_of(task)
    while frame is not None and is_foreign(frame.f_code.co_filename):
        if frame.f_code.co_qualname == "Condition.wait":
            return frame.f_locals["self"]
        frame = frame.f_back
    return None


def _takes(step: Step) -> bool:
    return step.kind in ("acquire", "timed")
