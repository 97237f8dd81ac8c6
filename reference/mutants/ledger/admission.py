"""Mutants of admission and depth (section 5.A)."""

from __future__ import annotations

import sys
from typing import Any

from harness.contracts.ledger.values import JobState, Submission
from reference.ledger import Ledger, Slots
from reference.mutants.planting import breaks


class _Slotted(Ledger):
    """The reference with its slots made by a class that a mutant names."""

    _kind: type[Slots] = Slots

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._slots = self._kind(max_queue)


class _UndoneSlots(Slots):
    def acquire(self) -> bool:
        with self._lock:
            self.used += 1
        if self.in_use() <= self.bound:
            return True
        self.release()
        return False


@breaks("AJT-ADMIT-CAS", rare=True)
class SlotTakenFirstAndUndone(_Slotted):
    """A slot is taken first and given back if that was one too many, so depth exceeds the bound meanwhile."""

    _kind = _UndoneSlots


@breaks("AJT-ADMIT-REJECT", rare=True)
class RejectedRecordUndoneByPosition(Ledger):
    """The record is stored before admission, and a rejection takes out whichever record is last by then."""

    def submit(self, request_id: str, payload: Any) -> Submission:
        job = self._record(request_id, payload)
        with self._table:
            self._used = True
            self._sweep()
            self._jobs[job.id] = job
        if self._slots.acquire():
            return Submission(True, job.id)
        with self._table:
            self._jobs.popitem()
        return Submission(False, None)


@breaks("AJT-ADMIT-REJECT")
class RejectionHandsOutAnId(Ledger):
    """A rejected submit answers with an id."""

    def submit(self, request_id: str, payload: Any) -> Submission:
        answer = super().submit(request_id, payload)
        return answer if answer.accepted else Submission(False, self._next_id())


class _LeakingSlots(Slots):
    def acquire(self) -> bool:
        with self._lock:
            self.used += 1
            return self.used <= self.bound


@breaks("AJT-ADMIT-REJECT")
class RejectionKeepsASlot(_Slotted):
    """A rejected submit leaves depth one higher."""

    _kind = _LeakingSlots


@breaks("AJT-ADMIT-ZERO")
class ZeroIsUnlimited(Ledger):
    """A max_queue of zero admits everything."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue or sys.maxsize, job_ttl_ms, max_completed)


@breaks("AJT-ADMIT-ZERO")
class NegativeBoundWraps(Ledger):
    """A negative max_queue is read as a large unsigned number."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue & 0xFFFF_FFFF, job_ttl_ms, max_completed)


@breaks("AJT-ADMIT-FAILSAFE")
class SlotLostWithTheRecord(Ledger):
    """The slot is not given back when making the record raises."""

    def submit(self, request_id: str, payload: Any) -> Submission:
        if not self._slots.acquire():
            return Submission(False, None)
        job = self._record(request_id, payload)
        with self._table:
            self._used = True
            self._sweep()
            self._jobs[job.id] = job
        return Submission(True, job.id)


@breaks("AJT-DEPTH-SCOPE")
class RunningGivesTheSlotBack(Ledger):
    """The slot is given back when a job starts to run; only a job that never ran gives it back at its end."""

    def transition_running(self, job_id: Any) -> bool:
        started = super().transition_running(job_id)
        if started:
            self._slots.release()
        return started

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state.terminal:
                return False
            if job.state is JobState.PENDING:
                self._slots.release()
            self._publish(job, state, result, error)
            return True


@breaks("AJT-DEPTH-SCOPE")
class DepthCountsStoredJobs(Ledger):
    """Depth counts the terminal jobs too, until they are evicted."""

    def queue_depth(self) -> int:
        with self._table:
            return len(self._jobs)


@breaks("AJT-DEPTH-ONCE")
class EveryEndGivesASlotBack(Ledger):
    """A refused end of a terminal job gives a slot back again."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        ended = super()._end(job_id, state, result, error)
        if not ended and self._find(job_id) is not None:
            self._slots.release()
        return ended


@breaks("AJT-DEPTH-ONCE")
class EvictionGivesASlotBack(Ledger):
    """An eviction gives a slot back, as the job's end did before."""

    def _evict(self, job_id: str) -> None:
        super()._evict(job_id)
        self._slots.release()


@breaks("AJT-DEPTH-ONCE", rare=True)
class SlotGivenBackBeforeTheRace(Ledger):
    """The slot is given back before it is settled which of several callers ends the job."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None or job.state.terminal:
            return False
        self._slots.release()
        with job.condition:
            if job.state.terminal:
                return False  # type: ignore[unreachable]
            self._publish(job, state, result, error)
            return True


@breaks("AJT-DEPTH-ONCE")
class TimeoutWhilePendingKeepsTheSlot(Ledger):
    """A timeout of a job that never ran ends it, but does not give its slot back."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state.terminal:
                return False
            if job.state is JobState.RUNNING or state is not JobState.TIMEOUT:
                self._slots.release()
            self._publish(job, state, result, error)
            return True


@breaks("AJT-DEPTH-WHEN", rare=True)
class SlotGivenBackAfterTheLock(Ledger):
    """The slot is given back after the critical section in which the terminal state became visible."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state.terminal:
                return False
            self._publish(job, state, result, error)
        self._slots.release()
        return True


class _BatchedSlots(Slots):
    """Books what was given back when the next slot is asked for, after deciding on that one."""

    _returned = 0

    def acquire(self) -> bool:
        taken = super().acquire()
        with self._lock:
            self.used -= self._returned
            self._returned = 0
        return taken

    def release(self) -> None:
        with self._lock:
            self._returned += 1


@breaks("AJT-DEPTH-WHEN")
class SlotsGivenBackInBatches(_Slotted):
    """Slots of ended jobs are free only after the next submit has been decided."""

    _kind = _BatchedSlots
