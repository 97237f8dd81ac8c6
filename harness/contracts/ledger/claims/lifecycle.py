"""Claims on the state machine, on what reads show of it, and on retention."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from harness.contracts.ledger.claims.facts import ENDINGS, NEVER, JobFacts, Read, facts_of
from harness.contracts.ledger.values import MISSING, JobState, Snapshot

AUDITOR = "audit"  # the client that looks around alone, before and after a round

__all__ = [
    "ends_once",
    "nothing_is_lost",
    "retention_is_bounded",
    "starts_once",
    "states_are_monotone",
    "terminal_shows_payload",
]


def ends_once(played: Any, judge: Any) -> None:
    """Every accepted job is ended exactly once; refusals are due (AJT-TERM-ONCE-STRESS, AJT-TERM-ANY)."""
    for job_id, job in facts_of(played).jobs.items():
        judge.check(
            "AJT-TERM-ONCE-STRESS", len(job.ends) <= 1, f"job {job_id!r} was ended more than once", *job.ends
        )
        refusals = [item for item in job.refusals if not job.too_early(item)]
        for item in refusals:
            told = f"{item.operation} was refused although nobody had ended job {job_id!r}"
            judge.check("AJT-TERM-ANY", job.may_end_from <= item.returned, told, item)
        if refusals and not job.attempts:
            judge.check("AJT-TERM-ONCE-STRESS", False, f"job {job_id!r} was never ended", *refusals)


def starts_once(played: Any, judge: Any) -> None:
    """One runner gets a job, and only while it is pending (AJT-RUN-FROM-PENDING)."""
    for job_id, job in facts_of(played).jobs.items():
        wins = [item for item in job.runs if item.response]
        judge.check(
            "AJT-RUN-FROM-PENDING", len(wins) <= 1, f"job {job_id!r} was started more than once", *wins
        )
        for item in job.runs:
            if item.response:
                late = job.has_ended_by < item.called
                told = f"job {job_id!r} was started after it ended"
                judge.check("AJT-RUN-FROM-PENDING", not late, told, *job.ends, item)
            elif not job.too_early(item):
                due = min(job.may_start_from, job.may_end_from) <= item.returned
                judge.check(
                    "AJT-RUN-FROM-PENDING", due, f"job {job_id!r} was pending and could not be started", item
                )


def states_are_monotone(played: Any, judge: Any) -> None:
    """Reads that follow one another never go back, nor run ahead of the calls (AJT-STATE-ATOMIC)."""
    for job in facts_of(played).jobs.values():
        _never_back(job, judge)
        for read in job.reads:
            if read.state is not None:
                _not_ahead(job, read, judge)


def _never_back(job: JobFacts, judge: Any) -> None:
    """Hold each read against the latest that had returned before it was called."""
    shown = [(read.item, read.state) for read in job.reads if read.state is not None]
    moves = [(item, JobState.RUNNING) for item in job.runs if item.response]
    moves += [(item, ENDINGS[item.operation]) for item in job.ends]
    by_return = sorted([*shown, *moves], key=lambda pair: pair[0].returned)
    best: Any = None
    position = 0
    for item, state in shown:
        while position < len(by_return) and by_return[position][0].returned < item.called:
            if best is None or by_return[position][1].rank > best[1].rank:
                best = by_return[position]
            position += 1
        if best is None:
            continue
        back = state.rank < best[1].rank
        judge.check("AJT-STATE-ATOMIC", not back, f"{state.value} after {best[1].value}", best[0], item)
        changed = state.rank == best[1].rank == 2 and state is not best[1]
        judge.check("AJT-TERM-ABSORB", not changed, f"{state.value} after {best[1].value}", best[0], item)


def _not_ahead(job: JobFacts, read: Read, judge: Any) -> None:
    """A state is not shown before the call that leads to it."""
    if read.state is JobState.RUNNING:
        started = job.may_start_from <= read.item.returned
        judge.check("AJT-STATE-ATOMIC", started, "RUNNING before it was started", read.item)
    elif read.state is not None and read.state.terminal:
        calls = [item.called for item in job.attempts if ENDINGS[item.operation] is read.state]
        began = min(calls, default=NEVER)
        judge.check(
            "AJT-STATE-ATOMIC",
            began <= read.item.returned,
            f"{read.state.value} before it was ended so",
            read.item,
        )


def terminal_shows_payload(played: Any, judge: Any) -> None:
    """Snapshots are whole: payload with state, times in order and stable (AJT-ATOMIC-PUBLISH, AJT-TIMES)."""
    for job in facts_of(played).jobs.values():
        first: dict[str, Any] = {}
        errors = [item.arguments[1] for item in job.attempts if item.operation != "finish"]
        for read in job.reads:
            seen = read.item.response
            if isinstance(seen, Snapshot):
                _whole(read.item, seen, errors, judge)
                _stable(read.item, seen, first, judge)


def _whole(item: Any, seen: Snapshot, errors: list[Any], judge: Any) -> None:
    state = seen.state
    if seen.error is not MISSING:
        fits = seen.error in errors if state in (JobState.FAILED, JobState.TIMEOUT) else seen.error == ""
        judge.check("AJT-ATOMIC-PUBLISH", fits, f"{state.value} with error {seen.error!r}", item)
    if seen.completed_at is not MISSING:
        fits = (seen.completed_at != 0) == state.terminal
        judge.check(
            "AJT-ATOMIC-PUBLISH", fits, f"{state.value} with completed_at {seen.completed_at!r}", item
        )
    if seen.submitted_at is not MISSING:
        judge.check("AJT-TIMES", _later(seen.submitted_at, 0), f"submitted_at {seen.submitted_at!r}", item)
        if seen.completed_at is not MISSING and state.terminal and seen.completed_at != 0:
            ordered = seen.completed_at == seen.submitted_at or _later(seen.completed_at, seen.submitted_at)
            judge.check("AJT-TIMES", ordered, "completed before it was submitted", item)


def _later(time: Any, other: Any) -> bool:
    return isinstance(time, (int, float)) and isinstance(other, (int, float)) and time > other


def _stable(item: Any, seen: Snapshot, first: dict[str, Any], judge: Any) -> None:
    """Terminal payload and times are the same in all reads."""
    shown = {"submitted_at": seen.submitted_at}
    if seen.state.terminal:
        shown |= {"completed_at": seen.completed_at, "error": seen.error}
    for name, value in shown.items():
        earlier = first.setdefault(name, (value, item))
        told = f"{name} {value!r} here and {earlier[0]!r} there"
        judge.check("AJT-ATOMIC-PUBLISH", earlier[0] == value, told, earlier[1], item)


class _Sweeps:
    """Answers whether some submit can have swept between two times."""

    def __init__(self, submits: list[Any]) -> None:
        submits.sort(key=lambda item: item.called)
        self._called = [item.called for item in submits]
        self._latest_return = list(accumulate((item.returned for item in submits), max))

    def possible(self, after: float, before: float) -> bool:
        """Whether a submit called by `before` had not returned at `after`."""
        count = bisect_right(self._called, before)
        return count > 0 and self._latest_return[count - 1] >= after


def nothing_is_lost(played: Any, judge: Any) -> None:
    """A job is only absent once it has ended, and expired or evicted (AJT-RET-NONTERM, AJT-RET-LAZY)."""
    facts = facts_of(played)
    sweeps = _Sweeps([*facts.accepted, *facts.rejected])
    for job_id, job in facts.jobs.items():
        for read in job.reads:
            item = read.item
            if read.state is not None or job.too_early(item):
                continue
            ended = job.may_end_from <= item.returned
            judge.check(
                "AJT-RET-NONTERM", ended, f"job {job_id!r} is gone and had not ended", job.submit, item
            )
            if ended and not _may_have_expired(played, job, item):
                swept = sweeps.possible(job.may_end_from, item.returned) or facts.open_submits > 0
                judge.check("AJT-RET-LAZY", swept, f"job {job_id!r} is gone and nothing swept", item)


def _may_have_expired(played: Any, job: JobFacts, item: Any) -> bool:
    """Whether the time to live can have passed, which reads may honour without a sweep (A13)."""
    if "job_ttl_ms" in played.missing:
        return True
    return bool(item.returned - job.may_end_from >= played.configuration["job_ttl_ms"] * 1_000_000)


def retention_is_bounded(played: Any, judge: Any) -> None:
    """After the closing submit, at most max_completed terminal jobs are readable (AJT-RET-LRU)."""
    facts = facts_of(played)
    during = max((item.called for item in played.history if not _auditing(item)), default=0)
    closing = [item for item in facts.accepted if _auditing(item) and item.called > during]
    if "max_completed" in played.missing or not closing:
        return
    bound = played.configuration["max_completed"]
    kept = {}
    for job_id, job in facts.jobs.items():
        if job.has_ended_by >= closing[-1].called:
            continue
        for read in job.reads:
            if _auditing(read.item) and read.item.called > closing[-1].returned and read.state is not None:
                kept[job_id] = read.item
    told = f"{len(kept)} terminal jobs are kept, the bound is {bound}"
    judge.check("AJT-RET-LRU", len(kept) <= bound, told, *kept.values())


def _auditing(item: Any) -> bool:
    return bool(item.client.startswith(AUDITOR))
