"""One controlled execution after the other: the lives of tasks, on greenlets that are used again."""

from __future__ import annotations

import _thread
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from greenlet import getcurrent, greenlet

from harness.control.failures import Failure, raised
from harness.control.scheduling import Moment
from harness.control.state import EPOCH_NS, FOR_EVER, MAIN, Tracer
from harness.control.task import Task, TaskKilled
from harness.findings import HarnessError

__all__ = ["Ended", "Runtime", "Tracer"]

_UNFAIR_PART = 8  # after this part of the step bound everybody is as likely: no spinner starves others


@dataclass(slots=True)
class Ended:
    """How one execution ended.

    `cut` if its step bound was reached; then it says nothing. `pruned` if the strategy knew what would
    follow; `fair` if choices were fair late in it, whatever the strategy said. `explored` counts the
    steps outside setup and check, `racing` the
    steps at which at least two tasks were runnable.
    """

    steps: int
    racing: int
    explored: int
    decisions: tuple[tuple[int, int], ...]
    failure: Failure | None
    cut: bool
    pruned: bool
    fair: bool
    tasks: int


class Runtime(Moment):
    """Runs executions, one after the other, on the OS thread that made it."""

    __slots__ = ()

    def execute(self, main: Callable[[], Any], strategy: Any, tracer: Tracer | None = None) -> Ended:
        """Run `main` as the first task until nothing more can happen; raises HarnessError."""
        if _thread.get_ident() != self._thread:
            raise HarnessError("a controlled execution runs on the thread that made its runtime")
        self._hub = getcurrent()
        self.executions += 1
        self._reset(strategy, tracer)
        self._found += [(lock, lock.state()) for lock in self.made_outside]
        self.made_outside.clear()
        task = self.spawn(main, "main")
        self.running = task
        self.executing = True
        try:
            task.greenlet.switch()
        finally:
            if self.exploring:
                self.explored += self.step - self._explored_from
            self._end()
        if self._error is not None:
            raise self._error
        return Ended(
            steps=self.step,
            racing=self.racing,
            explored=self.explored,
            decisions=tuple(self.decisions),
            failure=self.failure,
            cut=self._cut,
            pruned=self._pruned,
            fair=self.step > self._fair_from,
            tasks=len(self.tasks),
        )

    def spawn(self, function: Callable[[], Any], name: str = "", daemon: bool = False) -> Task:
        """Make a runnable task; without a name it is called after its creator."""
        if not name:
            creator = self.running
            creator.children += 1
            name = f"{creator.name}/{creator.children}"
        task = Task(len(self.tasks), name, function)
        task.daemon = daemon
        task.greenlet = self._pool.pop() if self._pool else greenlet(self._body, self._hub)
        self.tasks.append(task)
        self._live.append(task)
        if self.lease or self.left:
            self._void()
        return task

    def _spawn_exit(self, function: Callable[[], None]) -> None:
        self.spawn(function, "exit")

    def _reset(self, strategy: Any, tracer: Tracer | None) -> None:
        self.strategy, self.tracer = strategy, tracer
        self._sees_all = tracer is not None or self.invariant is not None or strategy.sees_all
        self.early = strategy.early_timeouts
        self.step, self.racing, self.arrivals, self.now_ns = 0, 0, 0, EPOCH_NS
        self.explored = self._explored_from = 0
        self.left = self.lease = 0
        self.failure, self._error = None, None
        self._cut = self._pruned = self._exit_begun = False
        self.exploring = self.killing = False
        self.decisions = []
        self.tasks = []
        self.runnable = []
        self.ranks = None
        self._live = []
        self._timed = 0
        self._limit = self.max_steps
        self._fair_from = FOR_EVER if strategy.follows else self.max_steps // _UNFAIR_PART
        self._fair = None

    def _end(self) -> None:
        """Kill what is left over and go back to a state in which nothing is a scheduling point."""
        self.killing, self.exploring = True, False
        if self._live:
            with _quietly():
                for task in self.tasks:
                    if not task.finished:
                        self._kill(task)
        for lock, state in self._found:
            lock.restore(state)
        self.executing = self.killing = False
        self.running = self._outside
        self.left = self.lease = FOR_EVER

    def _kill(self, task: Task) -> None:
        if task.function is not None:  # it never began
            self._retire(task)
            return
        self._deaths = 0
        self.running = task
        self.left = 0
        task.greenlet.throw(TaskKilled)
        if not task.finished:  # it swallowed its end again and again
            _ABANDONED.append(task.greenlet)
            self.abandoned += 1

    def _body(self) -> None:
        """What every greenlet runs: one task after the other."""
        while True:
            task = self.running
            try:
                function, task.function = task.function, None
                assert function is not None
                function()
                function = None  # this greenlet lives on, and what ended is not kept by it
                self.left -= 1
                if self.left < 0:
                    self.point("finish", task if task.sentinel is None else task.sentinel, None)
            except TaskKilled:
                pass
            except BaseException as error:
                if self.failure is None and not self.killing and not isinstance(error, SystemExit):
                    self.failure = raised(self, task, error)
                    if self.on_failure is not None:
                        self.on_failure(error)
            function = None
            self._finish(task)

    def _finish(self, task: Task) -> None:
        self._retire(task)
        if not self.killing and self.failure is None and self._error is None:
            if task.sentinel is not None:
                task.sentinel.finish(task)
            self.current = None
            self.arrivals += 1
            if not self._over():
                self._go_on()
                return
        self._hub.switch()

    def _over(self) -> bool:
        return self.tasks[MAIN].finished and all(task.daemon for task in self._live)

    def _go_on(self) -> None:
        try:
            chosen = self._choose()
        except TaskKilled:  # the execution is over, and this greenlet has got its next task
            return
        self.running = chosen
        chosen.greenlet.switch()

    def _retire(self, task: Task) -> None:
        task.finished = True
        self._pool.append(task.greenlet)
        task.greenlet = None
        task.function = None
        if self.lease or self.left:
            self._void()
        self._live.remove(task)


@contextmanager
def _quietly() -> Iterator[None]:
    """Nobody complains of tasks that are killed: not their loggers, nor the interpreter on their behalf."""
    hook, level = sys.unraisablehook, logging.root.manager.disable

    def told(event: sys.UnraisableHookArgs) -> None:
        if not isinstance(event.exc_value, TaskKilled):
            hook(event)

    sys.unraisablehook = told
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        logging.disable(level)


_ABANDONED: list[Any] = []  # greenlets that refused to end; collecting them would throw into them once more
