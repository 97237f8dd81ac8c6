"""The tasks of one program, started together and awaited together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.control.runtime import Runtime
from harness.control.task import Resource, Task

__all__ = ["Group"]


class Group(Resource):
    """Free once all its tasks have finished."""

    __slots__ = ("_runtime", "_unfinished")
    noun = "the other tasks"
    derived = True

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._unfinished = 0
        self.waiters = []
        self.owner: Task | None = None

    def spawn(self, function: Callable[[], Any], name: str) -> Task:
        """Start a task that belongs to the group."""
        task = self._runtime.spawn(function, name)
        task.sentinel = self
        self._unfinished += 1
        self.owner = task
        return task

    def join(self) -> None:
        """Wait for all tasks, from the task that started them."""
        if self.owner is not None:
            self._runtime.block(self)

    def finish(self, task: Task) -> None:
        """One task is over."""
        self._unfinished -= 1
        if not self._unfinished:
            self.owner = None
            self._runtime.woken(self)
