"""The reference ledger: an asynchronous-job table as the contract wants it.

Pure bookkeeping: identity, admission, the state machine, retention, wait and notify. It knows no
HTTP, no pool and no metrics. Every method may be called from any thread; nothing polls.

The five invariants of the contract, and where they are kept:

1. A job's state is one attribute, assigned once per transition (`_Job.state`): a reader sees one of
   the five states, with or without a lock.
2. Payload, state and wake-up belong to one critical section of the job's own condition
   (`_publish`): nobody can see a terminal state without its payload, or miss the notification.
3. Checking the bound and taking a slot are one step (`Slots.acquire`).
4. The only release of a slot is in the terminal transition, which the state machine lets through
   once, before any locked read can show the terminal state (`_end`).
5. Locks are taken in the order table, job, leaf. `Slots` and `_Finished` are leaves: they take no
   other lock. No operation waits while it holds the table.

Eviction is by completion order: a job enters the order when it ends, inside its own critical
section. A job in flight is not in the order at all, so a sweep cannot lose it, and the bound on
completed jobs holds after every accepted submit (AJT-RET-LRU).
"""

from __future__ import annotations

import copy
import threading
import time
from collections import deque
from itertools import count
from typing import Any, Protocol

from harness.contracts.ledger.values import JobState, ResultView, Snapshot, Submission, TakenRequest

__all__ = ["Clock", "Ledger", "SystemClock"]


class Clock(Protocol):
    """What the ledger needs of time."""

    def now_ms(self) -> int:
        """Monotonic milliseconds, greater than zero."""

    def wait(self, condition: threading.Condition, timeout_ms: int | None) -> None:
        """Wait on a held condition, at most timeout_ms unless it is None."""


class SystemClock:
    """The machine's monotonic clock."""

    def now_ms(self) -> int:
        """Monotonic milliseconds."""
        return time.monotonic_ns() // 1_000_000

    def wait(self, condition: threading.Condition, timeout_ms: int | None) -> None:
        """Wait on a held condition."""
        condition.wait(None if timeout_ms is None else timeout_ms / 1000)


class Slots:
    """A bounded count whose check and increment are one step. A leaf lock."""

    def __init__(self, bound: int) -> None:
        self._lock = threading.Lock()
        self.bound = bound
        self.used = 0  # never above `bound`; guarded by the lock

    def acquire(self) -> bool:
        """Take a slot if one is free."""
        with self._lock:
            if self.used >= self.bound:
                return False
            self.used += 1
            return True

    def release(self) -> None:
        """Give a slot back."""
        with self._lock:
            self.used -= 1

    def rebound(self, bound: int) -> None:
        """Change the bound; slots that are taken stay taken."""
        with self._lock:
            self.bound = bound

    def in_use(self) -> int:
        """How many are taken now."""
        with self._lock:
            return self.used


class _Job:
    """One record. Everything but the identity is guarded by `condition`."""

    def __init__(self, job_id: str, request_id: str, payload: Any, submitted_at: int) -> None:
        self.id = job_id
        self.request_id = request_id
        self.condition = threading.Condition(threading.Lock())
        self.payload = payload
        self.state = JobState.PENDING
        self.result: Any = None
        self.error = ""
        self.submitted_at = submitted_at
        self.completed_at = 0


