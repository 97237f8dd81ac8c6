"""Dynamic partial-order reduction with sleep sets and source sets.

After Flanagan and Godefroid (POPL 2005), and Abdulla, Aronis, Jonsson and Sagonas (POPL 2014).

Of all executions that differ only in the order of independent operations, one is run. After each
execution, for every operation each earlier one that is dependent, of another task, and not ordered
before it by happens-before, becomes a place to come back to (the papers take the latest only, which our
notion of dependency, wider than theirs, does not allow). What was already tried from a place sleeps until
something dependent happens.

Objects differ from one execution to the next, so operations are kept with the number that their owner
got when it was first announced: the same decisions give the same numbers.

The clock is not one task whose steps follow each other: which wait it ends next is decided by those that
wait. So the end of each wait is a process of its own, whose past is that of the wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.control.numbers import Numbers
from harness.control.state import CLOCK_ID
from harness.strategies.dependency import dependent, may_be_co_enabled
from harness.strategies.nondeterminism import diverged

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.control.scheduling import Moment
    from harness.control.task import Operation, Task

__all__ = ["DPOR"]


class _Node:
    """A state on the present path, and the operation chosen in it.

    `todo` are tasks to come back for, `done` those tried already, `sleep` those that need no trying.
    `waiter` is whose wait the clock would end here, if it may.
    """

    __slots__ = ("chosen", "done", "enabled", "operation", "sleep", "todo", "waiter")

    def __init__(self, enabled: dict[int, Operation], sleep: dict[int, Operation], chosen: int) -> None:
        self.enabled = enabled
        self.sleep = sleep
        self.chosen = chosen
        self.operation = enabled[chosen]
        self.todo: set[int] = set()
        self.done: dict[int, Operation] = {}
        self.waiter: int | None = None

    @property
    def process(self) -> int:
        """The task that moved on from here, or the end of a wait of one."""
        return self.chosen if self.waiter is None or self.chosen != CLOCK_ID else ~self.waiter

    def task_of(self, process: int) -> int | None:
        """Whom to choose here so that this process moves on; None if it cannot."""
        if process >= 0:
            return process if process in self.enabled else None
        return CLOCK_ID if self.waiter == ~process else None


class DPOR:
    """Explores one execution per class of equivalent ones; `complete` once there are no more."""

    sees_all = True
    follows = False
    early_timeouts = True

    def __init__(self) -> None:
        self.complete = False
        self._path: list[_Node] = []
        self._depth = 0
        self._began = False
        self._numbers = Numbers()
        self._parents: dict[int, int] = {}
        self._last_pending: dict[int, Operation] = {}

    def begin(self, last: Ended | None) -> bool:
        """Find the races of the last execution; go back to the deepest place with something to try."""
        if self._began and last is not None:
            self._find_races()
            if last.failure is not None:
                self._distrust()
        self._depth = 0
        self._numbers.clear()
        self._parents.clear()
        if not self._began:
            self._began = True
            return True
        path = self._path
        while path:
            node = path[-1]
            node.done[node.chosen] = node.operation
            left = [task for task in node.todo if task not in node.done and task not in node.sleep]
            if left:
                node.chosen = min(left)
                node.operation = node.enabled[node.chosen]
                return True
            path.pop()
        self.complete = True
        return False

    def choose(self, moment: Moment) -> Task:
        """Follow the path; beyond its end prefer the present task among those that do not sleep."""
        pending = {task.id: self._numbered(task, moment) for task in moment.runnable}
        self._note_new_tasks(moment)
        if self._depth == len(self._path):
            self._path.append(self._new_node(moment, pending))
        node = self._path[self._depth]
        self._depth += 1
        if node.chosen not in pending:
            raise diverged(moment, node.chosen, self._depth)
        if pending[node.chosen] != node.operation:
            raise diverged(moment, node.chosen, self._depth)
        self._last_pending = self._all_pending(moment)
        return next(task for task in moment.runnable if task.id == node.chosen)

    def draw(self, bound: int) -> int:
        """Always the first: a search tries schedules, not data."""
        return 0

    # ------------------------------------------------------------------ a state

    def _new_node(self, moment: Moment, pending: dict[int, Operation]) -> _Node:
        sleep: dict[int, Operation] = {}
        if self._path:
            before = self._path[-1]
            asleep = {**before.sleep, **before.done}
            sleep = {
                task: operation
                for task, operation in asleep.items()
                if task != before.chosen and not dependent(operation, before.operation)
            }
        awake = [task for task in pending if task not in sleep]
        if not awake:
            moment.abandon()
        current = moment.current
        first = current.id if current is not None and current.id in awake else awake[0]
        if current is not None and current.id == first and current.pending[0] == "yield" and len(awake) > 1:
            first = next(task for task in awake if task != first)
        node = _Node(pending, sleep, first)
        if CLOCK_ID in pending:
            node.waiter = moment.next_to_fire().id
        return node

    def _numbered(self, task: Task, moment: Moment) -> Operation:
        """The task's pending operation, its owner as a number."""
        pending = moment.fire_operation() if task is moment.clock else task.pending
        kind, owner, key = pending
        number = self._numbers.of
        return kind, number(owner), number(key) if kind == "fire" else key

    def _all_pending(self, moment: Moment) -> dict[int, Operation]:
        return {task.id: self._numbered(task, moment) for task in moment.unfinished}

    def _note_new_tasks(self, moment: Moment) -> None:
        for task in moment.unfinished:
            if task.id not in self._parents:
                self._parents[task.id] = self._path[self._depth - 1].chosen if self._depth else -1

    # ------------------------------------------------------------------ races

    def _find_races(self) -> None:
        """Put tasks into the `todo` of the states where another order could matter."""
        clocks: dict[int, dict[int, int]] = {}
        stamps: list[dict[int, int]] = []
        by_owner: dict[Any, list[int]] = {}
        path = self._path[: self._depth]
        for place, node in enumerate(path):
            task, operation = node.process, node.operation
            clock = self._clock_of(task, clocks) if task >= 0 else dict(self._clock_of(~task, clocks))
            self._disabled_without_a_run(node)
            self._race(path, stamps, by_owner, task, operation, clock)
            clock[task] = place
            stamps.append(dict(clock))
            for owner in _owners(operation):
                by_owner.setdefault(owner, []).append(place)
        for task, operation in self._last_pending.items():
            if not path or task == path[-1].chosen:
                continue
            self._race(path, stamps, by_owner, task, operation, dict(self._clock_of(task, clocks)))

    def _distrust(self) -> None:
        """A failure cut the execution short: what others would have done, and raced with, is not known."""
        for node in self._path[: self._depth]:
            node.todo.update(node.enabled)

    def _disabled_without_a_run(self, node: _Node) -> None:
        """What the clock could have done, and will not once the chosen operation was first."""
        for task, operation in node.enabled.items():
            if task != node.chosen and operation[0] == "fire" and dependent(operation, node.operation):
                node.todo.add(task)

    def _clock_of(self, task: int, clocks: dict[int, dict[int, int]]) -> dict[int, int]:
        clock = clocks.get(task)
        if clock is None:
            clock = clocks[task] = dict(clocks.get(self._parents.get(task, -1), {}))
        return clock

    def _race(
        self,
        path: list[_Node],
        stamps: list[dict[int, int]],
        by_owner: dict[Any, list[int]],
        task: int,
        operation: Operation,
        clock: dict[int, int],
    ) -> None:
        places = sorted({place for owner in _owners(operation) for place in by_owner.get(owner, ())})
        places = [
            place
            for place in places
            if path[place].process != task and dependent(path[place].operation, operation)
        ]
        after = dict(clock)
        for place in places:
            _join(after, stamps[place])
        for place in reversed(places):
            before = path[place]
            ordered = clock.get(before.process, -1) >= place
            if not ordered and may_be_co_enabled(before.operation, operation):
                self._come_back(path, stamps, place, task, after)
        clock.update(after)

    def _come_back(
        self, path: list[_Node], stamps: list[dict[int, int]], place: int, task: int, after: dict[int, int]
    ) -> None:
        """Have `path[place]` try another beginning of what leads to `task` without what was chosen there.

        That is a task whose first step after the place has nothing before it, among the steps that do
        not depend on the chosen one (an initial, as source sets have it): the racing task itself need
        not be one, and may be asleep where an initial is not.
        """
        node = path[place]
        steps = [
            later for later in range(place + 1, len(stamps)) if stamps[later].get(node.process, -1) < place
        ]
        initials: set[int] = set()
        seen: set[int] = set()
        for number, later in enumerate(steps):
            first = path[later].process
            if first not in seen:
                seen.add(first)
                if not any(stamps[later].get(path[k].process, -1) >= k for k in steps[:number]):
                    initials.add(first)
        if task not in seen and not any(after.get(path[k].process, -1) >= k for k in steps):
            initials.add(task)
        possible = sorted(able for process in initials if (able := node.task_of(process)) is not None)
        if not node.todo.isdisjoint(possible) or not node.done.keys().isdisjoint(possible):
            return
        racing = node.task_of(task)
        if racing in possible:
            node.todo.add(racing)
        elif possible:
            node.todo.add(possible[0])
        else:
            node.todo.update(node.enabled)


def _join(clock: dict[int, int], other: dict[int, int]) -> None:
    for task, time in other.items():
        if time > clock.get(task, -1):
            clock[task] = time


def _owners(operation: Operation) -> tuple[Any, ...]:
    return operation[1:] if operation[0] == "fire" else (operation[1],)
