"""A small job ledger, eight one-bug variants of it, and two forms of test for each.

The *natural* form is two tasks aimed at the bug; the *generic* form three tasks and eleven operations
that know nothing of it, with all invariants checked at the end. The repaired twin of every variant is
the ledger itself, in the same form.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.explore.program import Program

__all__ = ["VARIANTS", "Variant"]

OPEN = ("pending", "running")


class Job:
    """A record of the ledger."""

    def __init__(self, number: int, payload: str) -> None:
        self.number = number
        self.payload: str | None = payload
        self.state = "pending"
        self.result: str | None = None
        self.closed = 0


class Table:
    """The correct ledger: one lock, one condition on it, a bound on open jobs and on closed ones."""

    def __init__(self, bound: int = 4, kept: int = 8) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.audit_lock = threading.Lock()
        self.bound, self.kept = bound, kept
        self.jobs: dict[int, Job] = {}
        self.depth = 0
        self.next_number = 0
        self.most = 0
        self.given: list[int] = []
        self.handed: list[str] = []
        self.log: list[str] = []

    def submit(self, payload: str) -> int | None:
        """Admit a job; its number, None if the table is full."""
        with self.lock:
            if self.depth >= self.bound:
                return None
            self.depth += 1
            self.most = max(self.most, self.depth)
            number = self.take_number()
            self.given.append(number)
            self.jobs[number] = Job(number, payload)
            self.evict()
            return number

    def take_number(self) -> int:
        """The next number; the lock is held."""
        self.next_number += 1
        return self.next_number

    def take(self, number: int) -> str | None:
        """Hand out a job's payload, once."""
        with self.lock:
            job = self.jobs.get(number)
            if job is None or job.payload is None:
                return None
            payload, job.payload = job.payload, None
            self.handed.append(payload)
            return payload

    def close(self, number: int, state: str, result: str | None) -> bool:
        """End a job; true for the first who does."""
        with self.lock:
            job = self.jobs.get(number)
            if job is None or job.state not in OPEN:
                return False
            self.publish(job, state, result)
            return True

    def publish(self, job: Job, state: str, result: str | None) -> None:
        """Store the end of a job and tell the waiters; the lock is held."""
        job.result = result
        job.state = state
        job.closed += 1
        self.depth -= 1
        self.changed.notify_all()

    def finish(self, number: int) -> bool:
        """End a job with a result."""
        return self.close(number, "done", f"result-{number}")

    def timeout(self, number: int) -> bool:
        """End a job without one."""
        return self.close(number, "timeout", None)

    def wait(self, number: int) -> str | None:
        """Wait until a job has ended; its result."""
        with self.changed:
            job = self.jobs.get(number)
            while job is not None and job.state in OPEN:
                self.changed.wait()
            return None if job is None else job.result

    def look(self, number: int) -> tuple[str, str | None] | None:
        """State and result, without the lock; the result is there before the state says so."""
        job = self.jobs.get(number)
        if job is None:
            return None
        state = job.state
        return state, job.result

    def evict(self) -> None:
        """Forget the oldest ended jobs beyond `kept`; the lock is held."""
        ended = [job for job in self.jobs.values() if job.state not in OPEN]
        for job in ended[: max(0, len(ended) - self.kept)]:
            del self.jobs[job.number]

    def report(self) -> int:
        """Write the depth to the audit log: the audit lock inside the table's."""
        with self.lock:
            with self.audit_lock:
                self.log.append(str(self.depth))
                return self.depth

    def audit(self) -> int:
        """Read the log and the depth together: the same order of locks."""
        with self.lock:
            with self.audit_lock:
                return len(self.log) + self.depth


class StateBeforeResult(Table):
    """D1: the state is published before the result."""

    def publish(self, job: Job, state: str, result: str | None) -> None:
        job.state = state
        job.result = result
        job.closed += 1
        self.depth -= 1
        self.changed.notify_all()


class CheckThenIncrement(Table):
    """D2: the bound is checked in one critical section and the depth raised in the next."""

    def submit(self, payload: str) -> int | None:
        with self.lock:
            if self.depth >= self.bound:
                return None
        with self.lock:
            self.depth += 1
            self.most = max(self.most, self.depth)
            number = self.take_number()
            self.given.append(number)
            self.jobs[number] = Job(number, payload)
            self.evict()
            return number


class NotifyElsewhere(Table):
    """D4: waiters check the state under one lock and are notified under another."""

    def __init__(self, bound: int = 4, kept: int = 8) -> None:
        super().__init__(bound, kept)
        self.changed = threading.Condition()

    def publish(self, job: Job, state: str, result: str | None) -> None:
        job.result = result
        job.state = state
        job.closed += 1
        self.depth -= 1

    def close(self, number: int, state: str, result: str | None) -> bool:
        with self.changed:
            self.changed.notify_all()
        return super().close(number, state, result)


class EndsTwice(Table):
    """M5: whether a job is open is tested before the lock is taken, so two ends count."""

    def close(self, number: int, state: str, result: str | None) -> bool:
        job = self.jobs.get(number)
        if job is None or job.state not in OPEN:
            return False
        with self.lock:
            self.publish(job, state, result)
            return True


class NumbersOutside(Table):
    """M6: numbers are counted without the lock."""

    def submit(self, payload: str) -> int | None:
        number = self.take_number()
        with self.lock:
            if self.depth >= self.bound:
                return None
            self.depth += 1
            self.most = max(self.most, self.depth)
            self.given.append(number)
            self.jobs[number] = Job(number, payload)
            self.evict()
            return number


