"""Each breach that the claims know, planted in a history of a few operations, beside its repaired twin."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple

import pytest

from harness.contracts.ledger.claims import CLAIMS
from harness.contracts.ledger.values import (
    EMPTY,
    MISSING,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
)
from harness.history import Recorded

PENDING, RUNNING, DONE, FAILED = JobState.PENDING, JobState.RUNNING, JobState.DONE, JobState.FAILED
MS = 1_000_000
FULL = Submission(False, None)


def did(called, returned, operation, *arguments, gives=None, by="one"):
    """One recorded operation; pending if `returned` is None."""
    return Recorded(by, operation, arguments, gives, called, returned)


def submit(called, returned, job="a", by="one"):
    """A submit that was accepted; request and payload are named for the job."""
    return did(
        called, returned, "submit", f"request-{job}", f"payload-{job}", gives=Submission(True, job), by=by
    )


def asks(called, returned, gives):
    """Another submit, with this answer."""
    return did(called, returned, "submit", "request", "payload", gives=gives, by="two")


def start(called, returned, gives=True):
    """A transition_running of job a."""
    return did(called, returned, "transition_running", "a", gives=gives)


def finish(called, returned, gives=True, result="result", job="a"):
    """A finish; pending if `returned` is None."""
    return did(called, returned, "finish", job, result, gives=gives)


def fail(called, returned, gives=True, error="error"):
    """A fail of job a."""
    return did(called, returned, "fail", "a", error, gives=gives)


def look(called, returned, state, error="", times=None, by="two"):
    """A snapshot of job a; `times` are submitted_at and completed_at."""
    begun, ended = times or (10, 20 if state is not None and state.terminal else 0)
    gives = None if state is None else Snapshot(state, error, begun, ended)
    return did(called, returned, "snapshot", "a", gives=gives, by=by)


def depth(called, returned, gives):
    """A queue_depth."""
    return did(called, returned, "queue_depth", gives=gives, by="two")


def take(called, returned, payload, request="request-a"):
    """A take_request of job a."""
    return did(called, returned, "take_request", "a", gives=TakenRequest(request, payload))


def read(called, returned, status, state=MISSING, result=MISSING, request=MISSING):
    """A take_result of job a."""
    return did(
        called, returned, "take_result", "a", gives=ResultView(status, state, result, request), by="two"
    )


def wait(called, returned, initial, budget, state):
    """A wait for job a."""
    return did(called, returned, "wait", "a", initial, budget, gives=Snapshot(state, "", 10, 0), by="two")


class Case(NamedTuple):
    """Operations that both twins share, the one that breaks the clause, and what it should have been."""

    about: str
    claim: str
    clause: str
    shared: tuple[Recorded, ...]
    breach: Recorded
    repair: Recorded
    bounds: Mapping[str, int] = MappingProxyType({})


ONE = {"max_queue": 1}
A = submit(0, 1)
AUDITED = (submit(0, 1), finish(2, 3), submit(4, 5, "b", by="audit-0"))

# A case reads as: what it is about and whose it is; the shared past; breach and repair.
# fmt: off
CASES = (
    Case("same id", "ids_are_unique", "AJT-ID-UNIQUE", (A,), submit(2, 3), submit(2, 3, "b")),
    Case("no id", "ids_are_unique", "AJT-ID-UNIQUE", (A,), submit(2, 3, None), submit(2, 3, "b")),
    Case("one too many", "bound_is_kept", "AJT-ADMIT-CAS", (A,), submit(2, 3, "b"), asks(2, 3, FULL), ONE),
    Case("a depth above the bound", "bound_is_kept", "AJT-ADMIT-CAS",
         (A, asks(2, None, None)), depth(3, 4, 2), depth(3, 4, 1), ONE),
    Case("a rejection with an id", "rejections_are_due", "AJT-ADMIT-REJECT",
         (A,), asks(2, 3, Submission(False, "b")), asks(2, 3, FULL), ONE),
    Case("rejected with a free slot", "rejections_are_due", "AJT-ADMIT-CAS",
         (A, finish(2, 3)), asks(4, 5, FULL), asks(4, 5, Submission(True, "b")), ONE),
    Case("rejected after the end was shown", "rejections_are_due", "AJT-DEPTH-WHEN",
         (A, finish(2, 9), look(3, 4, DONE)), asks(5, 6, FULL), asks(5, 6, Submission(True, "b")), ONE),
    Case("depth too low", "depth_is_honest", "AJT-DEPTH-ONCE", (A,), depth(2, 3, 0), depth(2, 3, 1)),
    Case("depth too high", "depth_is_honest", "AJT-DEPTH-SCOPE",
         (A, finish(2, 3)), depth(4, 5, 1), depth(4, 5, 0)),
    Case("ended twice", "ends_once", "AJT-TERM-ONCE-STRESS",
         (A, finish(2, 3)), fail(4, 5), fail(4, 5, False)),
    Case("refused before the end", "ends_once", "AJT-TERM-ANY",
         (A, finish(6, 7)), fail(2, 3, False), fail(2, 6, False)),
    Case("started twice", "starts_once", "AJT-RUN-FROM-PENDING",
         (A, start(2, 3)), start(4, 5), start(4, 5, False)),
    Case("started after the end", "starts_once", "AJT-RUN-FROM-PENDING",
         (A, finish(2, 3)), start(4, 5), start(4, 5, False)),
    Case("not startable", "starts_once", "AJT-RUN-FROM-PENDING", (A,), start(2, 3, False), start(2, 3)),
    Case("back after the call", "states_are_monotone", "AJT-STATE-ATOMIC",
         (A, start(2, 3)), look(4, 5, PENDING), look(4, 5, RUNNING)),
    Case("back after a look", "states_are_monotone", "AJT-STATE-ATOMIC",
         (A, start(2, 9), look(3, 4, RUNNING)), look(5, 6, PENDING), look(4, 6, PENDING)),
    Case("back in take_result", "states_are_monotone", "AJT-STATE-ATOMIC",
         (A, finish(2, 3)), read(4, 5, "NOT_DONE", RUNNING), read(4, 5, "READY", result="result")),
    Case("another end", "states_are_monotone", "AJT-TERM-ABSORB",
         (A, finish(2, 3), fail(2, None)), look(4, 5, FAILED, "error"), look(4, 5, DONE)),
    Case("RUNNING too early", "states_are_monotone", "AJT-STATE-ATOMIC",
         (A, start(6, 7)), look(2, 3, RUNNING), look(2, 3, PENDING)),
    Case("DONE too early", "states_are_monotone", "AJT-STATE-ATOMIC",
         (A, finish(6, 7)), look(2, 3, DONE), look(2, 3, PENDING)),
    Case("an end without its error", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A, fail(2, 3)), look(4, 5, FAILED), look(4, 5, FAILED, "error")),
    Case("an error on a job that is done", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A, finish(2, 3)), look(4, 5, DONE, "error"), look(4, 5, DONE)),
    Case("an end without its time", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A, finish(2, 3)), look(4, 5, DONE, times=(10, 0)), look(4, 5, DONE)),
    Case("the time of an end that has not come", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A,), look(4, 5, PENDING, times=(10, 20)), look(4, 5, PENDING)),
    Case("no time of submission", "terminal_shows_payload", "AJT-TIMES",
         (A,), look(2, 3, PENDING, times=(0, 0)), look(2, 3, PENDING)),
    Case("ended before it began", "terminal_shows_payload", "AJT-TIMES",
         (A, finish(2, 3)), look(4, 5, DONE, times=(10, 9)), look(4, 5, DONE, times=(10, 10))),
    Case("a time of completion that moves", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A, finish(2, 3), look(4, 5, DONE)), look(4, 5, DONE, times=(10, 21)), look(4, 5, DONE)),
    Case("a time of submission that moves", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A, look(2, 3, PENDING)), look(4, 5, PENDING, times=(11, 0)), look(4, 5, PENDING)),
    Case("an error that changes", "terminal_shows_payload", "AJT-ATOMIC-PUBLISH",
         (A, fail(2, 3), fail(2, None, error="other"), look(4, 5, FAILED, "error")),
         look(6, 7, FAILED, "other"), look(6, 7, FAILED, "error")),
    Case("gone in flight", "nothing_is_lost", "AJT-RET-NONTERM",
         (A, submit(2, 3, "b")), look(4, 5, None), look(4, 5, PENDING)),
    Case("no result of a job in flight", "nothing_is_lost", "AJT-RET-NONTERM",
         (A, submit(2, 3, "b")), read(4, 5, "NOT_FOUND"), read(4, 5, "NOT_DONE", PENDING)),
    Case("gone without a sweep", "nothing_is_lost", "AJT-RET-LAZY",
         (A, finish(2, 3)), look(4, 5, None), look(4, 5, DONE)),
    Case("a payload twice", "payload_leaves_once", "AJT-TAKE-REQUEST",
         (A, take(2, 3, "payload-a")), take(4, 5, "payload-a"), take(4, 5, EMPTY)),
    Case("a payload never", "payload_leaves_once", "AJT-TAKE-REQUEST",
         (A,), take(2, 3, EMPTY), take(2, 3, "payload-a")),
    Case("another payload", "payload_leaves_once", "AJT-TAKE-REQUEST",
         (A,), take(2, 3, "payload-b"), take(2, 3, "payload-a")),
    Case("another request", "payload_leaves_once", "AJT-TAKE-REQUEST",
         (A,), take(2, 3, "payload-a", "request-b"), take(2, 3, "payload-a")),
    Case("no request of a job in flight", "payload_leaves_once", "AJT-RET-NONTERM",
         (A,), did(2, 3, "take_request", "a"), take(2, 3, "payload-a")),
    Case("done and not done", "results_are_right", "AJT-TAKE-RESULT",
         (A, finish(2, 3)), read(4, 5, "NOT_DONE", DONE), read(4, 5, "READY", result="result")),
    Case("a result that nobody gave", "results_are_right", "AJT-TAKE-RESULT",
         (A, finish(2, 3)), read(4, 5, "READY", result="other"), read(4, 5, "READY", result="result")),
    Case("a result that changes", "results_are_right", "AJT-TAKE-RESULT",
         (A, finish(2, 3), finish(2, None, result="other"), read(4, 5, "READY", result="result")),
         read(6, 7, "READY", result="other"), read(6, 7, "READY", result="result")),
    Case("a result for another request", "results_are_right", "AJT-TAKE-RESULT",
         (A, finish(2, 3)),
         read(4, 5, "READY", result="result", request="request-b"),
         read(4, 5, "READY", result="result", request="request-a")),
    Case("a wait that ends early", "waits_are_right", "AJT-WAIT-COND",
         (A,), wait(2, 2 + 2 * MS, PENDING, 50, PENDING), wait(2, 2 + 50 * MS, PENDING, 50, PENDING)),
    Case("an unbounded wait that ends", "waits_are_right", "AJT-WAIT-BUDGET",
         (A, start(2, 3)), wait(2, 4, PENDING, 0, PENDING), wait(2, 4, PENDING, 0, RUNNING)),
    Case("one kept too many", "retention_is_bounded", "AJT-RET-LRU",
         AUDITED, look(6, 7, DONE, by="audit-0"), look(6, 7, None, by="audit-0"), {"max_completed": 0}),
)
# fmt: on


def history(case, last):
    """A case's operations with one of its twins' last one."""
    return [*case.shared, last]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_a_planted_breach_is_reported_and_its_repaired_twin_is_not(judged, case):
    """All claims together blame the planted breach on exactly its clause, and accept the repair."""
    assert [case.clause] == judged(history(case, case.breach), **case.bounds).clauses
    assert [] == judged(history(case, case.repair), **case.bounds).breaches


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_a_planted_breach_is_reported_by_its_own_claim(judged, case):
    """The claim that a breach was written for sees it alone, without help of the others."""
    [claim] = [claim for claim in CLAIMS if claim.__name__ == case.claim]
    assert [case.clause] == judged(history(case, case.breach), [claim], **case.bounds).clauses


@pytest.mark.parametrize(
    ("resolution_s", "waited_ms", "clauses"),
    [(1e-9, 48, []), (1e-9, 47, ["AJT-WAIT-COND"]), (1 / 64, 33, []), (1 / 64, 32, ["AJT-WAIT-COND"])],
)
def test_a_wait_may_seem_short_by_a_tick_of_its_clock(judged, monkeypatch, resolution_s, waited_ms, clauses):
    """A budget of 50 ms may end 2 ms early, and on a clock that ticks every 15.6 ms so much earlier."""
    monkeypatch.setattr(time, "get_clock_info", lambda name: SimpleNamespace(resolution=resolution_s))
    assert clauses == judged([A, wait(2, 2 + waited_ms * MS, PENDING, 50, PENDING)]).clauses


def test_an_end_that_was_shown_is_in_the_evidence(judged):
    """A rejection that came too late is told with the ending and with the read that had shown it."""
    ending, shown = finish(2, 9), look(3, 4, DONE)
    others = (submit(0, 1, "b"), look(3, 4, PENDING), look(5, 6, DONE))
    listener = judged([A, ending, shown, *others, asks(7, 8, FULL)], max_queue=2)
    [(clause, evidence)] = listener.evidence
    assert ("AJT-DEPTH-WHEN", (ending, shown, asks(7, 8, FULL))) == (clause, evidence)


def test_every_claim_has_a_planted_breach():
    """A claim that no breach was planted for could be empty."""
    assert sorted(claim.__name__ for claim in CLAIMS) == sorted({case.claim for case in CASES})
