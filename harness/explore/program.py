"""A concurrent program to explore: what to set up, which tasks to run, what must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """Setup, tasks and claims. It knows no engine: plain functions over plain state.

    `setup` makes the state, before the tasks; each of `tasks` is called with the state on a task of
    its own; `check` is called with the state when all tasks have finished, `invariant` (if asked for)
    after every step; both raise AssertionError, or answer False, when what they claim does not hold.
    """

    name: str
    setup: Callable[[], Any]
    tasks: tuple[Callable[[Any], object], ...]
    check: Callable[[Any], bool | None] | None = None
    invariant: Callable[[Any], bool | None] | None = None
    task_names: tuple[str, ...] = ()

    def name_of(self, place: int) -> str:
        """The name of the task at this place: given, or its function's with its number among namesakes."""
        if place < len(self.task_names):
            return self.task_names[place]
        names = [getattr(task, "__name__", "task").strip("<>") for task in self.tasks]
        name = names[place]
        return f"{name}-{1 + names[:place].count(name)}" if names.count(name) > 1 else name
