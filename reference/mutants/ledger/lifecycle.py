"""Mutants of the state machine, of identity and of the times (section 5.B)."""

from __future__ import annotations

import copy
import threading
import time
from itertools import count
from typing import Any

from harness.contracts.ledger.values import JobState, Snapshot, Submission
from reference.ledger import Clock, Ledger, SystemClock, _Job
from reference.mutants.planting import breaks


class _Starting(Ledger):
    """The reference with the guard of its start in a method of its own."""

    def transition_running(self, job_id: Any) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if not self._may_start(job.state):
                return False
            job.state = JobState.RUNNING
            job.condition.notify_all()
            return True

    def _may_start(self, state: JobState) -> bool:
        return state is JobState.PENDING


@breaks("AJT-RUN-FROM-PENDING")
class TerminalJobRunsAgain(_Starting):
    """A terminal job can be started once more."""

    def _may_start(self, state: JobState) -> bool:
        return state is not JobState.RUNNING


@breaks("AJT-RUN-FROM-PENDING")
class RunningJobStartsAgain(_Starting):
    """A running job can be started by a second runner."""

    def _may_start(self, state: JobState) -> bool:
        return not state.terminal


@breaks("AJT-RUN-FROM-PENDING", rare=True)
class TwoRunnersStart(Ledger):
    """Whether a job is PENDING is tested in one critical section, and RUNNING stored in the next."""

    def transition_running(self, job_id: Any) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state is not JobState.PENDING:
                return False
        with job.condition:
            job.state = JobState.RUNNING
            job.condition.notify_all()
            return True


@breaks("AJT-TERM-ANY")
class FinishNeedsRunning(Ledger):
    """finish is refused while the job is PENDING."""

    def finish(self, job_id: Any, result: Any) -> bool:
        job = self._find(job_id)
        if job is not None and job.state is JobState.PENDING:
            return False
        return super().finish(job_id, result)


@breaks("AJT-TERM-ANY")
class TimeoutNeedsRunning(Ledger):
    """timeout is ignored while the job is PENDING, so it keeps its slot."""

    def timeout(self, job_id: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is not None and job.state is JobState.PENDING:
            return False
        return super().timeout(job_id, error)


@breaks("AJT-TERM-ABSORB")
class LastResultWins(Ledger):
    """A second finish is refused, but its result replaces the first."""

    def finish(self, job_id: Any, result: Any) -> bool:
        job = self._find(job_id)
        if job is not None:
            with job.condition:
                if job.state is JobState.DONE:
                    job.result = copy.deepcopy(result)
        return super().finish(job_id, result)


@breaks("AJT-TERM-ABSORB")
class LateFailSetsTheError(Ledger):
    """A fail after the end is refused, but leaves its error on the DONE job."""

    def fail(self, job_id: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is not None:
            with job.condition:
                if job.state is JobState.DONE:
                    job.error = error
        return super().fail(job_id, error)


@breaks("AJT-TERM-ABSORB")
class LateTimeoutMovesTheEnd(Ledger):
    """A timeout after the end is refused, but sets completed_at anew."""

    def timeout(self, job_id: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is not None:
            with job.condition:
                if job.state.terminal:
                    job.completed_at = self._clock.now_ms()
        return super().timeout(job_id, error)


@breaks("AJT-TERM-ABSORB")
class LateEndIsTrue(Ledger):
    """A repeated end changes nothing, but is answered as if it had ended the job."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        return super()._end(job_id, state, result, error) or self._find(job_id) is not None


@breaks("AJT-TERM-ONCE-STRESS", rare=True)
class TwoEndersWin(Ledger):
    """Whether a job has ended is tested in one critical section, and its end stored in the next."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None:
            return False
        with job.condition:
            if job.state.terminal:
                return False
        with job.condition:
            self._slots.release()
            self._publish(job, state, result, error)
            return True


@breaks("AJT-UNKNOWN")
class UnknownIdRaises(Ledger):
    """An unknown id raises KeyError."""

    def _find(self, job_id: Any) -> _Job | None:
        with self._table:
            return self._jobs[job_id]


@breaks("AJT-UNKNOWN")
class UnknownIdMakesARecord(Ledger):
    """Looking up an unknown id stores a PENDING job under it."""

    def _find(self, job_id: Any) -> _Job | None:
        with self._table:
            return self._jobs.setdefault(job_id, _Job(job_id, "", None, self._clock.now_ms()))


@breaks("AJT-UNKNOWN")
class UnknownIdIsWaitedFor(Ledger):
    """wait on an unknown id sleeps for ever, whatever its budget."""

    def wait(self, job_id: Any, initial: JobState | str, timeout_ms: int) -> Snapshot | None:
        if self._find(job_id) is None:
            nothing = threading.Condition(threading.Lock())
            with nothing:
                self._clock.wait(nothing, None)
        return super().wait(job_id, initial, timeout_ms)


@breaks("AJT-ID-UNIQUE")
class IdIsTheClock(Ledger):
    """The id is the time of submission, so two jobs of one millisecond share it."""

    def _next_id(self) -> str:
        return f"job-{self._clock.now_ms()}"


@breaks("AJT-ID-UNIQUE")
class EvictionRestartsTheSequence(Ledger):
    """A sweep that evicts starts the sequence of ids again."""

    def _evict(self, job_id: str) -> None:
        super()._evict(job_id)
        self._sequence = count(1)


@breaks("AJT-ID-UNIQUE")
class IdIsTheTableSize(Ledger):
    """The id is the number of stored jobs, so it repeats after an eviction."""

    def _next_id(self) -> str:
        return f"job-{len(self._jobs) + 1}"


@breaks("AJT-ID-UNIQUE", rare=True)
class IdDrawnInTwoSteps(Ledger):
    """The last number is read first and raised after the id was made from it, without a lock."""

    _issued = 0

    def _next_id(self) -> str:
        number = self._issued + 1
        job_id = "-".join(("job", str(number)))
        self._issued = number
        return job_id


class _WallClock(SystemClock):
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


@breaks("AJT-ID-UNIQUE")
class SameRequestSameJob(Ledger):
    """A request id that comes again while its job is stored gets that job's id."""

    def submit(self, request_id: str, payload: Any) -> Submission:
        with self._table:
            known = [job.id for job in self._jobs.values() if job.request_id == request_id]
        return Submission(True, known[0]) if known else super().submit(request_id, payload)


@breaks("AJT-TIMES")
class TimesFromTheWallClock(Ledger):
    """Times come from the wall clock, which may be set back or forth."""

    def __init__(
        self,
        max_queue: int = 16,
        job_ttl_ms: int = 300_000,
        max_completed: int = 100,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(max_queue, job_ttl_ms, max_completed, clock or _WallClock())


@breaks("AJT-TIMES")
class CompletedAtSinceSubmission(Ledger):
    """completed_at starts as the time of submission instead of 0."""

    def _record(self, request_id: str, payload: Any) -> _Job:
        job = super()._record(request_id, payload)
        job.completed_at = job.submitted_at
        return job
