"""What happened in one execution: its steps, with their alternatives and the lines they came from.

Made when a failing execution is run again. Labels name points by meaning, not by line or count of
instructions: what is done, to which attribute or primitive, in which function. They survive edits
that do not touch what the step does, and they are the same on every Python version.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.control.lost_wakeups import UnheardNotifies
from harness.control.numbers import Numbers
from harness.control.where import frames_of, innermost, named

if TYPE_CHECKING:
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["Arrival", "Arrivals", "Step", "TraceRecorder", "default_choice", "label_of"]

_VERBS = {
    "acquire": "acquire",
    "timed": "acquire",
    "release": "release",
    "try": "look at",
    "read": "read",
    "write": "write",
    "time": "read the clock",
    "timer": "set a deadline",
    "yield": "yield",
    "start": "start",
    "spawn": "spawn",
    "finish": "finish",
    "fire": "time out",
    "expired": "give up waiting for",
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A task came to a point where it asked, or could not go on: for the `occurrence`-th time (from 1)."""

    task: str
    label: str
    occurrence: int


@dataclass(frozen=True, slots=True)
class Step:
    """One decision and what followed: what `task` did from there until the next.

    `at` is where the deciding task stood. `default` says whether the decision was what happens
    without interference; `preempts` whether the deciding task could have gone on. `file`, `line` and
    `function` are those of the code under test; `resource` tells objects apart within one execution,
    `key` their attributes and items.
    """

    task: str
    kind: str
    label: str
    resource: int
    key: str
    file: str
    line: int
    function: str
    runnable: tuple[str, ...]
    at: Arrival
    default: bool
    preempts: bool


class Arrivals:
    """Counts how often each task came to each point."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[int, str]] = Counter()
        self._last = -1
        self._present = Arrival("", "", 0)

    def at(self, moment: Moment) -> Arrival:
        """Where the deciding task stands. A second question at the same point is the same arrival."""
        if moment.arrivals != self._last:
            self._last = moment.arrivals
            task = moment.running
            label = label_of(task, moment)
            self._seen[(task.id, label)] += 1
            self._present = Arrival(task.name, label, self._seen[(task.id, label)])
        return self._present


class TraceRecorder:
    """A tracer that keeps every step. Works with any strategy; `steps` is complete when the run is."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._arrivals = Arrivals()
        self._numbers = Numbers()
        self._unheard = UnheardNotifies()

    def decided(self, moment: Moment, chosen: Task) -> None:
        """A decision was made; note the step that follows."""
        if not moment.exploring:
            return
        current = moment.current
        frame = innermost(_frame(moment.next_to_fire() if chosen is moment.clock else chosen, moment))
        kind, owner, key = moment.fire_operation() if chosen is moment.clock else chosen.pending
        self.steps.append(
            Step(
                task=chosen.name,
                kind=kind,
                label=label_of(chosen, moment),
                resource=self._numbers.of(owner),
                key=key if isinstance(key, str) else repr(key) if isinstance(key, int) else "",
                file=frame.f_code.co_filename if frame is not None else "",
                line=frame.f_lineno if frame is not None else 0,
                function=frame.f_code.co_qualname if frame is not None else "",
                runnable=tuple(task.name for task in moment.runnable),
                at=self._arrivals.at(moment),
                default=chosen is default_choice(moment),
                preempts=current is not None and chosen is not current and current.pending[0] != "yield",
            )
        )

    def fired(self, moment: Moment, task: Task) -> None:
        """Nothing to note: the decision for the clock was noted."""

    def notified(self, moment: Moment, condition: Any) -> None:
        """Note a notify that woke nobody, as a step that nobody could have chosen otherwise."""
        task, frame = moment.running.name, sys._getframe(1)  # noqa: SLF001
        self._unheard.add(condition, task, frame, len(self.steps))
        user = innermost(frame)
        if user is not None:
            code = user.f_code
            self.steps.append(
                Step(
                    task=task,
                    kind="notify",
                    label=f"notify nobody in {_module(user)}:{code.co_qualname}",
                    resource=self._numbers.of(condition),
                    key="",
                    file=code.co_filename,
                    line=user.f_lineno,
                    function=code.co_qualname,
                    runnable=(),
                    at=Arrival(task, "notify", len(self.steps)),
                    default=True,
                    preempts=False,
                )
            )

    def missed(self, task: Task) -> str:
        """The notify that a stuck task came too late for."""
        return self._unheard.missed_by(task, self.steps, self._numbers.of)


def default_choice(moment: Moment) -> Task:
    """Who goes on when nobody interferes: the present task unless it yields, else the first runnable.

    One that yields lets the next in order of creation go first, the clock only if nobody else can.
    """
    current, runnable = moment.current, moment.runnable
    if current is None:
        return runnable[0]
    if current.pending[0] != "yield":
        return current
    others = [task for task in runnable if task is not moment.clock]
    return others[(others.index(current) + 1) % len(others)]


def label_of(task: Task, moment: Moment) -> str:
    """The pending operation of a task, by meaning."""
    if task is moment.clock:
        waiter = moment.next_to_fire()
        return f"time out {waiter.name}"
    kind, owner, key = task.pending
    if task.finished:
        return "end"
    if kind in ("start", "finish"):
        return kind
    frame = _frame(task, moment)
    what = ""
    if kind in ("read", "write"):
        what = f" {_accessed(owner, key)}"
    elif kind in ("acquire", "timed", "release", "try", "expired"):
        what = f" {named(owner, frame)}"
    user = innermost(frame)
    place = f" in {_module(user)}:{user.f_code.co_qualname}" if user is not None else ""
    return f"{_VERBS[kind]}{what}{place}"


def _accessed(owner: Any, key: Any) -> str:
    if isinstance(owner, str):
        return f"{key} of {owner}"
    if isinstance(owner, dict) and "__name__" in owner and isinstance(key, str):
        return f"global {key}"
    if isinstance(key, str) and key != "*" and not isinstance(owner, dict):
        return f"{type(owner).__name__}.{key}" if not isinstance(owner, type) else f"{owner.__name__}.{key}"
    return f"items of {type(owner).__name__}"


def _module(frame: FrameType) -> str:
    return Path(frame.f_code.co_filename).name


def _frame(task: Task, moment: Moment) -> FrameType | None:
    if task is moment.running:
        return sys._getframe(2)  # noqa: SLF001
    return frames_of(task)
