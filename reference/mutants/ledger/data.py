"""Mutants of what readers and takers get (section 5.C without wait; the state and its payload from 5.A)."""

from __future__ import annotations

import copy
from typing import Any

from harness.contracts.ledger.values import JobState, ResultView, Snapshot, TakenRequest
from reference.ledger import Ledger, _Job
from reference.mutants.planting import breaks


class _TwoFieldJob(_Job):
    """Whether the job ended, and how it ended, are two fields."""

    _ended = False
    _ending = JobState.DONE

    @property
    def state(self) -> JobState:
        return self._ending if self._ended else self._progress

    @state.setter
    def state(self, state: JobState) -> None:
        self._ended = state.terminal
        if state.terminal:
            self._ending = state
        else:
            self._progress = state


@breaks("AJT-STATE-ATOMIC", rare=True)
class StateInTwoFields(Ledger):
    """The state is a flag and a kind, stored one after the other: a failing job shows as DONE in between."""

    def _record(self, request_id: str, payload: Any) -> _Job:
        return _TwoFieldJob(self._next_id(), request_id, payload, self._clock.now_ms())

    def snapshot(self, job_id: Any) -> Snapshot | None:
        job = self._find(job_id)
        if job is None:
            return None
        # with a state of one field this needs no lock: the payload is there before a terminal state
        state = job.state
        if not state.terminal:
            return Snapshot(state, "", job.submitted_at, 0)
        with job.condition:
            return self._view(job)._replace(state=state)


@breaks("AJT-STATE-ATOMIC")
class StateRememberedUntilTheSweep(Ledger):
    """Snapshots take the state from a second map, which is refreshed only by a sweep."""

    def _bound(self, max_queue: int, job_ttl_ms: int, max_completed: int) -> None:
        super()._bound(max_queue, job_ttl_ms, max_completed)
        self._states: dict[Any, JobState] = {}

    def _sweep(self) -> None:
        self._states.clear()
        super()._sweep()

    def snapshot(self, job_id: Any) -> Snapshot | None:
        seen = super().snapshot(job_id)
        return seen and seen._replace(state=self._states.setdefault(job_id, seen.state))


@breaks("AJT-ATOMIC-PUBLISH", rare=True)
class ErrorWrittenOutside(Ledger):
    """The error text is written after the critical section that published the terminal state."""

    def _end(self, job_id: Any, state: JobState, result: Any, error: str) -> bool:
        job = self._find(job_id)
        if job is None or not super()._end(job_id, state, result, ""):
            return False
        job.error = error
        return True


@breaks("AJT-ATOMIC-PUBLISH", rare=True)
class SnapshotWithoutTheLock(Ledger):
    """A snapshot is put together field by field without the job's lock."""

    def snapshot(self, job_id: Any) -> Snapshot | None:
        job = self._find(job_id)
        return None if job is None else self._view(job)


@breaks("AJT-TAKE-REQUEST")
class PayloadStays(Ledger):
    """Every take_request gives the payload."""

    def take_request(self, job_id: Any) -> TakenRequest | None:
        job = self._find(job_id)
        if job is None:
            return None
        with job.condition:
            return TakenRequest(job.request_id, job.payload)


@breaks("AJT-TAKE-REQUEST")
class SecondTakeIsAbsent(Ledger):
    """A take_request after the first is answered as for an unknown id."""

    def take_request(self, job_id: Any) -> TakenRequest | None:
        taken = super().take_request(job_id)
        return None if taken is None or taken.payload is None else taken


@breaks("AJT-TAKE-REQUEST")
class RequestIdLeavesToo(Ledger):
    """The first take_request moves the request id out with the payload."""

    def take_request(self, job_id: Any) -> TakenRequest | None:
        job = self._find(job_id)
        if job is None:
            return None
        with job.condition:
            taken = TakenRequest(job.request_id, job.payload)
            job.request_id, job.payload = "", None
            return taken


@breaks("AJT-TAKE-REQUEST", rare=True)
class TwoTakersGetThePayload(Ledger):
    """The payload is read before the critical section that clears it."""

    def take_request(self, job_id: Any) -> TakenRequest | None:
        job = self._find(job_id)
        if job is None:
            return None
        payload = job.payload
        with job.condition:
            job.payload = None
            return TakenRequest(job.request_id, payload)


@breaks("AJT-TAKE-RESULT")
class ResultLeaves(Ledger):
    """The first take_result moves the result out."""

    def take_result(self, job_id: Any) -> ResultView:
        view = super().take_result(job_id)
        job = self._find(job_id)
        if job is not None and view.status == "READY":
            with job.condition:
                job.result = None
        return view


@breaks("AJT-TAKE-RESULT")
class FailedIsReady(Ledger):
    """The result of a FAILED job is READY, with the error in its place."""

    def take_result(self, job_id: Any) -> ResultView:
        view = super().take_result(job_id)
        job = self._find(job_id)
        if job is None or view.state is not JobState.FAILED:
            return view
        return ResultView("READY", result=job.error, request_id=job.request_id)


@breaks("AJT-TAKE-RESULT")
class FalsyResultIsNone(Ledger):
    """A result that is empty is taken for no result."""

    def take_result(self, job_id: Any) -> ResultView:
        view = super().take_result(job_id)
        return view if view.result or view.status != "READY" else view._replace(result=None)


@breaks("AJT-ATOMIC-PUBLISH")
class ErrorIsCutOff(Ledger):
    """Error texts are stored in a column of 255 characters."""

    def fail(self, job_id: Any, error: str) -> bool:
        return super().fail(job_id, error[:255])


class _Copying(Ledger):
    """The reference with the copy that it hands out made in a method of its own."""

    def take_result(self, job_id: Any) -> ResultView:
        job = self._find(job_id)
        if job is None:
            return ResultView("NOT_FOUND")
        with job.condition:
            state, result = job.state, job.result
        if state is not JobState.DONE:
            return ResultView("NOT_DONE", state=state)
        return ResultView("READY", result=self._copied(result), request_id=job.request_id)

    def _copied(self, result: Any) -> Any:
        return copy.deepcopy(result)


@breaks("AJT-TAKE-RESULT")
class ResultIsShared(_Copying):
    """take_result hands out the stored object itself."""

    def _copied(self, result: Any) -> Any:
        return result


@breaks("AJT-TAKE-RESULT")
class ResultIsCopiedShallowly(_Copying):
    """take_result copies the outer object only, so what lies inside is shared with the store."""

    def _copied(self, result: Any) -> Any:
        return copy.copy(result)


@breaks("AJT-SNAPSHOT")
class SnapshotIsTheRecord(Ledger):
    """A snapshot is the live record, whose fields change later."""

    def _view(self, job: _Job) -> Any:
        return job