class EvictsLive(Table):
    """M7: eviction notes the places of its victims in one critical section and deletes in the next."""

    def submit(self, payload: str) -> int | None:
        number = super().submit(payload)
        with self.lock:
            ended = [place for place, job in enumerate(self.jobs.values()) if job.state not in OPEN]
            victims = ended[: max(0, len(ended) - self.kept)]
        with self.lock:
            numbers = list(self.jobs)
            for place in victims:
                if place < len(numbers):
                    self.jobs.pop(numbers[place], None)
        return number

    def evict(self) -> None:
        """Left to `submit`."""


class HandsOutTwice(Table):
    """M8: the payload is looked at before the lock is taken."""

    def take(self, number: int) -> str | None:
        job = self.jobs.get(number)
        if job is None or job.payload is None:
            return None
        payload = job.payload
        with self.lock:
            job.payload = None
            self.handed.append(payload)
            return payload


class LocksInverted(Table):
    """M9: the audit takes the two locks the other way round."""

    def audit(self) -> int:
        with self.audit_lock:
            with self.lock:
                return len(self.log) + self.depth


class Case:
    """The state of one execution."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.first = table.submit("payload-0")
        table.finish(table.submit("payload-ended") or 0)
        self.ends: list[bool] = []
        self.seen: list[Any] = []
        self.numbers: list[int | None] = [self.first]


def finish_first(case: Case) -> None:
    case.ends.append(case.table.finish(case.first or 0))


def timeout_first(case: Case) -> None:
    case.ends.append(case.table.timeout(case.first or 0))


def look_first(case: Case) -> None:
    case.seen.append(case.table.look(case.first or 0))


def wait_first(case: Case) -> None:
    case.seen.append(("done", case.table.wait(case.first or 0)))


def take_first(case: Case) -> None:
    case.table.take(case.first or 0)


def submit_one(case: Case) -> None:
    case.numbers.append(case.table.submit("payload-1"))


def submit_and_finish(case: Case) -> None:
    number = case.table.submit("payload-2")
    case.numbers.append(number)
    if number is not None:
        case.ends.append(case.table.finish(number))


def report_depth(case: Case) -> None:
    case.table.report()


def read_audit(case: Case) -> None:
    case.table.audit()


def client_one(case: Case) -> None:
    """Four of the eleven operations."""
    submit_one(case)
    take_first(case)
    finish_first(case)
    read_audit(case)


def client_two(case: Case) -> None:
    """Four more."""
    look_first(case)
    take_first(case)
    timeout_first(case)
    submit_one(case)


def client_three(case: Case) -> None:
    """The last three."""
    report_depth(case)
    wait_first(case)
    submit_and_finish(case)


def all_invariants(case: Case) -> None:
    """What holds of a correct table when every client has left."""
    table = case.table
    accepted = [number for number in case.numbers if number is not None]
    assert len(set(accepted)) == len(accepted), f"numbers given twice: {accepted}"
    assert len(set(table.given)) == len(table.given), f"numbers given twice: {table.given}"
    assert table.most <= table.bound, f"{table.most} jobs were open at once, the bound is {table.bound}"
    assert len(set(table.handed)) == len(table.handed), f"payloads handed out twice: {table.handed}"
    open_jobs = [job for job in table.jobs.values() if job.state in OPEN]
    assert all(job.closed <= 1 for job in table.jobs.values()), "a job was closed twice"
    lost = [number for number in accepted if number not in table.jobs]
    ended = len([number for number in accepted if number in table.jobs]) - len(open_jobs)
    assert table.depth == len(open_jobs), (
        f"depth is {table.depth}, {len(open_jobs)} jobs are open ({ended} ended, {len(lost)} evicted)"
    )
    for seen in case.seen:
        if seen is not None and seen[0] == "done" and seen[1] is None:
            timed_out = table.jobs.get(case.first or 0)
            assert timed_out is None or timed_out.state == "timeout", "a finished job had no result"


@dataclass(frozen=True)
class Variant:
    """One bug in both forms, with the forms on the correct table."""

    name: str
    about: str
    finding: str
    natural: Program
    natural_repaired: Program
    generic: Program
    generic_repaired: Program


def _setup(kind: type[Table], bound: int, kept: int) -> Callable[[], Case]:
    def setup() -> Case:
        return Case(kind(bound, kept))

    return setup


def _variant(
    name: str,
    kind: type[Table],
    tasks: tuple[Callable[[Case], None], ...],
    bound: int = 4,
    kept: int = 8,
    finding: str = "invariant",
) -> Variant:
    clients = (client_one, client_two, client_three)
    generic_bound = 2 if kind is CheckThenIncrement else 4
    generic_kept = 0 if kind is EvictsLive else 8

    def program(form: str, table: type[Table], tasks: Any, bound: int, kept: int) -> Program:
        return Program(f"{name} {form}", _setup(table, bound, kept), tasks, all_invariants)

    return Variant(
        name=name,
        about=(kind.__doc__ or "").strip(),
        finding=finding,
        natural=program("natural", kind, tasks, bound, kept),
        natural_repaired=program("natural, repaired", Table, tasks, bound, kept),
        generic=program("generic", kind, clients, generic_bound, generic_kept),
        generic_repaired=program("generic, repaired", Table, clients, generic_bound, generic_kept),
    )


VARIANTS = (
    _variant("D1", StateBeforeResult, (finish_first, look_first)),
    _variant("D2", CheckThenIncrement, (submit_one, submit_one), bound=2),
    _variant("D4", NotifyElsewhere, (wait_first, finish_first), finding="deadlock"),
    _variant("M5", EndsTwice, (finish_first, timeout_first)),
    _variant("M6", NumbersOutside, (submit_one, submit_one)),
    _variant("M7", EvictsLive, (submit_one, submit_one), kept=0),
    _variant("M8", HandsOutTwice, (take_first, take_first)),
    _variant("M9", LocksInverted, (report_depth, read_audit), finding="deadlock"),
)
