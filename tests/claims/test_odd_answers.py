"""Answers of implementations that show less than the contract's, or something else."""

from __future__ import annotations

import pytest

from harness.contracts.ledger.values import MISSING, JobState, ResultView, Snapshot, Submission, TakenRequest
from harness.history import Recorded

DONE, FAILED = JobState.DONE, JobState.FAILED
SUBMITTED = Recorded("one", "submit", ("request", "payload"), Submission(True, "a"), 0, 1)
FINISHED = Recorded("one", "finish", ("a", "result"), True, 2, 3)


def look(state, error="", submitted=10, completed=20):
    """A snapshot after everything else."""
    return Recorded("two", "snapshot", ("a",), Snapshot(state, error, submitted, completed), 8, 9)


@pytest.mark.parametrize(
    ("capability", "history", "clause"),
    [
        (
            "max_queue",
            [SUBMITTED, Recorded("one", "submit", ("r", "p"), Submission(True, "b"), 2, 3)],
            "AJT-ADMIT-CAS",
        ),
        (
            "max_queue",
            [Recorded("one", "submit", ("r", "p"), Submission(False, None), 2, 3)],
            "AJT-ADMIT-CAS",
        ),
        (
            "max_completed",
            [
                SUBMITTED,
                FINISHED,
                Recorded("audit-0", "submit", ("r", "p"), Submission(True, "b"), 4, 5),
                look(DONE)._replace(client="audit-0"),
            ],
            "AJT-RET-LRU",
        ),
    ],
)
def test_a_bound_that_cannot_be_set_is_not_judged(judged, capability, history, clause):
    """What the harness could not configure it cannot hold against anybody."""
    bounds = {"max_queue": 1, "max_completed": 0}
    assert clause in judged(history, **bounds).clauses
    assert [] == judged(history, missing=(capability,), **bounds).breaches


@pytest.mark.parametrize(
    "answer",
    [
        look(DONE, MISSING, MISSING, MISSING),
        Recorded("two", "take_result", ("a",), ResultView("READY", MISSING, "result", MISSING), 8, 9),
        Recorded("two", "take_result", ("a",), ResultView("NOT_DONE", MISSING, MISSING, MISSING), 8, 9),
        Recorded("two", "take_request", ("a",), TakenRequest(MISSING, "payload"), 8, 9),
    ],
    ids=["snapshot", "READY", "NOT_DONE", "take_request"],
)
def test_a_field_that_is_not_shown_is_not_judged(judged, answer):
    """Fields that an implementation does not have break nothing."""
    assert [] == judged([SUBMITTED, FINISHED, answer]).breaches


def test_a_refusal_that_nobody_explains_is_reported(judged):
    """A job that refuses its end, and that nobody ended, is blamed on the refusal."""
    refused = FINISHED._replace(response=False)
    assert "AJT-TERM-ANY" in judged([SUBMITTED, refused]).clauses


@pytest.mark.parametrize(
    ("answer", "clause"),
    [
        (look(DONE, submitted="now"), "AJT-TIMES"),
        (look(DONE, completed="later"), "AJT-TIMES"),
        (look(FAILED, error=["error"]), "AJT-ATOMIC-PUBLISH"),
        (
            Recorded("two", "take_result", ("a",), ResultView("READY", MISSING, ["result"], MISSING), 8, 9),
            "AJT-TAKE-RESULT",
        ),
    ],
    ids=["submitted_at", "completed_at", "error", "result"],
)
def test_a_value_of_another_type_is_a_breach_and_no_crash(judged, answer, clause):
    """Whatever an implementation answers, the claims go on and blame a clause."""
    failed = Recorded("one", "fail", ("a", "error"), None, 2, None)
    assert clause in judged([SUBMITTED, FINISHED, failed, answer]).clauses
