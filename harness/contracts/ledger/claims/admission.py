"""Claims on ids, the bound on jobs in flight, and the depth that is shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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
    """How many jobs were in flight, at least and at most, at any time of a history."""

    def __init__(self, facts: Facts) -> None:
        jobs = facts.jobs.values()
        self.may_start = sorted(job.submit.called for job in jobs)
        self.has_started = sorted(job.submit.returned for job in jobs)
        self.may_end = sorted(job.may_end_from for job in jobs)
        self.has_ended = sorted(job.has_ended_by for job in jobs)
        self.seen_ended = sorted(job.seen_ended_by for job in jobs)
        self.open = facts.open_submits

    def at_least(self, called: int, returned: int) -> int:
        """Jobs that were in flight during all of the interval."""
        return max(bisect_right(self.has_started, called) - bisect_right(self.may_end, returned), 0)

    def at_most(self, called: int, returned: int, ends: list[float]) -> int:
        """Jobs that can have been in flight at some instant of the interval."""
        return bisect_right(self.may_start, returned) - bisect_left(ends, called) + self.open


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
        most = flight.at_most(item.called, item.returned, flight.has_ended)
        judge.check(
            "AJT-ADMIT-CAS", most >= bound, f"rejected with at most {most} of {bound} slots taken", item
        )
        if most >= bound:
            most = flight.at_most(item.called, item.returned, flight.seen_ended)
            judge.check(
                "AJT-DEPTH-WHEN",
                most >= bound,
                f"rejected although a terminal state had been shown: {most} of {bound}",
                item,
            )


def depth_is_honest(played: Any, judge: Any) -> None:
    """Depth lies between what was certainly and what was possibly in flight (AJT-DEPTH-SCOPE, -ONCE)."""
    facts = facts_of(played)
    flight = Flight(facts)
    for item in facts.depths:
        least = flight.at_least(item.called, item.returned)
        most = flight.at_most(item.called, item.returned, flight.has_ended)
        judge.check(
            "AJT-DEPTH-ONCE", item.response >= least, f"depth {item.response} with {least} in flight", item
        )
        judge.check(
            "AJT-DEPTH-SCOPE", item.response <= most, f"depth {item.response}, at most {most} in flight", item
        )
