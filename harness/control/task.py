"""Tasks: the controlled strands of an execution, and what they can wait for.

A task is a greenlet with a name, a state and, while it is suspended, the operation that it would do
next. Whatever a task can be blocked on is a `Resource`; blocking, waking and timing out work the same
for locks, joins and sleeps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ANY", "NOTHING_PENDING", "Operation", "Resource", "Task", "TaskKilled"]

ANY = "*"
"""The key of an access that concerns a whole container."""

Operation = tuple[str, Any, Any]
"""What a task does next: kind, resource or owner, key.

Kinds: start, spawn, finish, acquire, timed (an acquire that may give up), try, release, yield, time
(reads the clock), timer (sets a deadline), fire (lets one pass), expired (its wait is over), read, write.
`try` is whatever looks at a resource without waiting for it.
"""

NOTHING_PENDING: Operation = ("running", None, None)
"""What is pending while a task runs: what it did last is not kept alive by having been looked at."""


class TaskKilled(BaseException):
    """Ends a task that is left over; a BaseException so that `except Exception` lets it pass."""


class Resource:
    """Something to wait for: whoever stands in front of it can go on once it has no `owner`.

    `waiters` are the tasks suspended in front of it, in order of arrival. While `calm` is the runtime's, none
    of them would go on if it were free. One that is `derived` only
    waits for what other tasks do, and tells nothing when they are stuck.
    """

    __slots__ = ("__weakref__", "calm", "owner", "waiters")
    noun = "resource"
    derived = False
    owner: Task | None
    waiters: list[Task]
    calm: int

    def holder(self) -> Task | None:
        """The task that alone can free this, if it is certain who that is."""
        return None


class Task:
    """One strand. `id` counts creations within the execution; `name` is its path of creation.

    `waiting_on`: what it stands in front of. `deadline_ns`: set while its wait is timed. `pending`:
    its next operation, up to date whenever it is suspended.
    `sentinel`: the lock or handle by which others wait for its end.
    """

    __slots__ = (
        "__weakref__",
        "children",
        "clock_reads",
        "daemon",
        "deadline_ns",
        "finished",
        "function",
        "greenlet",
        "id",
        "ident",
        "locks",
        "name",
        "pending",
        "sentinel",
        "timed_out",
        "waiting_on",
    )

    def __init__(self, number: int, name: str, function: Callable[[], Any] | None) -> None:
        self.id = number
        self.ident = number + 1
        self.name = name
        self.function = function
        self.greenlet: Any = None
        self.daemon = False
        self.children = 0
        self.locks = 0
        self.clock_reads = 0
        self.finished = False
        self.timed_out = False
        self.waiting_on: Any = None
        self.deadline_ns: int | None = None
        self.sentinel: Any = None
        self.pending: Operation = ("start", self, None)

    @property
    def blocked(self) -> bool:
        """Whether it stands in front of something that is taken."""
        return self.waiting_on is not None and self.waiting_on.owner is not None and not self.timed_out

    def __repr__(self) -> str:
        state = "finished" if self.finished else "blocked" if self.blocked else "runnable"
        return f"<task {self.id} {self.name}, {state}>"
