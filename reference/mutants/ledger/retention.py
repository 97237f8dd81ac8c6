"""Mutants of retention (section 5.D)."""

from __future__ import annotations

from collections import deque
from typing import Any

from harness.contracts.ledger.values import JobState, Snapshot, Submission
from reference.ledger import Ledger, _Finished, _Job
from reference.mutants.planting import breaks


class _Scanning(Ledger):
    """The contract kept the other way that it allows: no order of its own, the oldest submitted go first."""

    def _sweep(self) -> None:
        self._sweep_expired()
        self._sweep_surplus()

    def _sweep_expired(self) -> None:
        now = self._clock.now_ms()
        for job in list(self._jobs.values()):
            if self._expired(job, now):
                self._evict(job.id)

    def _sweep_surplus(self) -> None:
        ended = [job for job in self._jobs.values() if self._counts(job)]
        for job in ended[: max(len(ended) - self._max_completed, 0)]:
            self._evict(job.id)

    def _expired(self, job: _Job, now: int) -> bool:
        return job.state.terminal and now - job.completed_at > self._ttl_ms

    def _counts(self, job: _Job) -> bool:
        return job.state.terminal


@breaks("AJT-RET-NONTERM")
class TtlEvictsAnyOldJob(_Scanning):
    """The time to live runs from submission and ends jobs in flight too."""

    def _expired(self, job: _Job, now: int) -> bool:
        return now - job.submitted_at > self._ttl_ms


@breaks("AJT-RET-NONTERM")
class BoundIgnoresTheState(_Scanning):
    """The bound on completed jobs counts and evicts stored jobs of any state."""

    def _counts(self, job: _Job) -> bool:
        return True


@breaks("AJT-RET-TTL")
class TtlStopsAtAJobInFlight(_Scanning):
    """The sweep goes through the jobs in the order of submission, and stops at the first that stays."""

    def _sweep_expired(self) -> None:
        now = self._clock.now_ms()
        for job in list(self._jobs.values()):
            if not self._expired(job, now):
                break
            self._evict(job.id)


@breaks("AJT-RET-TTL")
class TtlRunsFromSubmission(_Scanning):
    """The time to live of a terminal job runs from its submission."""

    def _expired(self, job: _Job, now: int) -> bool:
        return job.state.terminal and now - job.submitted_at > self._ttl_ms


class _InclusiveFinished(_Finished):
    def expired(self, now: int, ttl_ms: int) -> list[str]:
        return super().expired(now, ttl_ms - 1)


@breaks("AJT-RET-TTL")
class TtlZeroEvictsAtOnce(Ledger):
    """A job expires when its age equals the time to live, at age 0 too."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._finished = _InclusiveFinished()


@breaks("AJT-RET-TTL")
class TtlNeverEvicts(_Scanning):
    """The time to live is never applied."""

    def _expired(self, job: _Job, now: int) -> bool:
        return False


@breaks("AJT-RET-LAZY")
class EndAppliesTheBound(Ledger):
    """The bound on completed jobs is applied whenever a job ends."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        ended = super()._end(job_id, state, result, error)
        if ended:
            with self._table:
                self._sweep()
        return ended


@breaks("AJT-RET-LAZY")
class SnapshotAppliesTheBound(Ledger):
    """The bound on completed jobs is applied after each snapshot, and may evict what it just showed."""

    def snapshot(self, job_id: Any) -> Snapshot | None:
        seen = super().snapshot(job_id)
        with self._table:
            self._sweep()
        return seen


@breaks("AJT-RET-LRU")
class ImmortalJobs(Ledger):
    """The order holds all jobs by submission, and a sweep drops from it the jobs in flight that it passes."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._order: deque[str] = deque()

    def _record(self, request_id: str, payload: Any) -> _Job:
        job = super()._record(request_id, payload)
        self._order.append(job.id)
        return job

    def _sweep(self) -> None:
        for job_id in self._finished.expired(self._clock.now_ms(), self._ttl_ms):
            self._evict(job_id)
        ended = sum(job.state.terminal for job in self._jobs.values())
        while ended > self._max_completed and self._order:
            job = self._jobs.get(self._order.popleft())
            if job is not None and job.state.terminal:
                self._evict(job.id)
                ended -= 1


class _NewestFirst(_Finished):
    def surplus(self, bound: int) -> list[str]:
        with self._lock:
            return [self._order.pop()[1] for _ in range(len(self._order) - bound)]


@breaks("AJT-RET-LRU")
class NewestGoesFirst(Ledger):
    """Over the bound the job that completed last is evicted first."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._finished = _NewestFirst()


@breaks("AJT-RET-LRU")
class BoundKeepsOneMore(Ledger):
    """One completed job more than the bound is kept."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed + 1)


@breaks("AJT-RET-LRU")
class RunningCountsAsCompleted(Ledger):
    """RUNNING jobs take places of completed jobs within the bound."""

    def _sweep(self) -> None:
        super()._sweep()
        running = sum(job.state is JobState.RUNNING for job in self._jobs.values())
        for job_id in self._finished.surplus(max(self._max_completed - running, 0)):
            self._evict(job_id)


@breaks("AJT-RET-LRU")
class LookingKeepsAJobYoung(_Scanning):
    """Each look-up moves a terminal job to the young end of the order of eviction."""

    def _find(self, job_id: Any) -> _Job | None:
        with self._table:
            job = self._jobs.get(job_id)
            if job is not None and job.state.terminal:
                self._jobs[job.id] = self._jobs.pop(job.id)
            return job


@breaks("AJT-RET-ORDER-TTL-FIRST")
class BoundBeforeTtl(_Scanning):
    """The bound is applied first, so expired jobs push out fresh ones that were submitted before them."""

    def _sweep(self) -> None:
        self._sweep_surplus()
        self._sweep_expired()


class _StoredFirst(_Scanning):
    """Stores the new job before it sweeps."""

    def submit(self, request_id: str, payload: Any) -> Submission:
        if not self._slots.acquire():
            return Submission(False, None)
        try:
            job = self._record(request_id, payload)
        except BaseException:
            self._slots.release()
            raise
        with self._table:
            self._used = True
            self._jobs[job.id] = self._newest = job
            self._sweep()
        return Submission(True, job.id)


@breaks("AJT-RET-SELF")
class NewJobCountsAsCompleted(_StoredFirst):
    """The sweep counts the job being submitted as a completed one."""

    def _counts(self, job: _Job) -> bool:
        return job is self._newest or super()._counts(job)


@breaks("AJT-RET-SELF")
class LastSeatIsEvicted(_StoredFirst):
    """Over the bound the last jobs of the table go, whatever their state: the one being submitted first."""

    def _sweep_surplus(self) -> None:
        for _ in range(sum(job.state.terminal for job in self._jobs.values()) - self._max_completed):
            self._jobs.popitem()
