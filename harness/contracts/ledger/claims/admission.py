"""Claims on ids, the bound on jobs in flight, and the depth that is shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import Any

from harness.contracts.ledger.claims.facts import NEVER, Facts, facts_of

__all__ = ["bound_is_kept", "depth_is_honest", "ids_are_unique", "rejections_are_due"]


def ids_are_unique(played: Any, judge: Any) -> None:
    """No id is empty, and none is given twice (AJT-ID-UNIQUE)."""
    first: dict[Any, Any] = {}
    for item in facts_of(played).accepted:
        job_id = item.response.job_id
        judge.check("AJT-ID-UNIQUE", job_id is not None, "an accepted submit gave no id", item)
        earlier = first.setdefault(job_id, item)
        judge.check("AJT-ID-UNIQUE", earlier is item, f"id {job_id!r} was given twice", earlier, item)


class Flight:
    """How many jobs can have been in flight at some instant of an interval."""

    def __init__(self, facts: Facts) -> None:
        jobs = facts.jobs.values()
        self._may_start = sorted(job.submit.called for job in jobs)
        self._has_ended = sorted(job.has_ended_by for job in jobs)
        self._seen_ended = sorted(job.seen_ended_by for job in jobs)
        self._open = facts.open_submits

    def at_most(self, item: Any, seen: bool = False) -> int:
        """Jobs possibly in flight during an operation; `seen` counts an end from when it was shown."""
        ends = self._seen_ended if seen else self._has_ended
        return bisect_right(self._may_start, item.returned) - bisect_left(ends, item.called) + self._open


def _certain(facts: Facts, items: list[Any]) -> list[tuple[Any, int]]:
    """Each operation with the number of jobs that were in flight during all of it."""
    starts = sorted((job.submit.returned, job.may_end_from) for job in facts.jobs.values())
    ends: list[float] = []
    position = 0
    counted = []
    for item in sorted(items, key=lambda item: item.called):
        while position < len(starts) and starts[position][0] < item.called:
            insort(ends, starts[position][1])
            position += 1
        counted.append((item, len(ends) - bisect_right(ends, item.returned)))
    return counted


def bound_is_kept(played: Any, judge: Any) -> None:
    """Never more than max_queue jobs are certainly in flight (AJT-ADMIT-CAS)."""
    bound = played.configuration["max_queue"]
    if "max_queue" in played.missing:
        return
    facts = facts_of(played)
    events = [(job.submit.returned, 1, job) for job in facts.jobs.values()]
    events += [(job.may_end_from, 0, job) for job in facts.jobs.values() if job.may_end_from < NEVER]
    events.sort(key=lambda event: event[:2])
    flying: dict[int, Any] = {}
    for _, starts, job in events:
        if starts and job.may_end_from > job.submit.returned:
            flying[id(job)] = job
            fits = len(flying) <= bound
            evidence = () if fits else tuple(other.submit for other in flying.values())
            judge.check(
                "AJT-ADMIT-CAS",
                fits,
                f"{len(flying)} jobs were in flight at once, the bound is {bound}",
                *evidence,
            )
        elif not starts:
            flying.pop(id(job), None)
    for item in facts.depths:
        judge.check(
            "AJT-ADMIT-CAS",
            item.response <= max(bound, 0),
            f"depth {item.response}, the bound is {bound}",
            item,
        )


def rejections_are_due(played: Any, judge: Any) -> None:
    """A submit is only rejected when the table can have been full (AJT-ADMIT-CAS, AJT-DEPTH-WHEN)."""
    bound = played.configuration["max_queue"]
    if "max_queue" in played.missing:
        return
    facts = facts_of(played)
    flight = Flight(facts)
    for item in facts.rejected:
        judge.check("AJT-ADMIT-REJECT", item.response.job_id is None, "a rejected submit gave an id", item)
        most = flight.at_most(item)
        judge.check(
            "AJT-ADMIT-CAS", most >= bound, f"rejected with at most {most} of {bound} slots taken", item
        )
        if most >= bound:
            most = flight.at_most(item, seen=True)
            told = f"rejected although a terminal state had been shown: {most} of {bound}"
            evidence = () if most >= bound else _shown_and_not_returned(facts, item)
            judge.check("AJT-DEPTH-WHEN", most >= bound, told, *evidence, item)


def _shown_and_not_returned(facts: Facts, item: Any) -> tuple[Any, ...]:
    """The endings that make the difference: shown before the call, and had not returned by then."""
    pairs = [job.shown_before(item) for job in facts.jobs.values() if job.has_ended_by >= item.called]
    shown = [pair for pair in pairs if pair]
    return tuple(operation for pair in shown[-_MOST_SHOWN:] for operation in pair)


_MOST_SHOWN = 2  # jobs, of two operations each: more would push the rejection out of the evidence


def depth_is_honest(played: Any, judge: Any) -> None:
    """Depth lies between what was certainly and what was possibly in flight (AJT-DEPTH-SCOPE, -ONCE)."""
    facts = facts_of(played)
    flight = Flight(facts)
    for item, least in _certain(facts, facts.depths):
        most = flight.at_most(item)
        judge.check(
            "AJT-DEPTH-ONCE", item.response >= least, f"depth {item.response} with {least} in flight", item
        )
        judge.check(
            "AJT-DEPTH-SCOPE", item.response <= most, f"depth {item.response}, at most {most} in flight", item
        )
