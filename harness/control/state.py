"""The state of an execution, in slots: its fields are read millions of times per second."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from harness.control.failures import Failure
from harness.control.task import Task
from harness.findings import HarnessError

if TYPE_CHECKING:
    from harness.control.scheduling import Moment

__all__ = ["CLOCK_ID", "EPOCH_NS", "FOR_EVER", "MAIN", "ExecutionState", "Tracer"]

FOR_EVER = 1 << 60
CLOCK_ID = 1 << 30
MAIN = 0
EPOCH_NS = 1_000_000_000_000


class Tracer(Protocol):
    """Is told of everything in an execution that is run again to be shown."""

    def decided(self, moment: Moment, chosen: Task) -> None:
        """`chosen` goes on with its pending operation."""

    def fired(self, moment: Moment, task: Task) -> None:
        """The clock moved to the deadline of `task`."""

    def notified(self, moment: Moment, condition: Any) -> None:
        """A condition was notified, and nobody waited for it."""

    def missed(self, task: Task) -> str:
        """The notify that a task, stuck in a wait, came too late for, in words; '' if there is none."""


class ExecutionState:
    """What an execution is made of; `Moment` moves it on, `Runtime` makes one after the other."""

    __slots__ = (
        "_cut",
        "_deaths",
        "_error",
        "_exit_begun",
        "_explored_from",
        "_fair",
        "_fair_from",
        "_found",
        "_hub",
        "_limit",
        "_live",
        "_outside",
        "_pool",
        "_pruned",
        "_sees_all",
        "_thread",
        "_timed",
        "abandoned",
        "arrivals",
        "at_exit",
        "calm",
        "clock",
        "current",
        "decisions",
        "early",
        "executing",
        "executions",
        "explored",
        "exploring",
        "failure",
        "invariant",
        "killing",
        "lease",
        "left",
        "made_outside",
        "max_steps",
        "now_ns",
        "on_failure",
        "racing",
        "ranks",
        "runnable",
        "running",
        "step",
        "strategy",
        "tasks",
        "threading_used",
        "tracer",
    )

    def __init__(self, max_steps: int = 20_000) -> None:
        self.max_steps = max_steps
        self.left = FOR_EVER
        self.lease = FOR_EVER
        self.step = 0
        self.racing = 0
        self.explored = 0  # steps while exploring
        self._explored_from = 0
        self.arrivals = 0  # how often somebody had to ask
        self.calm = 1  # counts answers that stand for a while
        self.now_ns = EPOCH_NS
        self.runnable: list[Task] = []
        self._outside = self.running = Task(MAIN, "main", None)
        self.current: Task | None = None
        self.tasks: list[Task] = []
        self.clock = Task(CLOCK_ID, "clock", None)
        self.ranks: dict[int, float] | None = None
        self.exploring = False
        self.killing = False
        self.executing = False
        self.strategy: Any = None
        self.tracer: Tracer | None = None
        self.invariant: Callable[[], None] | None = None
        self.early = True
        self.failure: Failure | None = None
        self.decisions: list[tuple[int, int]] = []
        self.at_exit: Callable[[], None] | None = None
        self.made_outside: list[Any] = []
        self._found: list[tuple[Any, Any]] = []  # those, as the first execution finds them
        self.on_failure: Callable[[BaseException], None] | None = None
        self.threading_used = (
            False  # whether thread objects were made, so that `threading` has state to restore
        )
        self.abandoned = 0
        self.executions = 0
        self._sees_all = False
        self._live: list[Task] = []
        self._timed = 0  # how many tasks have a deadline
        self._pool: list[Any] = []
        self._hub: Any = None
        self._limit = max_steps
        self._fair_from = max_steps
        self._fair: Callable[[], float] | None = None
        self._cut = self._pruned = False
        self._exit_begun = False
        self._error: HarnessError | None = None
        self._deaths = 0
        self._thread = _thread.get_ident()

    @property
    def beats(self) -> int:
        """Changes whenever a point is passed; for who watches from another thread."""
        return self.step + self.lease - self.left + self.executions * FOR_EVER

    @property
    def unfinished(self) -> list[Task]:
        """The tasks that are not finished, runnable or not, by id."""
        return self._live

    @property
    def mark(self) -> int:
        """Counts points, twice: even where a task asks at one, odd where it could not go on after it."""
        return 2 * self.step + (self.current is None)
