"""Bounded search: all executions with few preemptions first (Musuvathi and Qadeer, PLDI 2007).

A depth-first search over the decisions; leaving a task that could go on costs one preemption, leaving
one that is blocked, finished or yields is free. When every execution within the bound is explored the
bound grows by one; when none was left out for the bound's sake, the search is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.strategies.nondeterminism import diverged

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Task

__all__ = ["BoundedSearch"]


class _Node:
    """A decision on the present path. `free`: how many of its choices, the first ones, cost nothing."""

    __slots__ = ("choices", "free", "place", "spent")

    def __init__(self, choices: list[int], free: int, spent: int) -> None:
        self.choices = choices
        self.free = free
        self.spent = spent
        self.place = 0

    def spent_after(self) -> int:
        """Preemptions spent once the present choice is made."""
        return self.spent + (self.place >= self.free)


class BoundedSearch:
    """Iterative: `bound` preemptions, then one more, up to `last_bound` (None: until complete).

    `complete` once every execution was explored.
    """

    sees_all = False
    follows = False
    early_timeouts = True

    def __init__(self, bound: int = 0, last_bound: int | None = None) -> None:
        self.bound = bound
        self.last_bound = last_bound
        self.complete = False
        self._path: list[_Node] = []
        self._depth = 0
        self._left_out = False
        self._began = False

    def begin(self, last: Ended | None) -> bool:
        """Go back to the deepest decision with something left to try."""
        self._depth = 0
        if not self._began:
            self._began = True
            return True
        path = self._path
        while path:
            node = path[-1]
            node.place += 1
            if node.place < len(node.choices):
                if node.spent_after() <= self.bound:
                    return True
                self._left_out = True
            path.pop()
        self.complete = not self._left_out
        if self.complete or self.bound == self.last_bound:
            return False
        self.bound += 1
        self._left_out = False
        return True

    def choose(self, moment: Moment) -> Task:
        """Follow the path; beyond its end go on with the present task."""
        if self._depth == len(self._path):
            self._path.append(self._node(moment))
        node = self._path[self._depth]
        self._depth += 1
        wanted = node.choices[node.place]
        for task in moment.runnable:
            if task.id == wanted:
                return task
        raise diverged(moment, wanted, self._depth)

    def draw(self, bound: int) -> int:
        """Always the first: a search tries schedules, not data."""
        return 0

    def _node(self, moment: Moment) -> _Node:
        spent = self._path[-1].spent_after() if self._path else 0
        current = moment.current
        others = [task.id for task in moment.runnable if task is not current]
        if current is None:
            return _Node(others, len(others), spent)
        if current.pending[0] == "yield":
            return _Node([*others, current.id], len(others) + 1, spent)
        return _Node([current.id, *others], 1, spent)
