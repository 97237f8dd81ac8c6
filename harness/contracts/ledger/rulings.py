"""Which responses the ledger's contract allows: one function per operation.

Each takes a state, the call's arguments and the response, and returns a `Ruling`: the states that
remain, the clauses the response was held against, and what would have been legal. Blame is part of
the answer, so that a finding can name the clause without a second reading of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.contracts.ledger import model
from harness.contracts.ledger.hints import if_absent, if_forever, if_in_other_units, if_rejected
from harness.contracts.ledger.model import Job, LedgerState
from harness.contracts.ledger.times import wrong_times
from harness.contracts.ledger.values import (
    EMPTY,
    MISSING,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
)
from harness.contracts.records import BLOCKED, Call, Raised, Ruling

__all__ = ["LedgerModel"]

PENDING, RUNNING, DONE = JobState.PENDING, JobState.RUNNING, JobState.DONE

_DEPTH_BLAME = {
    "rejected submit": "AJT-ADMIT-REJECT",
    "failed submit": "AJT-ADMIT-FAILSAFE",
    "submit": "AJT-DEPTH-ONCE",
    "run": "AJT-DEPTH-SCOPE",
    "end": "AJT-DEPTH-WHEN",
    "absorbed": "AJT-DEPTH-ONCE",
}
_OUTCOME_BLAME = {"absorbed": "AJT-TERM-ABSORB", "run": "AJT-TERM-ABSORB"}


class LedgerModel:
    """The ledger's sequential specification (catalogue sections 5.A to 5.D, resolutions 7.A)."""

    def initial(self, configuration: Mapping[str, int | None]) -> tuple[LedgerState, ...]:
        """The states of an empty ledger with these bounds."""
        return model.initial(configuration)

    def advance(self, state: LedgerState, milliseconds: int) -> LedgerState:
        """The same ledger, later."""
        return model.advance(state, milliseconds)

    def failed(self, state: LedgerState, call: Call) -> LedgerState:
        """The state after a call that raised because the harness made it fail: nothing happened."""
        return state._replace(last="failed submit") if call.operation == "submit" else state

    def blocks(self, state: LedgerState, call: Call) -> bool:
        """Whether a wait must not return in this state before its budget ends."""
        if call.operation != "wait":
            return False
        job = model.find(state, call.arguments[0])
        return job is not None and not job.state.terminal and job.state is call.arguments[1]

    def owner(self, operation: str) -> str:
        """The clause that an operation breaks when it does not answer at all."""
        return _OWN_CLAUSE[operation]

    def judge(self, state: LedgerState, call: Call, response: Any, elapsed_ms: int | None = None) -> Ruling:
        """Rule on a response; see `Ruling`."""
        if isinstance(response, Raised):
            return _raised(state, call, response)
        if call.operation == "wait":
            return _wait(state, call, response, elapsed_ms)
        if response is BLOCKED:
            clause = "AJT-UNKNOWN" if _names_no_job(state, call) else _OWN_CLAUSE[call.operation]
            return Ruling((), (clause,), "an answer; it blocked although nobody else was running")
        return _RULES[call.operation](state, call.arguments, response)


def _names_no_job(state: LedgerState, call: Call) -> bool:
    return call.operation not in ("submit", "queue_depth") and model.find(state, call.arguments[0]) is None


def _raised(state: LedgerState, call: Call, response: Raised) -> Ruling:
    clause = _OWN_CLAUSE[call.operation]
    expected = "an answer, not an exception"
    if _names_no_job(state, call):
        clause, expected = (
            "AJT-UNKNOWN",
            "the answer for an absent job, not an exception" + if_absent(response),
        )
    elif call.operation == "submit" and _full(state):
        clause, expected = (
            "AJT-ADMIT-REJECT",
            "a rejection value, not an exception (A1)" + if_rejected(response),
        )
    return Ruling((), (clause,), expected)


def _full(state: LedgerState) -> bool:
    bound = state.configuration.max_queue
    return bound is not None and state.depth >= bound


