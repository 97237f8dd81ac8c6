"""The ledger's pure sequential model: states, and what sweeps and time do to them.

A state is an immutable, hashable value; `rulings` says which responses are legal in it. Freedom
that the contract leaves is kept as several states or as `maybe_gone`, never as a looser check:

* eviction order (A7): `initial` gives two states, one per accepted order; an implementation that
  mixes them, or refreshes on read, survives in neither;
* reads may honour the time to live before a sweep (A13), and a rejected submit may sweep (A14):
  the jobs concerned are `maybe_gone` until an accepted submit settles it;
* exactly at the time to live either answer is legal (A15): an accepted submit then has two states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.contracts.ledger.values import JobState

__all__ = ["Configuration", "Job", "LedgerState", "advance", "find", "initial", "sweep"]


class Configuration(NamedTuple):
    """Bounds of one ledger; `job_ttl_ms` in milliseconds. None is a bound that could not be set.

    Nothing is demanded of an unknown bound, and nothing that it could explain is refused.
    """

    max_queue: int | None
    job_ttl_ms: int | None
    max_completed: int | None


class Job(NamedTuple):
    """One stored job. `outcome` is the result or error token; times are the model's milliseconds.

    `shown_submitted` and `shown_completed` are the times the implementation showed first, in its
    own unit: it must show the same ones ever after. None means not shown yet.
    """

    id: Any
    request_id: Any
    payload: Any
    state: JobState = JobState.PENDING
    outcome: Any = ""
    taken: bool = False
    completed_at: int = 0
    completion: int = 0
    maybe_gone: bool = False
    shown_submitted: Any = None
    shown_completed: Any = None


class LedgerState(NamedTuple):
    """A whole ledger. `jobs` are in submission order; `gone` maps evicted ids to why they went.

    `last` tells the kind of the last call that could change depth or storage. It blames: a wrong
    depth after a rejected submit is another clause than one after a second finish.
    """

    configuration: Configuration
    by_completion: bool
    jobs: tuple[Job, ...] = ()
    gone: tuple[tuple[Any, str], ...] = ()
    now: int = 0
    completions: int = 0
    last: str = ""

    @property
    def depth(self) -> int:
        """Number of jobs that are not terminal."""
        return sum(not job.state.terminal for job in self.jobs)

    def replace_job(self, job: Job, last: str | None = None) -> LedgerState:
        """This state with one job changed; what the clock alone says of it is not stored."""
        jobs = tuple(
            job._replace(maybe_gone=other.maybe_gone) if other.id == job.id else other for other in self.jobs
        )
        return self._replace(jobs=jobs, last=self.last if last is None else last)

    def why_gone(self, job_id: Any) -> str:
        """Why an id is no longer stored: `ttl`, `count`, or empty for an id never issued."""
        reasons: dict[Any, str] = dict(self.gone)
        return reasons.get(job_id, "")

    def issued(self, job_id: Any) -> bool:
        """Whether the id was ever given out."""
        return any(job.id == job_id for job in self.jobs) or any(gone == job_id for gone, _ in self.gone)


def initial(configuration: Mapping[str, int | None]) -> tuple[LedgerState, ...]:
    """An empty ledger, once for each eviction order that A7 accepts."""
    bounds = Configuration(**configuration)
    return LedgerState(bounds, by_completion=True), LedgerState(bounds, by_completion=False)


def advance(state: LedgerState, milliseconds: int) -> LedgerState:
    """The same ledger, later."""
    return state._replace(now=state.now + milliseconds)


def find(state: LedgerState, job_id: Any) -> Job | None:
    """The stored job, `maybe_gone` brought up to date with the clock; None if it is not stored."""
    for job in state.jobs:
        if job.id == job_id:
            due = age(state, job) >= 0 and _expirable(state, job)
            return job._replace(maybe_gone=job.maybe_gone or due)
    return None


def age(state: LedgerState, job: Job) -> int:
    """Milliseconds since completion, -1 for a job that is not terminal."""
    return state.now - job.completed_at if job.state.terminal else -1


def _expirable(state: LedgerState, job: Job) -> bool:
    """Old enough that an eager implementation may have removed it (A13, A15)."""
    ttl = state.configuration.job_ttl_ms
    return age(state, job) >= (0 if ttl is None else max(ttl, 1))


def sweep(state: LedgerState) -> tuple[LedgerState, ...]:
    """The states after an accepted submit's sweep: time to live first, then the count bound."""
    ttl = state.configuration.job_ttl_ms
    if ttl is None:
        return (_evict(state, set()),)
    terminal = [job for job in state.jobs if job.state.terminal]
    expired = {job.id for job in terminal if age(state, job) > ttl}
    boundary = {job.id for job in terminal if age(state, job) == ttl > 0}
    choices = [expired] if not boundary else [expired, expired | boundary]
    return tuple(dict.fromkeys(_evict(state, removed) for removed in choices))


def _evict(state: LedgerState, expired: set[Any]) -> LedgerState:
    kept = [job for job in state.jobs if job.state.terminal and job.id not in expired]
    if state.by_completion:
        kept.sort(key=lambda job: job.completion)
    bound = state.configuration.max_completed
    surplus = {job.id for job in kept[: max(len(kept) - max(bound, 0), 0)]} if bound is not None else set()
    why = "ttl, then count" if expired and surplus else "ttl"
    evicted = expired | surplus
    gone = tuple((job.id, why if job.id in expired else "count") for job in state.jobs if job.id in evicted)
    jobs = tuple(
        job._replace(maybe_gone=job.maybe_gone or (bound is None and job.state.terminal))
        for job in state.jobs
        if job.id not in evicted
    )
    return state._replace(jobs=jobs, gone=state.gone + gone)


def rejected(state: LedgerState) -> LedgerState:
    """The state after a rejected submit, which may have swept (A14)."""
    swept = {job_id for after in sweep(state) for job_id, _ in after.gone} - {
        job_id for job_id, _ in state.gone
    }
    jobs = tuple(job._replace(maybe_gone=job.maybe_gone or job.id in swept) for job in state.jobs)
    return state._replace(jobs=jobs, last="rejected submit")


def without(state: LedgerState, job: Job) -> LedgerState:
    """The state in which a `maybe_gone` job turned out to be gone."""
    jobs = tuple(other for other in state.jobs if other.id != job.id)
    return state._replace(jobs=jobs, gone=(*state.gone, (job.id, "early")))
