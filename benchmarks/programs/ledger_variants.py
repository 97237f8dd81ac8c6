"""The eight one-bug ledgers as programs: one aimed at its bug, one that uses everything.

`natural` has two tasks of one or two operations, what somebody writes who suspects the bug. `generic`
is the same for all: three tasks, eleven operations, and every claim is checked at the end. A task keeps
what it was told in a list of its own and hands it in when it is through, so that the test adds no races.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.programs.small_ledger import LEDGERS
from harness.explore.program import Program

__all__ = ["VARIANTS", "Desk", "Variant", "check_all_closed", "check_books", "generic"]

Told = list[tuple[str, Any, Any]]


@dataclass(frozen=True)
class Variant:
    """A bug as two programs with their repaired twins.

    `finding` is the kind that both buggy programs must lead to, `message` a fragment of what the natural
    one says; the generic one often shows another symptom of the same bug first.
    """

    name: str
    about: str
    finding: str
    message: str
    natural: Program
    natural_repaired: Program
    generic: Program
    generic_repaired: Program


class Desk:
    """A ledger with some jobs in it, and what each task was told: (operation, job id, answer)."""

    def __init__(self, ledger: str, capacity: int = 4, keep: int = 4, jobs: int = 1, ended: int = 0) -> None:
        self.ledger = LEDGERS[ledger](capacity, keep)
        self.told: dict[str, Told] = {}
        before: Told = [("submit", None, self.ledger.submit()) for _ in range(jobs)]
        before += [("finish", job, self.ledger.finish(job, "payload")) for job in range(1, ended + 1)]
        self.told["before"] = before


def check_books(desk: Desk) -> None:
    """Raises AssertionError for whatever the ledger's answers and its books say of a broken claim."""
    ledger = desk.ledger
    told = [entry for entries in desk.told.values() for entry in entries]
    accepted = [answer for name, _, answer in told if name == "submit" and answer is not None]
    assert len(set(accepted)) == len(accepted), f"two jobs share an id: {accepted}"
    closings = Counter(job for name, job, answer in told if name in {"finish", "time out"} and answer)
    assert all(count == 1 for count in closings.values()), f"a job was closed twice: {dict(closings)}"
    seen = [answer for name, _, answer in told if name == "wait" and answer is not None]
    assert all(payload is not None for _, payload in seen), f"an ended job without its payload: {seen}"
    taken = Counter(job for name, job, answer in told if name == "take" and answer is not None)
    assert all(count == 1 for count in taken.values()), f"a payload was handed out twice: {dict(taken)}"
    assert ledger.peak <= ledger.capacity, f"{ledger.peak} live jobs exceed the capacity {ledger.capacity}"
    live = [job for job in accepted if job not in closings]
    assert all(job in ledger.jobs for job in live), f"a live job was evicted: {live} are live"
    assert ledger.depth == len(live), f"the depth is {ledger.depth}, and {len(live)} jobs are live"


def check_all_closed(desk: Desk) -> None:
    """As `check_books`, and every accepted job was closed by somebody; raises AssertionError."""
    check_books(desk)
    assert desk.ledger.depth == 0, f"{desk.ledger.depth} jobs were never closed"


def submit_one(desk: Desk, task: str) -> None:
    """One operation."""
    desk.told[task] = [("submit", None, desk.ledger.submit())]


def finish_one(desk: Desk, task: str, job: int = 1) -> None:
    """One operation."""
    desk.told[task] = [("finish", job, desk.ledger.finish(job, "payload"))]


def time_out_first(desk: Desk, task: str) -> None:
    """One operation."""
    desk.told[task] = [("time out", 1, desk.ledger.time_out(1))]


def wait_for_first(desk: Desk, task: str) -> None:
    """One operation."""
    desk.told[task] = [("wait", 1, desk.ledger.wait(1))]


def take_first(desk: Desk, task: str) -> None:
    """One operation."""
    desk.told[task] = [("take", 1, desk.ledger.take(1))]


