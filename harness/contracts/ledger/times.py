"""What the two times of a snapshot may be: in any unit, but in order, and as they were shown before."""

from __future__ import annotations

from typing import Any

from harness.contracts.ledger.model import Job
from harness.contracts.ledger.values import MISSING, Snapshot

__all__ = ["wrong_times"]


def wrong_times(job: Job, seen: Snapshot) -> str:
    """What the times should have been, in words; empty if they may be so."""
    if seen.submitted_at is not MISSING:
        if not _positive(seen.submitted_at):
            return "submitted_at > 0"
        if job.shown_submitted not in (None, seen.submitted_at):
            return f"submitted_at {job.shown_submitted!r}, as shown before"
    if seen.completed_at is MISSING:
        return ""
    if not job.state.terminal:
        return "" if seen.completed_at == 0 else "completed_at 0 until the job is terminal"
    if not _positive(seen.completed_at):
        return "completed_at > 0 on a terminal job"
    if seen.submitted_at is not MISSING and seen.completed_at < seen.submitted_at:
        return f"completed_at not before submitted_at ({seen.submitted_at!r})"
    if job.shown_completed not in (None, seen.completed_at):
        return f"completed_at {job.shown_completed!r}, as shown before"
    return ""


def _positive(time: Any) -> bool:
    return isinstance(time, (int, float)) and time > 0
