"""What every role of the ledger's scenarios does: submit, end, and look around afterwards."""

from __future__ import annotations

from typing import Any

from harness.contracts.ledger.claims import facts_of
from harness.contracts.ledger.values import JobState
from harness.scenario import Round, Strand

__all__ = ["ENDINGS", "PENDING", "RUNNING", "bounds", "close", "end", "rejected_once", "state_of", "submit"]

PENDING, RUNNING = JobState.PENDING, JobState.RUNNING
ENDINGS = ("finish", "fail", "timeout")


def submit(strand: Strand) -> Any:
    """Submit a job; its id, or None if it was rejected."""
    answer = strand.system.submit(strand.fresh("request"), strand.fresh("payload"))
    return getattr(answer, "job_id", None) if getattr(answer, "accepted", False) else None


def end(strand: Strand, job_id: Any, ending: str = "finish") -> Any:
    """End a job, by another ending if the implementation lacks this one."""
    if not strand.offers(ending):
        ending = "finish"
    return getattr(strand.system, ending)(job_id, strand.fresh("result" if ending == "finish" else "error"))


def state_of(seen: Any) -> Any:
    """The state in a snapshot, None if there is none."""
    return getattr(seen, "state", None)


def bounds(max_queue: int = 8, max_completed: int = 100) -> dict[str, int]:
    """A configuration whose time to live no scenario outlives."""
    return {"max_queue": max_queue, "job_ttl_ms": 300_000, "max_completed": max_completed}


def close(strand: Strand) -> None:
    """End what is still open, look at everything, submit once more and look again."""
    ids = [
        item.response.job_id
        for item in strand.shared.history
        if item.operation == "submit" and getattr(item.response, "accepted", False)
    ]
    ids += getattr(strand.shared, "jobs", [])
    ids = list(dict.fromkeys(ids))
    for job_id in ids:
        if not getattr(state_of(strand.system.snapshot(job_id)), "terminal", True):
            end(strand, job_id)
    if strand.offers("queue_depth"):
        strand.system.queue_depth()
    for job_id in ids:
        strand.system.snapshot(job_id)
        if strand.offers("take_result"):
            strand.system.take_result(job_id)
    last = submit(strand)
    for job_id in ids:
        strand.system.snapshot(job_id)
    if last is not None:
        end(strand, last)
    if strand.offers("queue_depth"):
        strand.system.queue_depth()


def rejected_once(played: Round) -> bool:
    """Whether the table was seen full."""
    return bool(facts_of(played).rejected)