def _submitted(desk: Desk, told: Told) -> int | None:
    own = desk.ledger.submit()
    told.append(("submit", None, own))
    return own


def _finished(desk: Desk, told: Told, job: int | None) -> None:
    if job is not None:
        told.append(("finish", job, desk.ledger.finish(job, "payload")))


def play_finisher(desk: Desk) -> None:
    """Three operations: submit, finish the first job, finish one's own."""
    told: Told = []
    own = _submitted(desk, told)
    _finished(desk, told, 1)
    _finished(desk, told, own)
    desk.told["finisher"] = told


def play_reaper(desk: Desk) -> None:
    """Four operations: submit, time the first job out, try to take its payload, finish one's own."""
    told: Told = []
    own = _submitted(desk, told)
    told.append(("time out", 1, desk.ledger.time_out(1)))
    told.append(("take", 1, desk.ledger.take(1)))
    _finished(desk, told, own)
    desk.told["reaper"] = told


def play_client(desk: Desk) -> None:
    """Four operations: submit, wait for the first job, try to take its payload, finish one's own."""
    told: Told = []
    own = _submitted(desk, told)
    told.append(("wait", 1, desk.ledger.wait(1)))
    told.append(("take", 1, desk.ledger.take(1)))
    _finished(desk, told, own)
    desk.told["client"] = told


def generic(ledger: str) -> Program:
    """Three tasks and eleven operations on the ledger of this name; there are two slots for three jobs."""
    return Program(
        name=f"{ledger}-generic",
        setup=partial(Desk, ledger, capacity=3, keep=1),
        tasks=(play_finisher, play_reaper, play_client),
        check=check_all_closed,
        task_names=("finisher", "reaper", "client"),
    )


def _variant(name: str, about: str, message: str, first: Any, second: Any, **desk: int) -> Variant:
    def natural(ledger: str) -> Program:
        return Program(
            name=f"{ledger}-natural" if ledger == name else f"{name}-natural-{ledger}",
            setup=partial(Desk, ledger, **desk),
            tasks=(partial(first, task="first"), partial(second, task="second")),
            check=check_books,
            task_names=("first", "second"),
        )

    twin = "audited" if name == "M9" else "correct"
    return Variant(
        name=name,
        about=about,
        finding="invariant" if message else "lost wakeup" if name == "D4" else "deadlock",
        message=message,
        natural=natural(name),
        natural_repaired=natural(twin),
        generic=generic(name),
        generic_repaired=generic(twin),
    )


VARIANTS = (
    _variant(
        "D1",
        "The state of a job is published before its payload.",
        "without its payload",
        finish_one,
        wait_for_first,
    ),
    _variant(
        "D2",
        "The depth is checked in one critical section and incremented in the next.",
        "exceed the capacity",
        submit_one,
        submit_one,
        capacity=1,
        jobs=0,
    ),
    _variant(
        "D4",
        "Waiters are notified under another lock than the one under which they look.",
        "",
        finish_one,
        wait_for_first,
    ),
    _variant(
        "M5",
        "A finish that races a timeout gives the slot back a second time.",
        "closed twice",
        finish_one,
        time_out_first,
    ),
    _variant(
        "M6",
        "Job ids are counted without the lock.",
        "share an id",
        submit_one,
        submit_one,
        jobs=0,
    ),
    _variant(
        "M7",
        "Two evictions for one job too many remove the oldest job twice, and the second one is live.",
        "a live job was evicted",
        finish_one,
        partial(finish_one, job=3),
        keep=1,
        jobs=3,
    ),
    _variant(
        "M8",
        "Two who take the payload of a job both get it.",
        "handed out twice",
        take_first,
        take_first,
        ended=1,
    ),
    _variant(
        "M9",
        "Two locks are taken in one order by a submit and in the other by a finish.",
        "",
        submit_one,
        finish_one,
    ),
)
