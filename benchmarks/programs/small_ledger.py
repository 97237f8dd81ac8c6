"""A job ledger of one lock and one condition, and eight versions of it with one bug each.

It is far smaller than the contract's reference, on purpose: the peers could be measured on the same
programs, and a bug is one method that differs. Only `wait` looks without the lock, at a job
whose payload is stored before its state.
"""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["LEDGERS", "Job", "Ledger"]

LIVE, DONE, TIMED_OUT = "live", "done", "timed out"


class Job:
    """A job: live until it is done or timed out, and from then on with its payload."""

    def __init__(self, job_id: int) -> None:
        self.id = job_id
        self.state = LIVE
        self.payload: Any = None
        self.taken = False


class Ledger:
    """At most `capacity` live jobs; of the ended ones the latest `keep` are retained."""

    def __init__(self, capacity: int, keep: int) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.capacity = capacity
        self.keep = keep
        self.depth = 0
        self.peak = 0  # the largest depth that there ever was
        self.last_id = 0
        self.jobs: dict[int, Job] = {}
        self.ended: list[int] = []  # guarded by the lock, as all the rest; the earliest first

    def submit(self) -> int | None:
        """The id of a new job; None when the ledger is full."""
        with self.lock:
            return None if self._full() else self._accept(self._fresh_id())

    def finish(self, job_id: int, payload: Any) -> bool:
        """End a live job; False if there is none of this id."""
        return self._close(job_id, DONE, payload)

    def time_out(self, job_id: int) -> bool:
        """End a live job that took too long; False if there is none of this id."""
        return self._close(job_id, TIMED_OUT, "too late")

    def wait(self, job_id: int) -> tuple[str, Any] | None:
        """State and payload of a job once it has ended; None if it is not known (any more)."""
        job = self.jobs.get(job_id)
        if job is None:
            return None
        if job.state == LIVE:
            self._sleep_until_ended(job)
        return job.state, job.payload

    def take(self, job_id: int) -> Any:
        """The payload of a job that is done, to the first who asks; None to everybody else."""
        with self.lock:
            job = self._takable(job_id)
            return None if job is None else self._hand_out(job)

    def _full(self) -> bool:
        return self.depth >= self.capacity

    def _fresh_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def _accept(self, job_id: int) -> int:
        self._count(1)
        self.jobs[job_id] = Job(job_id)
        return job_id

    def _count(self, change: int) -> None:
        self.depth += change
        self.peak = max(self.peak, self.depth)

    def _close(self, job_id: int, state: str, payload: Any) -> bool:
        with self.lock:
            job = self._live(job_id)
            if job is None:
                return False
            self._end(job, state, payload)
            return True

    def _live(self, job_id: int) -> Job | None:
        job = self.jobs.get(job_id)
        return job if job is not None and job.state == LIVE else None

    def _end(self, job: Job, state: str, payload: Any) -> None:
        self._publish(job, state, payload)
        self._count(-1)
        self.ended.append(job.id)
        self._evict()
        self._announce()

    def _publish(self, job: Job, state: str, payload: Any) -> None:
        job.payload = payload
        job.state = state

    def _evict(self) -> None:
        while len(self.ended) > self.keep:
            self.jobs.pop(self.ended.pop(0), None)

    def _announce(self) -> None:
        self.changed.notify_all()

    def _sleep_until_ended(self, job: Job) -> None:
        with self.changed:
            while job.state == LIVE:
                self.changed.wait()

    def _takable(self, job_id: int) -> Job | None:
        job = self.jobs.get(job_id)
        return job if job is not None and job.state == DONE and not job.taken else None

    def _hand_out(self, job: Job) -> Any:
        job.taken = True
        return job.payload


class StateBeforePayload(Ledger):
    """D1: who looks in between sees an ended job that has no payload."""

    def _publish(self, job: Job, state: str, payload: Any) -> None:
        job.state = state
        job.payload = payload


class CheckThenIncrement(Ledger):
    """D2: the lock is free between the look at the depth and its increment."""

    def submit(self) -> int | None:
        """As in the ledger."""
        with self.lock:
            if self._full():
                return None
        with self.lock:
            return self._accept(self._fresh_id())


class NotifyUnderAnotherLock(Ledger):
    """D4: a waiter looks under the ledger's lock and sleeps under another one."""

    def __init__(self, capacity: int, keep: int) -> None:
        super().__init__(capacity, keep)
        self.bell = threading.Condition()

    def _announce(self) -> None:
        with self.bell:
            self.bell.notify_all()

    def _sleep_until_ended(self, job: Job) -> None:
        while True:
            with self.lock:
                if job.state != LIVE:
                    return
            with self.bell:
                self.bell.wait()


class EndedTwice(Ledger):
    """M5: two who end the same job both find it live, and both give its slot back."""

    def _close(self, job_id: int, state: str, payload: Any) -> bool:
        with self.lock:
            job = self._live(job_id)
        if job is None:
            return False
        with self.lock:
            self._end(job, state, payload)
        return True


class IdsOutsideTheLock(Ledger):
    """M6: the number is incremented and read without the lock."""

    def submit(self) -> int | None:
        """As in the ledger."""
        job_id = self._fresh_id()
        with self.lock:
            return None if self._full() else self._accept(job_id)


class EvictsTheOldest(Ledger):
    """M7: that one job too many is retained, and which one goes, are two looks; it may be a live one."""

    def _evict(self) -> None:
        """Left to `_close`, which has given the lock back by then."""

    def _close(self, job_id: int, state: str, payload: Any) -> bool:
        closed = super()._close(job_id, state, payload)
        with self.lock:
            too_many = len(self.ended) > self.keep
        if too_many:
            with self.lock:
                oldest = min(self.jobs)
                del self.jobs[oldest]
                self.ended = [ended for ended in self.ended if ended != oldest]
        return closed


class TakenTwice(Ledger):
    """M8: the lock is free between the look at the payload and the note that it is gone."""

    def take(self, job_id: int) -> Any:
        """As in the ledger."""
        with self.lock:
            job = self._takable(job_id)
        if job is None:
            return None
        with self.lock:
            return self._hand_out(job)


class Audited(Ledger):
    """Counts a second time under a lock of its own, which is always taken last: M9's repaired twin."""

    def __init__(self, capacity: int, keep: int) -> None:
        super().__init__(capacity, keep)
        self.audit = threading.RLock()
        self.audited = 0

    def _count(self, change: int) -> None:
        super()._count(change)
        with self.audit:
            self.audited += change


class AuditedInEitherOrder(Audited):
    """M9: who ends a job takes the second lock first, who submits one takes it last."""

    def _close(self, job_id: int, state: str, payload: Any) -> bool:
        with self.audit:
            return super()._close(job_id, state, payload)


LEDGERS: dict[str, type[Ledger]] = {
    "correct": Ledger,
    "audited": Audited,
    "D1": StateBeforePayload,
    "D2": CheckThenIncrement,
    "D4": NotifyUnderAnotherLock,
    "M5": EndedTwice,
    "M6": IdsOutsideTheLock,
    "M7": EvictsTheOldest,
    "M8": TakenTwice,
    "M9": AuditedInEitherOrder,
}
"""By name, because a name means the same class in a private import of this module."""