def _submit(state: LedgerState, arguments: tuple[Any, ...], response: Submission) -> Ruling:
    bound = state.configuration.max_queue
    full = _full(state)
    clause = "AJT-ADMIT-ZERO" if bound is not None and bound <= 0 else "AJT-ADMIT-CAS"
    decided = (clause,) if bound is not None else ()
    if not response.accepted:
        if bound is not None and not full:
            return Ruling(
                (),
                (_DEPTH_BLAME.get(state.last, clause),),
                f"acceptance: {state.depth} of {bound} slots are taken",
            )
        if response.job_id is not None:
            return Ruling((), ("AJT-ADMIT-REJECT",), "no id with a rejection")
        return Ruling((model.rejected(state),), (*decided, "AJT-ADMIT-REJECT"), "")
    if full:
        if state.last in ("end", "absorbed", "run") and clause == "AJT-ADMIT-CAS":
            clause = _DEPTH_BLAME[state.last]
        return Ruling((), (clause,), f"rejection: {state.depth} of {bound} slots are taken")
    if response.job_id is None or state.issued(response.job_id):
        return Ruling((), ("AJT-ID-UNIQUE",), "an id that was never given before")
    if state.last == "end":
        decided = (*decided, "AJT-DEPTH-WHEN")
    request_id, payload = arguments
    job = Job(response.job_id, request_id, payload)
    swept = tuple(after._replace(jobs=(*after.jobs, job), last="submit") for after in model.sweep(state))
    return Ruling(swept, (*decided, "AJT-ID-UNIQUE"), "")


def _lookup(
    state: LedgerState,
    job_id: Any,
    absent: bool,
    present_rule: Callable[[LedgerState, Job], Ruling],
) -> Ruling:
    """Rule by whether the job is stored: `absent` tells whether the response says that it is not."""
    job = model.find(state, job_id)
    if job is None:
        return _gone(state, job_id, absent)
    if not absent:
        return present_rule(state, job)
    if job.maybe_gone:
        return Ruling((model.without(state, job),), (), "")
    return Ruling(
        (), (_lost_blame(state, job),), f"the job, which is {job.state.value} and may not be evicted yet"
    )


def _gone(state: LedgerState, job_id: Any, absent: bool) -> Ruling:
    why = state.why_gone(job_id)
    clause = {
        "ttl": "AJT-RET-TTL",
        "ttl, then count": "AJT-RET-TTL",
        "count": "AJT-RET-LRU",
    }.get(why, "AJT-UNKNOWN")
    if absent:
        return Ruling((state,), ("AJT-UNKNOWN", clause), "")
    return Ruling(
        (),
        (clause,),
        "the answer for an absent job"
        + (f": it was evicted ({why})" + if_forever(state, why) if why else ""),
    )


def _lost_blame(state: LedgerState, job: Job) -> str:
    if not job.state.terminal:
        fresh = state.jobs[-1].id == job.id and state.last == "submit"
        return "AJT-RET-SELF" if fresh else "AJT-RET-NONTERM"
    if state.last != "submit":
        return "AJT-RET-LAZY"
    whys = {why for _, why in state.gone}
    if "ttl, then count" in whys or ("ttl" in whys and _crowded(state)):
        return "AJT-RET-ORDER-TTL-FIRST"
    return "AJT-RET-LRU" if _crowded(state) or "count" in whys else "AJT-RET-TTL"


def _crowded(state: LedgerState) -> bool:
    """Whether the retention bound was near enough to explain an eviction."""
    bound = state.configuration.max_completed
    return bound is not None and sum(job.state.terminal for job in state.jobs) + len(state.gone) > bound


def _transition_running(state: LedgerState, arguments: tuple[Any, ...], response: bool) -> Ruling:
    job = model.find(state, arguments[0])
    if job is None or (job.maybe_gone and not response):
        return _refused(state, response)
    legal = job.state is PENDING
    if response != legal:
        return Ruling((), ("AJT-RUN-FROM-PENDING",), f"{legal} from {job.state.value}")
    if not legal:
        return Ruling((state._replace(last="run"),), ("AJT-RUN-FROM-PENDING",), "")
    return Ruling((state.replace_job(job._replace(state=RUNNING), "run"),), ("AJT-RUN-FROM-PENDING",), "")


def _refused(state: LedgerState, response: bool) -> Ruling:
    if response:
        return Ruling((), ("AJT-UNKNOWN",), "False for an absent job")
    return Ruling((state,), ("AJT-UNKNOWN",), "")


