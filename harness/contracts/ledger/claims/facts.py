"""A ledger history, sorted by job: the facts that the claims share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from harness.contracts.ledger.values import MISSING, JobState, ResultView, Snapshot, Submission
from harness.contracts.records import Raised

__all__ = ["ENDINGS", "Facts", "JobFacts", "Read", "facts_of"]

ENDINGS = {"finish": JobState.DONE, "fail": JobState.FAILED, "timeout": JobState.TIMEOUT}
NEVER = float("inf")


class Operation(Protocol):
    """What a claim reads of a recorded operation; `returned` is None while it is pending."""

    client: str
    operation: str
    arguments: tuple[Any, ...]
    response: Any
    called: int
    returned: Any


class Read(NamedTuple):
    """A read of one job: the state it showed, None for absent."""

    item: Any
    state: JobState | None


@dataclass
class JobFacts:
    """All operations on one job, each list in order of invocation."""

    submit: Any
    ends: list[Any] = field(default_factory=list)  # terminal calls that answered True
    refusals: list[Any] = field(default_factory=list)  # terminal calls that answered False
    attempts: list[Any] = field(default_factory=list)  # terminal calls that may have taken effect
    runs: list[Any] = field(default_factory=list)  # transition_running, all
    reads: list[Read] = field(default_factory=list)
    takes: list[Any] = field(default_factory=list)
    open_runs: list[Any] = field(default_factory=list)  # transition_running calls that never answered
    open_takes: list[Any] = field(default_factory=list)  # take_request calls that never answered

    def too_early(self, item: Any) -> bool:
        """Whether a call came before the submit had certainly taken effect."""
        return bool(item.called <= self.submit.returned)

    @property
    def may_start_from(self) -> float:
        """The job is certainly not running before this time."""
        starts = [item.called for item in self.runs if item.response] + [
            item.called for item in self.open_runs
        ]
        return min(starts, default=NEVER)

    @property
    def may_end_from(self) -> float:
        """The job is certainly not terminal before this time."""
        return min((item.called for item in self.attempts), default=NEVER)

    @property
    def has_ended_by(self) -> float:
        """The transition has certainly returned by this time."""
        return min((item.returned for item in self.ends), default=NEVER)

    @property
    def seen_ended_by(self) -> float:
        """By this time the transition has returned, or a read has shown its effect."""
        shown = (read.item.returned for read in self.reads if read.state is not None and read.state.terminal)
        return min(self.has_ended_by, min(shown, default=NEVER))

    def shown_before(self, item: Any) -> tuple[Any, ...]:
        """The ending and the first read that shows it, both before a call; none if nothing was shown."""
        shown = [read for read in self.reads if read.state is not None and read.state.terminal]
        first = min(shown, key=lambda read: read.item.returned, default=None)
        if first is None or first.item.returned >= item.called:
            return ()
        endings = [
            attempt
            for attempt in self.attempts
            if ENDINGS[attempt.operation] is first.state and attempt.called <= first.item.returned
        ]
        return (*endings[:1], first.item)


@dataclass
class Facts:
    """One history's facts. `jobs` are in order of submission."""

    jobs: dict[Any, JobFacts] = field(default_factory=dict)
    accepted: list[Any] = field(default_factory=list)
    rejected: list[Any] = field(default_factory=list)
    depths: list[Any] = field(default_factory=list)
    waits: list[Any] = field(default_factory=list)
    open_submits: int = 0  # submits that never returned, or raised: each may hold a slot


def facts_of(played: Any) -> Facts:
    """The facts of a round; claims of one round share them."""
    if "ledger facts" not in played.derived:
        played.derived["ledger facts"] = collect(played.history)
    facts: Facts = played.derived["ledger facts"]
    return facts


def collect(history: Iterable[Any]) -> Facts:
    """Sort a history, which is in order of invocation, by job."""
    facts = Facts()
    rest = []
    for item in history:
        if item.operation == "submit":
            _collect_submit(facts, item)
        else:
            rest.append(item)
    for item in rest:
        if item.operation == "queue_depth":
            if item.returned is not None and not isinstance(item.response, Raised):
                facts.depths.append(item)
        else:
            _collect_on_job(facts, item)
    return facts


def _collect_submit(facts: Facts, item: Any) -> None:
    if item.returned is None or isinstance(item.response, Raised):
        facts.open_submits += 1
        return
    answer: Submission = item.response
    if not answer.accepted:
        facts.rejected.append(item)
        return
    facts.accepted.append(item)
    facts.jobs.setdefault(answer.job_id, JobFacts(item))


def _collect_on_job(facts: Facts, item: Any) -> None:
    job = facts.jobs.get(item.arguments[0])
    name = item.operation
    open_or_raised = item.returned is None or isinstance(item.response, Raised)
    if name == "wait" and not open_or_raised:
        facts.waits.append(item)
    if job is None:
        return
    if name in ENDINGS:
        if open_or_raised or item.response:
            job.attempts.append(item)
        if not open_or_raised:
            (job.ends if item.response else job.refusals).append(item)
    elif open_or_raised:
        if name == "transition_running":
            job.open_runs.append(item)
        elif name == "take_request":
            job.open_takes.append(item)
    elif name == "transition_running":
        job.runs.append(item)
    elif name == "take_request":
        job.takes.append(item)
    elif name in ("snapshot", "wait"):
        seen: Snapshot | None = item.response
        job.reads.append(Read(item, None if seen is None else seen.state))
    elif name == "take_result":
        _collect_result(job, item)


def _collect_result(job: JobFacts, item: Any) -> None:
    view: ResultView = item.response
    if view.status == "READY":
        job.reads.append(Read(item, JobState.DONE))
    elif view.status == "NOT_FOUND":
        job.reads.append(Read(item, None))
    elif view.state is not MISSING:
        job.reads.append(Read(item, view.state))
