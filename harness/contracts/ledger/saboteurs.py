"""Planted bugs for the canary: they wrap the user's own implementation, whatever it is.

A gate that cannot find these, with the same adapter and the same settings, could not have found a
real bug either; its green would mean nothing.
"""

from __future__ import annotations

import time
from typing import Any

__all__ = ["SABOTEURS"]


def _second_finish_accepted(subject: Any) -> Any:
    """A sequential bug: finishing a finished job is reported as a success (AJT-TERM-ABSORB)."""
    finish = subject.calls["finish"]
    ended: set[Any] = set()

    def sabotaged(job_id: Any, result: Any) -> Any:
        answer = finish(job_id, result)
        if answer is True:
            ended.add(job_id)
        return job_id in ended or answer

    subject.calls["finish"] = sabotaged
    return subject


def _racing_finish(subject: Any) -> Any:
    """A race: whether the job has ended is tested, and noted, in two steps (AJT-TERM-ONCE-STRESS)."""
    finish = subject.calls["finish"]
    ended: set[Any] = set()

    def sabotaged(job_id: Any, result: Any) -> Any:
        if job_id in ended:
            return False
        time.sleep(0)
        ended.add(job_id)
        return finish(job_id, result) or True

    subject.calls["finish"] = sabotaged
    return subject


def _overlapping_finish(subject: Any) -> Any:
    """The same race, its two steps apart by a look at the job, which is a scheduling point."""
    finish, snapshot = subject.calls["finish"], subject.calls["snapshot"]
    ended: set[Any] = set()

    def sabotaged(job_id: Any, result: Any) -> Any:
        if job_id in ended:
            return False
        snapshot(job_id)
        ended.add(job_id)
        return finish(job_id, result) or True

    subject.calls["finish"] = sabotaged
    return subject


SABOTEURS = {
    "sequential": _second_finish_accepted,
    "interleavings": _overlapping_finish,
    "stress": _racing_finish,
}