def _end(ending: JobState) -> Callable[[LedgerState, tuple[Any, ...], bool], Ruling]:
    def rule(state: LedgerState, arguments: tuple[Any, ...], response: bool) -> Ruling:
        job_id, outcome = arguments
        job = model.find(state, job_id)
        if job is None or (job.maybe_gone and not response):
            return _refused(state, response)
        if job.state.terminal:
            if response:
                return Ruling((), ("AJT-TERM-ABSORB",), f"False: the job is {job.state.value} already")
            return Ruling((state._replace(last="absorbed"),), ("AJT-TERM-ABSORB",), "")
        if not response:
            return Ruling((), ("AJT-TERM-ANY",), f"True from {job.state.value}")
        completions = (
            state.completions + state.by_completion
        )  # a number that nobody reads would tell states apart
        ended = job._replace(
            state=ending,
            outcome=outcome,
            completed_at=state.now,
            completion=completions if state.by_completion else 0,
        )
        after = state.replace_job(ended, "end")._replace(completions=completions)
        return Ruling((after,), ("AJT-TERM-ANY",), "")

    return rule


def _take_request(state: LedgerState, arguments: tuple[Any, ...], response: TakenRequest | None) -> Ruling:
    def present(state: LedgerState, job: Job) -> Ruling:
        assert response is not None
        clause = ("AJT-TAKE-REQUEST",)
        payload = EMPTY if job.taken else job.payload
        if response.request_id is not MISSING and response.request_id != job.request_id:
            return Ruling((), clause, f"request id {job.request_id!r}")
        if response.payload != payload:
            return Ruling((), clause, f"payload {payload!r}" + (": it was taken before" if job.taken else ""))
        return Ruling((state.replace_job(job._replace(taken=True)),), clause, "")

    ruling = _lookup(state, arguments[0], response is None, present)
    job = model.find(state, arguments[0])
    if not ruling.states and job is not None and job.taken and response is None:
        return Ruling((), ("AJT-TAKE-REQUEST",), f"request id {job.request_id!r} again, without the payload")
    return ruling


def _snapshot(state: LedgerState, arguments: tuple[Any, ...], response: Snapshot | None) -> Ruling:
    def present(state: LedgerState, job: Job) -> Ruling:
        assert response is not None
        return _observe(state, job, response)

    return _lookup(state, arguments[0], response is None, present)


def _observe(state: LedgerState, job: Job, seen: Snapshot) -> Ruling:
    """Hold a snapshot against a stored job."""
    blame = _OUTCOME_BLAME.get(state.last, "")
    if seen.state is not job.state:
        clause = blame if job.state.terminal and blame else "AJT-STATE-ATOMIC"
        return Ruling((), (clause,), f"state {job.state.value}")
    error = job.outcome if job.state.terminal and job.state is not DONE else ""
    if seen.error is not MISSING and seen.error != error:
        return Ruling((), (blame or "AJT-ATOMIC-PUBLISH",), f"error {error!r}")
    wrong = wrong_times(job, seen)
    if wrong:
        moved = job.shown_completed is not None and wrong.startswith("completed_at")
        return Ruling((), (blame if moved and blame else "AJT-TIMES",), wrong)
    shown = job
    if seen.submitted_at is not MISSING:
        shown = shown._replace(shown_submitted=seen.submitted_at)
    if seen.completed_at is not MISSING and job.state.terminal:
        shown = shown._replace(shown_completed=seen.completed_at)
    clauses = ["AJT-STATE-ATOMIC"]
    if seen.error is not MISSING and seen.completed_at is not MISSING:
        clauses.append("AJT-ATOMIC-PUBLISH")
    if MISSING not in (seen.submitted_at, seen.completed_at):
        clauses.append("AJT-TIMES")
    if job.state.terminal and state.last == "absorbed":
        clauses.append("AJT-TERM-ABSORB")
    clauses.extend(_kept_clauses(state, job))
    return Ruling((state if shown == job else state.replace_job(shown),), tuple(clauses), "")


def _kept_clauses(state: LedgerState, job: Job) -> list[str]:
    """The retention clauses that seeing this job stored bears on."""
    if state.last != "submit":
        return ["AJT-RET-LAZY"] if job.state.terminal else []
    if not job.state.terminal:
        return ["AJT-RET-SELF"] if state.jobs[-1].id == job.id else ["AJT-RET-NONTERM"]
    mixed = any(why == "ttl, then count" for _, why in state.gone) or any(
        why == "ttl" for _, why in state.gone
    )
    return ["AJT-RET-LRU", "AJT-RET-TTL"] + (["AJT-RET-ORDER-TTL-FIRST"] if mixed else [])


