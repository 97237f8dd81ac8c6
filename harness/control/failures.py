"""What can go wrong in one execution, as data: deadlock, exception, broken invariant, livelock.

Nothing here looks at a clock. A deadlock is computed when nobody can go on, and at once when the tasks
of a cycle wait for each other through resources that only they can free.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from harness.control.where import origin, place, source_of_error, where, where_of_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.control.scheduling import Moment
    from harness.control.state import Tracer
    from harness.control.task import Task

__all__ = ["Failure", "FailureKind", "Wait", "deadlock", "raised", "stuck_in_cycle"]


class FailureKind(StrEnum):
    """Kinds of failure that one execution can show."""

    DEADLOCK = "deadlock"
    LOST_WAKEUP = "lost wakeup"
    LIVELOCK = "livelock"
    EXCEPTION = "exception"
    INVARIANT = "invariant"
    NONDETERMINISM = "uncontrolled nondeterminism"


@dataclass(frozen=True, slots=True)
class Wait:
    """A task that cannot go on: what for, held by whom, and where in its code (`file` is the full path).

    `missed` tells of the notify that came before the wait, where that is known.
    """

    task: str
    noun: str
    holder: str
    where: str
    file: str = ""
    line: int = 0
    missed: str = ""

    def __str__(self) -> str:
        held = f" held by {self.holder}" if self.holder else ""
        missed = f"; {self.missed}" if self.missed else ""
        return f"{self.task} waits for {self.noun}{held}, at {self.where}{missed}"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure. `task` is who showed it; `error_type` and `where` are those of an exception."""

    kind: FailureKind
    message: str
    task: str = ""
    error_type: str = ""
    where: str = ""
    waits: tuple[Wait, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two failures the same: kind, exception type, place.

        A lost wakeup is a deadlock to whoever did not trace the notifies.
        """
        kind = FailureKind.DEADLOCK if self.kind is FailureKind.LOST_WAKEUP else self.kind
        return kind.value, self.error_type, self.where


def raised(moment: Moment, task: Task, error: BaseException, kind: str = "") -> Failure:
    """The failure of a task whose function raised; a failed check or invariant is one of the claims."""
    claim = kind == "invariant" or (isinstance(error, AssertionError) and not moment.exploring)
    text = str(error) or (source_of_error(error) if isinstance(error, AssertionError) else "")
    return Failure(
        kind=FailureKind.INVARIANT if claim else FailureKind.EXCEPTION,
        message=_told(error, text),
        task=task.name,
        error_type=getattr(error, "kind_of_failure", type(error).__name__),
        where=getattr(error, "place_of_failure", "") or where_of_error(error),
    )


def _told(error: BaseException, text: str) -> str:
    name = type(error).__name__
    if not text:
        return name
    return text if isinstance(error, AssertionError) else f"{name}: {text}"


def deadlock(moment: Moment, stuck: Sequence[Task]) -> Failure:
    """The failure of tasks that wait for each other, or for what nobody will do."""
    telling = [task for task in stuck if task.waiting_on is not None and not task.waiting_on.derived]
    waits = tuple(_wait(task, moment.tracer) for task in telling or stuck)
    told = "; ".join(str(wait) for wait in waits)
    kind = FailureKind.LOST_WAKEUP if any(wait.missed for wait in waits) else FailureKind.DEADLOCK
    return Failure(kind, told, waits=waits, where=" / ".join(wait.where for wait in waits))


def stuck_in_cycle(task: Task) -> list[Task]:
    """The tasks of a wait-for cycle through `task` that nobody else can break; empty if there is none."""
    cycle: list[Task] = []
    other: Task | None = task
    while other is not None and other.blocked and other.deadline_ns is None and not other.timed_out:
        cycle.append(other)
        other = other.waiting_on.holder()
        if other is task:
            return cycle
        if other in cycle:
            return []  # somebody else's cycle, told when it closed
    return []


def _wait(task: Task, tracer: Tracer | None) -> Wait:
    resource: Any = task.waiting_on
    holder = resource.holder()
    owner = getattr(resource, "owner", None) if holder is None else holder
    noun = origin(resource, task)
    own = owner is task and (holder is task or noun == resource.noun)  # not what the library locked for it
    held = owner.name if owner is not None and owner is not task else "itself" if own else ""
    file, line = place(task)
    missed = tracer.missed(task) if tracer is not None and holder is None else ""
    return Wait(task.name, noun, held, where(task), file, line, missed)
