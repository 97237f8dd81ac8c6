"""Claims on payloads, results and waits."""

from __future__ import annotations

import time
from typing import Any

from harness.contracts.ledger.claims.facts import JobFacts, facts_of
from harness.contracts.ledger.values import EMPTY, MISSING, ResultView

__all__ = ["payload_leaves_once", "results_are_right", "waits_are_right"]

_ROUNDING_NS = 2_000_000


def _earliness_ns() -> int:
    """How much sooner than its budget a right wait may seem to end.

    We measure with the finest clock; implementations take their deadlines from the monotonic one, which
    may tick every 15.6 ms. Who reads it just before a tick sees the budget pass almost a tick too soon;
    rounding to milliseconds comes on top.
    """
    return _ROUNDING_NS + round(time.get_clock_info("monotonic").resolution * 1_000_000_000)


def payload_leaves_once(played: Any, judge: Any) -> None:
    """One taker gets the payload that was submitted; all get the request id (AJT-TAKE-REQUEST)."""
    for job_id, job in facts_of(played).jobs.items():
        request_id, payload = job.submit.arguments
        answered = [item for item in job.takes if item.response is not None]
        given = [item for item in answered if item.response.payload is not EMPTY]
        judge.check(
            "AJT-TAKE-REQUEST", len(given) <= 1, f"the payload of {job_id!r} was handed out twice", *given
        )
        if answered and not given and not job.open_takes:
            judge.check("AJT-TAKE-REQUEST", False, f"nobody got the payload of {job_id!r}", *answered)
        for item in given:
            same = item.response.payload == payload
            judge.check(
                "AJT-TAKE-REQUEST",
                same,
                f"payload {item.response.payload!r}, submitted {payload!r}",
                job.submit,
                item,
            )
        for item in answered:
            same = item.response.request_id in (MISSING, request_id)
            judge.check(
                "AJT-TAKE-REQUEST", same, f"request id {item.response.request_id!r}, not {request_id!r}", item
            )
        if not answered:
            _absent_too_early(job_id, job, judge)


def _absent_too_early(job_id: Any, job: JobFacts, judge: Any) -> None:
    for item in job.takes:
        due = job.may_end_from <= item.returned or job.too_early(item)
        judge.check("AJT-RET-NONTERM", due, f"job {job_id!r} is gone and had not ended", job.submit, item)


def results_are_right(played: Any, judge: Any) -> None:
    """READY has the result that ended the job, every time (AJT-TAKE-RESULT)."""
    for job in facts_of(played).jobs.values():
        results = [item.arguments[1] for item in job.attempts if item.operation == "finish"]
        first: Any = None
        for read in job.reads:
            view = read.item.response
            if not isinstance(view, ResultView):
                continue
            if view.status == "NOT_DONE":
                honest = read.state is None or read.state.value != "DONE"
                judge.check("AJT-TAKE-RESULT", honest, "NOT_DONE for a job that is DONE", read.item)
            elif view.status == "READY":
                judge.check(
                    "AJT-TAKE-RESULT",
                    view.result in results,
                    f"result {view.result!r} was never given",
                    read.item,
                )
                first = first or read.item
                same = first.response.result == view.result
                judge.check("AJT-TAKE-RESULT", same, "two reads gave different results", first, read.item)
                echoed = view.request_id in (MISSING, job.submit.arguments[0])
                judge.check(
                    "AJT-TAKE-RESULT", echoed, f"request id {view.request_id!r}", job.submit, read.item
                )


def waits_are_right(played: Any, judge: Any) -> None:
    """A wait answers with a changed state, or with the current one when its budget is over (AJT-WAIT-*)."""
    earliness = _earliness_ns()
    for item in facts_of(played).waits:
        _, initial, budget = item.arguments
        seen = item.response
        if seen is None or seen.state is not initial or seen.state.terminal:
            judge.check("AJT-WAIT-COND", True)
            continue
        if budget <= 0:
            judge.check(
                "AJT-WAIT-BUDGET", False, f"an unbounded wait answered {seen.state.value}, unchanged", item
            )
            continue
        spent = item.returned - item.called + earliness
        judge.check(
            "AJT-WAIT-COND",
            spent >= budget * 1_000_000,
            "answered before the change and before the budget",
            item,
        )