def _wait(state: LedgerState, call: Call, response: Any, elapsed_ms: int | None) -> Ruling:
    job_id, initial, budget = call.arguments
    job = model.find(state, job_id)
    blocking = job is not None and not job.state.terminal and job.state is initial
    clause = "AJT-WAIT-BUDGET" if blocking else "AJT-WAIT-COND" if job else "AJT-UNKNOWN"
    if response is BLOCKED:
        if blocking and budget <= 0:
            return Ruling((state,), ("AJT-WAIT-BUDGET",), "")
        return Ruling((), (clause,), "an answer; it blocked for ever")
    if job is None and elapsed_ms:
        return Ruling((), (clause,), f"the answer for an absent job at once, not after {elapsed_ms} ms")
    if job is None or (response is None and job.maybe_gone):
        return _snapshot(state, (job_id,), response)
    if blocking:
        if budget <= 0:
            return Ruling((), (clause,), "no answer before the state changes: the budget is unbounded")
        if response is None:
            return Ruling((), (clause,), f"the current snapshot when {budget} ms have passed, not 'absent'")
        if response.state is not job.state:
            return Ruling(
                (), (clause,), f"the state as it is, {job.state.value}, when {budget} ms have passed"
            )
        if elapsed_ms is not None and not budget - 1 <= elapsed_ms <= budget + 1:
            hint = if_in_other_units(budget, elapsed_ms)
            return Ruling((), (clause,), f"an answer after {budget} ms, not after {elapsed_ms} ms{hint}")
    elif elapsed_ms:
        return Ruling((), (clause,), f"an answer at once, not after {elapsed_ms} ms")
    ruling = _snapshot(state, (job_id,), response)
    return ruling._replace(clauses=(clause, *ruling.clauses)) if ruling.states else ruling


def _take_result(state: LedgerState, arguments: tuple[Any, ...], response: ResultView) -> Ruling:
    def present(state: LedgerState, job: Job) -> Ruling:
        clause = ("AJT-TAKE-RESULT",)
        status = "READY" if job.state is DONE else "NOT_DONE"
        if response.status != status:
            return Ruling((), clause, f"{status}: the job is {job.state.value}")
        if status == "NOT_DONE":
            if response.state not in (MISSING, job.state):
                return Ruling((), clause, f"NOT_DONE with {job.state.value}")
        elif response.result != job.outcome:
            blame = _OUTCOME_BLAME.get(state.last, "AJT-TAKE-RESULT")
            return Ruling((), (blame,), f"the result {job.outcome!r}")
        elif response.request_id not in (MISSING, job.request_id):
            return Ruling((), clause, f"request id {job.request_id!r}")
        return Ruling((state,), clause, "")

    return _lookup(state, arguments[0], response.status == "NOT_FOUND", present)


def _queue_depth(state: LedgerState, arguments: tuple[Any, ...], response: int) -> Ruling:
    if response != state.depth:
        blame = _DEPTH_BLAME.get(state.last, "AJT-DEPTH-SCOPE")
        if blame == "AJT-DEPTH-WHEN" and response < state.depth:
            blame = "AJT-DEPTH-ONCE"
        return Ruling((), (blame,), f"depth {state.depth}")
    return Ruling((state,), ("AJT-DEPTH-SCOPE", _DEPTH_BLAME.get(state.last, "AJT-DEPTH-SCOPE")), "")


_RULES: dict[str, Callable[[LedgerState, tuple[Any, ...], Any], Ruling]] = {
    "submit": _submit,
    "transition_running": _transition_running,
    "finish": _end(JobState.DONE),
    "fail": _end(JobState.FAILED),
    "timeout": _end(JobState.TIMEOUT),
    "take_request": _take_request,
    "snapshot": _snapshot,
    "take_result": _take_result,
    "queue_depth": _queue_depth,
}

_OWN_CLAUSE = {
    "submit": "AJT-ADMIT-CAS",
    "transition_running": "AJT-RUN-FROM-PENDING",
    "finish": "AJT-TERM-ANY",
    "fail": "AJT-TERM-ANY",
    "timeout": "AJT-TERM-ANY",
    "take_request": "AJT-TAKE-REQUEST",
    "snapshot": "AJT-STATE-ATOMIC",
    "wait": "AJT-WAIT-COND",
    "take_result": "AJT-TAKE-RESULT",
    "queue_depth": "AJT-DEPTH-SCOPE",
}
