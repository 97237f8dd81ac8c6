"""Mutants of wait and wake-up (section 5.C's wait clauses, notification and lock order from 5.A)."""

from __future__ import annotations

import threading
from typing import Any

from harness.contracts.ledger.values import JobState, Snapshot
from reference.ledger import Clock, Ledger, _Job
from reference.mutants.planting import breaks


class _Waiting(Ledger):
    """The reference with the condition of its wait in a method of its own."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        job = self._find(job_id)
        if job is None:
            return None
        initial = JobState(initial)
        deadline = self._clock.now_ms() + timeout_ms if timeout_ms > 0 else None
        with job.condition:
            while self._waits(job, initial):
                remaining = None if deadline is None else deadline - self._clock.now_ms()
                if remaining is not None and remaining <= 0:
                    break
                self._clock.wait(job.condition, remaining)
            return self._view(job)

    def _waits(self, job: _Job, initial: JobState) -> bool:
        return job.state is initial and not job.state.terminal


class _SlicedWaits:
    """A clock that never waits longer than half a second at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def wait(self, condition: threading.Condition, timeout_ms: int | None) -> None:
        self._clock.wait(condition, 500 if timeout_ms is None else min(timeout_ms, 500))


@breaks("AJT-NOTIFY-INSIDE")
class RepollsEveryHalfSecond(Ledger):
    """A waiter looks again every 500 ms, which would hide a lost notification."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._clock = _SlicedWaits(self._clock)


@breaks("AJT-NOTIFY-INSIDE")
class StartWakesNobody(Ledger):
    """The change to RUNNING is stored without a notification."""

    def transition_running(self, job_id: Any) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state is not JobState.PENDING:
                return False
            job.state = JobState.RUNNING
            return True


class _NotifyOne(threading.Condition):
    def notify_all(self) -> None:
        self.notify()


@breaks("AJT-WAIT-MANY")
class OneWaiterWakes(Ledger):
    """A transition wakes one of the waiters instead of all."""

    def _record(self, request_id: str, payload: Any) -> _Job:
        job = super()._record(request_id, payload)
        job.condition = _NotifyOne(threading.Lock())
        return job


@breaks("AJT-LOCK-ORDER")
class WaitHoldsTheTable(Ledger):
    """A waiter keeps the table while it waits."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        with self._table:
            job = self._jobs.get(job_id)
            if job is None:
                return None
            deadline = self._clock.now_ms() + timeout_ms if timeout_ms > 0 else None
            with job.condition:
                while job.state is JobState(initial) and not job.state.terminal:
                    remaining = None if deadline is None else deadline - self._clock.now_ms()
                    if remaining is not None and remaining <= 0:
                        break
                    self._clock.wait(job.condition, remaining)
                return self._view(job)


@breaks("AJT-LOCK-ORDER")
class OneLockForTransitionsAndWaits(Ledger):
    """One lock serialises the transitions and the waits, and a waiter keeps it while it waits."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._monitor = threading.Lock()

    def transition_running(self, job_id: Any) -> bool:
        with self._monitor:
            return super().transition_running(job_id)

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        with self._monitor:
            return super()._end(job_id, state, result, error)

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        with self._monitor:
            return super().wait(job_id, initial, timeout_ms)


@breaks("AJT-LOCK-ORDER", rare=True)
class EndTakesTheTableInsideTheJob(Ledger):
    """The end of a job takes the table inside the job's lock, and a sweep takes them the other way round."""

    def _publish(self, job: _Job, state: JobState, result: Any, error: str) -> None:
        with self._table:
            super()._publish(job, state, result, error)

    def _sweep(self) -> None:
        now = self._clock.now_ms()
        for job in list(self._jobs.values()):
            with job.condition:
                expired = job.state.terminal and now - job.completed_at > self._ttl_ms
            if expired:
                self._evict(job.id)
        super()._sweep()


@breaks("AJT-WAIT-COND")
class WaitsForTheEndOnly(_Waiting):
    """wait returns on a terminal state only, whatever `initial` is."""

    def _waits(self, job: _Job, initial: JobState) -> bool:
        return not job.state.terminal