class _Finished:
    """Terminal jobs in completion order. A leaf lock; jobs enter holding their own condition."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._order: deque[tuple[int, str]] = deque()

    def append(self, clock: Clock, job_id: str) -> int:
        """Enter a job and return its completion time: read under the lock, so the order is by time."""
        with self._lock:
            completed_at = clock.now_ms()
            self._order.append((completed_at, job_id))
            return completed_at

    def expired(self, now: int, ttl_ms: int) -> list[str]:
        """Take out the jobs that completed more than ttl_ms ago."""
        taken = []
        with self._lock:
            while self._order and now - self._order[0][0] > ttl_ms:
                taken.append(self._order.popleft()[1])
        return taken

    def surplus(self, bound: int) -> list[str]:
        """Take out the oldest jobs until at most `bound` remain."""
        taken = []
        with self._lock:
            while len(self._order) > bound:
                taken.append(self._order.popleft()[1])
        return taken


class Ledger:
    """An in-memory job ledger. Times are milliseconds of the given clock's monotonic time.

    Raises ValueError for a negative job_ttl_ms or max_completed; a max_queue of zero or less
    admits nothing (AJT-ADMIT-ZERO).
    """

    def __init__(
        self,
        max_queue: int = 16,
        job_ttl_ms: int = 300_000,
        max_completed: int = 100,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._table = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._sequence = count(1)
        self._finished = _Finished()
        self._used = False
        self._slots = Slots(max_queue)
        self._bound(max_queue, job_ttl_ms, max_completed)

    def configure(self, max_queue: int = 16, job_ttl_ms: int = 300_000, max_completed: int = 100) -> None:
        """Set the bounds before serving; raises RuntimeError once a job was submitted (A20)."""
        with self._table:
            if self._used:
                raise RuntimeError("configure the ledger before the first submit, not after it")
            self._bound(max_queue, job_ttl_ms, max_completed)

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        if job_ttl_ms < 0 or max_completed < 0:
            raise ValueError(
                f"job_ttl_ms {job_ttl_ms} and max_completed {max_completed} must not be negative"
            )
        self._slots.rebound(max_queue)
        self._ttl_ms = job_ttl_ms
        self._max_completed = max_completed

    # Admission

    def submit(self, request_id: str, payload: Any) -> Submission:
        """Admit a job, sweeping first, or reject it without any effect."""
        if not self._slots.acquire():
            return Submission(False, None)
        try:
            job = self._record(request_id, payload)
        except BaseException:
            self._slots.release()
            raise
        with self._table:
            self._used = True
            self._sweep()
            self._jobs[job.id] = job
        return Submission(True, job.id)

    def queue_depth(self) -> int:
        """Number of jobs that are PENDING or RUNNING."""
        return self._slots.in_use()

    def _record(self, request_id: str, payload: Any) -> _Job:
        return _Job(self._next_id(), request_id, payload, self._clock.now_ms())

    def _next_id(self) -> str:
        return f"job-{next(self._sequence)}"

    # Retention

    def _sweep(self) -> None:
        """Evict by time to live, then by count. Called with the table held."""
        for job_id in self._finished.expired(self._clock.now_ms(), self._ttl_ms):
            self._evict(job_id)
        for job_id in self._finished.surplus(self._max_completed):
            self._evict(job_id)

    def _evict(self, job_id: str) -> None:
        self._jobs.pop(job_id, None)

    def _find(self, job_id: Any) -> _Job | None:
        with self._table:
            return self._jobs.get(job_id)

    # State machine

    def transition_running(self, job_id: Any) -> bool:
        """PENDING to RUNNING; false from every other state."""
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state is not JobState.PENDING:
                return False
            job.state = JobState.RUNNING
            job.condition.notify_all()
            return True

    def finish(self, job_id: Any, result: Any) -> bool:
        """End a job as DONE; raises ValueError without a result (A21)."""
        if result is None:
            raise ValueError("finish needs a result; use fail for a job that has none")
        return self._end(job_id, JobState.DONE, copy.deepcopy(result), "")

    def fail(self, job_id: Any, error: str) -> bool:
        """End a job as FAILED; raises ValueError for an empty error (A25)."""
        return self._end(job_id, JobState.FAILED, None, _text(error))

    def timeout(self, job_id: Any, error: str) -> bool:
        """End a job as TIMEOUT; raises ValueError for an empty error (A25). Bookkeeping only (A10)."""
        return self._end(job_id, JobState.TIMEOUT, None, _text(error))

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state.terminal:
                return False
            self._slots.release()
            self._publish(job, state, result, error)
            return True

    def _publish(self, job: _Job, state: JobState, result: Any, error: str) -> None:
        """Payload, state, wake-up: one critical section. Called with the job's condition held."""
        job.result = result
        job.error = error
        job.completed_at = self._finished.append(self._clock, job.id)
        job.state = state
        job.condition.notify_all()

    # Data

    def take_request(self, job_id: Any) -> TakenRequest | None:
        """The request id every time, the payload the first time only."""
        job = self._find(job_id)
        if job is None:
            return None
        with job.condition:
            payload, job.payload = job.payload, None
            return TakenRequest(job.request_id, payload)

    def snapshot(self, job_id: Any) -> Snapshot | None:
        """The job at one instant."""
        job = self._find(job_id)
        if job is None:
            return None
        with job.condition:
            return self._view(job)

    def _view(self, job: _Job) -> Snapshot:
        return Snapshot(job.state, job.error, job.submitted_at, job.completed_at)

    def take_result(self, job_id: Any) -> ResultView:
        """The result of a DONE job, a fresh copy each time."""
        job = self._find(job_id)
        if job is None:
            return ResultView("NOT_FOUND")
        with job.condition:
            state, result = job.state, job.result
        if state is not JobState.DONE:
            return ResultView("NOT_DONE", state=state)
        return ResultView("READY", result=copy.deepcopy(result), request_id=job.request_id)

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        """The snapshot once the state differs from `initial` or is terminal, or when the budget ends."""
        job = self._find(job_id)
        if job is None:
            return None
        initial = JobState(initial)
        deadline = self._clock.now_ms() + timeout_ms if timeout_ms > 0 else None
        with job.condition:
            while job.state is initial and not job.state.terminal:
                remaining = None if deadline is None else deadline - self._clock.now_ms()
                if remaining is not None and remaining <= 0:
                    break
                self._clock.wait(job.condition, remaining)
            return self._view(job)


def _text(error: str) -> str:
    if not error:
        raise ValueError("an error needs a text")
    return error
