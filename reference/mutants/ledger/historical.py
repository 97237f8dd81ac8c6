"""The four defects that the ledger's source had before it became a component of its own: D1 to D4.

Each is a window between two steps that should have been one. The first two are data races in the
source's language; here they are what such a race does to a reader: it sees half, or it sees the past.
"""

from __future__ import annotations

import copy
import threading
from typing import Any

from harness.contracts.ledger.values import JobState, ResultView, Snapshot
from reference.ledger import Ledger, Slots, _Job
from reference.mutants.planting import breaks


@breaks("AJT-ATOMIC-PUBLISH", rare=True)
class D1StateBeforePayload(Ledger):
    """The terminal state is stored before its payload, and reads do not take the job's lock."""

    def _publish(self, job: _Job, state: JobState, result: Any, error: str) -> None:
        job.state = state
        super()._publish(job, state, copy.deepcopy(result), error)

    def snapshot(self, job_id: Any) -> Snapshot | None:
        job = self._find(job_id)
        return None if job is None else self._view(job)

    def take_result(self, job_id: Any) -> ResultView:
        job = self._find(job_id)
        if job is None:
            return ResultView("NOT_FOUND")
        if job.state is not JobState.DONE:
            return ResultView("NOT_DONE", state=job.state)
        return ResultView("READY", result=copy.deepcopy(job.result), request_id=job.request_id)


class _CopiedDepthSlots(Slots):
    """Keeps a second copy of the count for whoever wants it without the lock."""

    def __init__(self, bound: int) -> None:
        super().__init__(bound)
        self.shown = 0

    def acquire(self) -> bool:
        if self.shown >= self.bound or not super().acquire():
            return False
        self.shown = self.in_use()
        return True

    def release(self) -> None:
        super().release()
        self.shown = self.in_use()


@breaks("AJT-ADMIT-CAS", rare=True)
class D2StaleDepthCheck(Ledger):
    """Admission reads a copy of the depth that is refreshed outside of the lock, so it may stay too high."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._slots = _CopiedDepthSlots(max_queue)


class _ReadThenWrittenSlots(Slots):
    """Locks each read of the count, and computes the next count outside of the lock."""

    def acquire(self) -> bool:
        used = self.in_use()
        if used >= self.bound:
            return False
        self.used = used + 1
        return True

    def release(self) -> None:
        self.used = self.in_use() - 1


@breaks("AJT-ADMIT-CAS", rare=True)
class D2DepthReadThenWritten(Ledger):
    """Depth is read, changed and written back in separate steps, so concurrent changes get lost."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._slots = _ReadThenWrittenSlots(max_queue)


class _CheckThenTakeSlots(Slots):
    """Checks and takes in two critical sections."""

    def acquire(self) -> bool:
        if self.in_use() >= self.bound:
            return False
        with self._lock:
            self.used += 1
        return True


@breaks("AJT-ADMIT-CAS", rare=True)
class D3CheckThenTake(Ledger):
    """The bound is tested before, and the slot taken after, in two steps."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._slots = _CheckThenTakeSlots(max_queue)


class _Bell(threading.Condition):
    """A condition whose sleepers lie under another lock than the one that guards what they wait for."""

    def __init__(self) -> None:
        super().__init__(threading.Lock())
        self._bell = threading.Condition(threading.Lock())

    def wait(self, timeout: float | None = None) -> bool:
        self.release()
        try:
            with self._bell:
                return self._bell.wait(timeout)
        finally:
            self.acquire()

    def notify_all(self) -> None:
        with self._bell:
            self._bell.notify_all()


@breaks("AJT-NOTIFY-INSIDE", rare=True)
class D4NotifyUnderAnotherLock(Ledger):
    """A waiter checks the state under one lock and sleeps under another, missing what comes between."""

    def _record(self, request_id: str, payload: Any) -> _Job:
        job = super()._record(request_id, payload)
        job.condition = _Bell()
        return job


@breaks("AJT-NOTIFY-INSIDE", rare=True)
class D4NotifyBeforeTheStore(Ledger):
    """Waiters are notified in a critical section before the one that stores the terminal state."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is not None:
            with job.condition:
                job.condition.notify_all()
        return super()._end(job_id, state, result, error)

    def _publish(self, job: _Job, state: JobState, result: Any, error: str) -> None:
        job.result, job.error = result, error
        job.completed_at = self._finished.append(self._clock, job.id)
        job.state = state