@breaks("AJT-WAIT-COND")
class WaitsForAChangeSinceEntry(Ledger):
    """wait ignores `initial` and waits for a change of the state that it found."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        found = self.snapshot(job_id)
        return found and super().wait(job_id, found.state, timeout_ms)


@breaks("AJT-WAIT-COND")
class WaitsAtTheEnd(_Waiting):
    """wait with a terminal `initial` waits for the terminal job to change."""

    def _waits(self, job: _Job, initial: JobState) -> bool:
        return job.state is initial


class _OneCondition(Ledger):
    """The reference with one condition for all jobs, so that waiters wake for the sake of others."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._changed = threading.Condition(threading.Lock())

    def _record(self, request_id: str, payload: Any) -> _Job:
        job = super()._record(request_id, payload)
        job.condition = self._changed
        return job


@breaks("AJT-WAIT-COND")
class AnyWakeEndsTheWait(_OneCondition):
    """wait does not test the state again when it wakes, also not when another job was meant."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        job = self._find(job_id)
        if job is None:
            return None
        with job.condition:
            if job.state is JobState(initial) and not job.state.terminal:
                self._clock.wait(job.condition, timeout_ms if timeout_ms > 0 else None)
            return self._view(job)


@breaks("AJT-WAIT-BUDGET")
class BudgetRestartsAtEachWake(_OneCondition):
    """Each wake-up gives a waiter its whole budget again."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        job = self._find(job_id)
        if job is None:
            return None
        with job.condition:
            while job.state is JobState(initial) and not job.state.terminal:
                since = self._clock.now_ms()
                self._clock.wait(job.condition, timeout_ms if timeout_ms > 0 else None)
                if 0 < timeout_ms <= self._clock.now_ms() - since:
                    break
            return self._view(job)


class _Expiring(Ledger):
    """The reference with the answer to an expired budget made in a method of its own."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        seen = super().wait(job_id, initial, timeout_ms)
        if seen is None or seen.state is not JobState(initial) or seen.state.terminal:
            return seen
        return self._expired(job_id, seen)

    def _expired(self, job_id: Any, seen: Snapshot) -> Snapshot | None:
        return seen


@breaks("AJT-WAIT-BUDGET")
class ExpiryIsAbsent(_Expiring):
    """A wait whose budget ended answers as for an unknown id."""

    def _expired(self, job_id: Any, seen: Snapshot) -> Snapshot | None:
        return None


@breaks("AJT-WAIT-BUDGET")
class ExpiryIsShownAsTimeout(_Expiring):
    """A wait whose budget ended shows the job as TIMEOUT, which it is not."""

    def _expired(self, job_id: Any, seen: Snapshot) -> Snapshot | None:
        return seen._replace(state=JobState.TIMEOUT)


@breaks("AJT-WAIT-BUDGET")
class ExpiryEndsTheJob(_Expiring):
    """A wait whose budget ended ends the job as TIMEOUT."""

    def _expired(self, job_id: Any, seen: Snapshot) -> Snapshot | None:
        self.timeout(job_id, "the budget of a wait ended")
        return self.snapshot(job_id)


@breaks("AJT-WAIT-BUDGET")
class NoBudgetIsNoWait(Ledger):
    """A budget of zero or less returns at once instead of waiting without bound."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        return super().wait(job_id, initial, timeout_ms) if timeout_ms > 0 else self.snapshot(job_id)


@breaks("AJT-WAIT-BUDGET")
class NegativeBudgetIsRefused(Ledger):
    """A budget below zero raises, where it means that there is none."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        if timeout_ms < 0:
            raise ValueError("a budget may not be negative")
        return super().wait(job_id, initial, timeout_ms)


@breaks("AJT-WAIT-BUDGET")
class BudgetInWholeSeconds(Ledger):
    """A budget of more than a second is cut down to whole seconds."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        return super().wait(job_id, initial, timeout_ms // 1000 * 1000 if timeout_ms > 1000 else timeout_ms)


@breaks("AJT-WAIT-EVICT")
class EvictedJobWaitsOn(_Waiting):
    """A waiter that wakes after its job was evicted goes on waiting for it."""

    def _waits(self, job: _Job, initial: JobState) -> bool:
        return job.id not in self._jobs or super()._waits(job, initial)


@breaks("AJT-WAIT-EVICT")
class EvictedJobIsAbsent(Ledger):
    """A waiter that wakes after its job was evicted answers as for an unknown id."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        seen = super().wait(job_id, initial, timeout_ms)
        return None if self._find(job_id) is None else seen
