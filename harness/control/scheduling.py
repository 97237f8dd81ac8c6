"""Scheduling: points, blocking, and who goes on.

A scheduling point is made by the running task just before a primitive operation or an announced
access. It counts `left` down and, while that stays non-negative, goes on: the strategy's last answer
still stands (its *lease*). Otherwise the strategy is asked, in the running task, and only if it names
another one is there a switch, straight to it. A lease ends early when somebody becomes runnable, unless
the strategy ranked that task lower. Nothing is recorded but the switches: `decisions` are pairs (mark,
task id), enough to run the same execution again with full tracing.

What is runnable follows from the state alone, and is looked at only when the strategy is asked: a task
that stands in front of a resource with an owner is not, whether it came before or after that owner took
it. Time is virtual. A pending deadline makes the *clock* runnable too, a task of its own whose only
operation is to let the earliest deadline pass.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from random import Random
from typing import Any, NoReturn

from harness.control.failures import Failure, deadlock, raised, stuck_in_cycle
from harness.control.state import FOR_EVER, MAIN, ExecutionState
from harness.control.task import NOTHING_PENDING, Operation, Task, TaskKilled
from harness.findings import HarnessError

__all__ = ["Moment"]

_MOST_DEATHS = 100  # how often a task that swallows its end is told again before it is abandoned


class Moment(ExecutionState):
    """An execution as it stands: what strategies see, and what primitives and announcements call.

    For strategies: `runnable` (non-empty, sorted by id, the clock last), `current` (None if the running
    task cannot go on), `running`, `step`, `racing`, `clock`, `unfinished`, `hold`.
    """

    __slots__ = ()

    def exception_in_thread(self, error: BaseException) -> None:
        """A thread of the code under test ended with this exception."""
        if self.failure is None and not self.killing:
            self.failure = raised(self, self.running, error)

    def explore(self, on: bool) -> None:
        """Ask the strategy from now on, or run whatever is runnable in order of creation."""
        self._void()
        if self.exploring:
            self.explored += self.step - self._explored_from
        self._explored_from = self.step
        self.exploring = on

    def interrupt(self, error: HarnessError) -> NoReturn:
        """End the execution from a signal handler, wherever its running task is."""
        self._error = error
        raise TaskKilled

    def watch(self, invariant: Callable[[], None]) -> None:
        """Check this after every step of the execution that is going on."""
        self.invariant = invariant
        self._sees_all = True

    def announce_spawn(self) -> None:
        """A scheduling point before a task is spawned by hand."""
        self.left -= 1
        if self.left < 0:
            self.point("spawn", self.running, None)

    # ------------------------------------------------------------------ scheduling points

    def access(self, write: bool, owner: Any, key: Any) -> None:
        """The point before an announced access, once the lease is over."""
        self.point("write" if write else "read", owner, key)

    def point(self, kind: str, owner: Any, key: Any) -> None:
        """A scheduling point of the running task, which could go on."""
        self._void()
        if not self.exploring:
            self._quiet(kind)
            return
        task = self.running
        task.pending = (kind, owner, key)
        self.current = task
        self.arrivals += 1
        chosen = self._choose()
        if chosen is not task:
            self.running = chosen
            chosen.greenlet.switch()
        task.pending = NOTHING_PENDING

    def acquire_point(self, resource: Any, deadline_ns: int | None = None) -> bool:
        """The point before a blocking acquire; false if it is over and the deadline passed.

        In front of a resource that has an owner there is nothing to choose: `block` comes next.
        """
        self._void()
        if not self.exploring:
            self._quiet("acquire")
            return True
        task = self.running
        task.pending = ("acquire" if deadline_ns is None else "timed", resource, None)
        if resource.owner is not None:
            return True
        self.current = task
        self.arrivals += 1
        chosen = self._choose()
        if chosen is task:
            task.pending = NOTHING_PENDING
            return True
        self._stand(task, resource, deadline_ns)
        self.running = chosen
        chosen.greenlet.switch()
        return self._stood(task, resource)

    def _quiet(self, kind: str) -> None:
        """A point at which nobody chooses: outside an execution, in its setup, or while it is torn down."""
        if self.killing:
            if kind in ("release", "finish"):
                return
            self._die()
        if _thread.get_ident() != self._thread:
            raise HarnessError(_FOREIGN.format(_thread.get_ident()))
        if not self.executing:
            self.left = self.lease = FOR_EVER
            return
        if self.step >= self._limit:
            self._cut_off()
        self.hold(FOR_EVER)

    def _die(self) -> None:
        self._deaths += 1
        self.left = 0
        if self._deaths > _MOST_DEATHS:
            self._hub.switch()
        raise TaskKilled

    def hold(self, points: int, ranks: dict[int, float] | None = None) -> None:
        """Let the answer stand for this many further points, unless somebody becomes runnable.

        With `ranks` (by task id, higher first), only a task that ranks above the chosen one, or is not
        ranked, counts as somebody.
        """
        if not self._sees_all or not self.exploring:
            end = self._fair_from
            if self.step > end:
                end = self._limit
            most = end - self.step
            if points > most:
                points = max(0, most)
            self.lease = self.left = points
            self.ranks = ranks
            self.calm += 1

    # ------------------------------------------------------------------ blocking and waking

    def block(self, resource: Any, deadline_ns: int | None = None) -> bool:
        """Suspend the running task until `resource` has no owner; false if its deadline passed first."""
        task = self.running
        if not self.executing or self.killing:
            self._refuse_to_block(resource)
        self._void()
        task.pending = ("acquire" if deadline_ns is None else "timed", resource, None)
        task.clock_reads = 0
        self._stand(task, resource, deadline_ns)
        self.current = None
        self.arrivals += 1
        cycle = stuck_in_cycle(task)
        if cycle:
            self.fail(deadlock(self, cycle))
        chosen = self._choose()
        if chosen is not task:
            self.running = chosen
            chosen.greenlet.switch()
        return self._stood(task, resource)

    def _stand(self, task: Task, resource: Any, deadline_ns: int | None) -> None:
        task.waiting_on = resource
        resource.waiters.append(task)
        if deadline_ns is not None:
            task.deadline_ns = deadline_ns
            self._timed += 1

    def _stood(self, task: Task, resource: Any) -> bool:
        task.pending = NOTHING_PENDING
        resource.waiters.remove(task)
        task.waiting_on = None
        in_time, task.timed_out = not task.timed_out, False
        if task.deadline_ns is not None:
            task.deadline_ns = None
            self._timed -= 1
        return in_time

    def woken(self, resource: Any) -> None:
        """`resource` has no owner any more: those in front of it may go on."""
        ranks = self.ranks
        if ranks is not None and self.exploring:
            mine = ranks[self.running.id]
            for task in resource.waiters:
                if ranks.get(task.id, _FIRST) > mine:
                    break
            else:
                resource.calm = self.calm
                return
        self._void()

    def fail(self, failure: Failure) -> NoReturn:
        """End the execution with this failure."""
        self.failure = failure
        self._stop()

    def abort(self, error: HarnessError) -> NoReturn:
        """End the execution because of a fault of ours or of usage; `execute` raises it."""
        self._error = error
        self._stop()

    def _refuse_to_block(self, resource: Any) -> None:
        if self.killing:
            self._die()
        raise HarnessError(
            f"code that is not part of an execution would block on a {resource.noun} for ever; "
            "make it where the tasks can reach it, in the setup"
        )

    def _void(self) -> None:
        """The lease is over, or the runnable set is about to change: count, and ask again."""
        passed = self.lease - self.left
        self.step += passed
        if len(self.runnable) > 1:
            self.racing += passed
        self.lease = self.left = 0

    # ------------------------------------------------------------------ choosing

    def _choose(self) -> Task:
        """Who goes on. Lets the clock fire in between; does not return if the execution is over."""
        while True:
            if self.step >= self._limit:
                self._cut_off()
            if self.invariant is not None and self.exploring:
                self._check_invariant()
            chosen = self._answer()
            if self.exploring and chosen is not self.current:
                self.decisions.append((self.mark, chosen.id))
            if self.tracer is not None:
                self.tracer.decided(self, chosen)
            if chosen is not self.clock:
                return chosen
            self._fire()

    def _answer(self) -> Task:
        runnable = self.runnable = [
            task
            for task in self._live
            if (resource := task.waiting_on) is None or resource.owner is None or task.timed_out
        ]
        if self._timed and (self.early or not runnable) and any(map(_may_time_out, self._live)):
            runnable.append(self.clock)
        if not runnable:
            self._quiescent()
            return self._answer()
        if not self.exploring:
            self.hold(FOR_EVER)
            return runnable[0]
        if len(runnable) == 1 and not self._sees_all:
            self.hold(FOR_EVER)
            return runnable[0]
        if self.step > self._fair_from and len(runnable) > 1:
            if self._fair is None:
                self._fair = Random(0).random
            self.ranks = None  # nobody is ranked any more, and the old ranks do not know who came later
            return runnable[int(self._fair() * len(runnable))]
        try:
            chosen: Task = self.strategy.choose(self)
        except HarnessError as error:
            self.abort(error)
        return chosen

    def fire_operation(self) -> Operation:
        """What the clock would do next: end a wait, and move itself."""
        return ("fire", self.next_to_fire().waiting_on, self.clock)

    def abandon(self) -> NoReturn:
        """End the execution, from a strategy: whatever would follow was explored already."""
        self._pruned = True
        self._stop()

    def next_to_fire(self) -> Task:
        """Whose deadline is the earliest; the clock must be runnable."""
        return min(filter(_may_time_out, self._live), key=_by_deadline)

    def _fire(self) -> None:
        """Let the earliest deadline pass."""
        task = self.next_to_fire()
        assert task.deadline_ns is not None
        self.now_ns = max(self.now_ns, task.deadline_ns)
        task.deadline_ns = None
        self._timed -= 1
        task.timed_out = True
        task.pending = ("expired", task.waiting_on, None)
        if self.tracer is not None:
            self.tracer.fired(self, task)

    def _quiescent(self) -> None:
        """Nobody can go on. Leave as an interpreter would, then see who is left."""
        if self.tasks[MAIN].finished and self.at_exit is not None and not self._exit_begun:
            self._exit_begun = True
            self.exploring = False
            self._spawn_exit(self.at_exit)
            return
        stuck = [task for task in self.tasks if not task.finished and not task.daemon]
        if stuck:
            self.failure = deadlock(self, stuck)
        self._stop()

    def _spawn_exit(self, function: Callable[[], None]) -> None:
        raise NotImplementedError

    def _cut_off(self) -> NoReturn:
        self._cut = True
        self._stop()

    def _stop(self) -> NoReturn:
        """Go back to `execute`; what remains of the running task is killed from there."""
        self._hub.switch()
        raise TaskKilled

    def _check_invariant(self) -> None:
        assert self.invariant is not None
        lease, self.left, self.lease = self.lease, FOR_EVER, FOR_EVER
        self.exploring = False
        try:
            self.invariant()
        except AssertionError as error:
            self.failure = raised(self, self.running, error, "invariant")
        finally:
            self.exploring = True
            self.left = self.lease = lease
        if self.failure is not None:
            self._stop()


_FOREIGN = (
    "an uncontrolled thread (ident {}) used a primitive of the controlled world: it was started by code "
    "outside the world; instrument that code too, or keep it out of the scenario"
)


_FIRST = float("inf")


def _may_time_out(task: Task) -> bool:
    return task.deadline_ns is not None and task.waiting_on.owner is not None


def _by_deadline(task: Task) -> tuple[int, int]:
    return task.deadline_ns or 0, task.id
