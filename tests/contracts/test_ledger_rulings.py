"""Each ruling, legal and illegal, with the clause that is blamed."""

from __future__ import annotations

import pytest

from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.values import (
    EMPTY,
    MISSING,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
)
from harness.contracts.records import BLOCKED, Call, Raised

ERROR = Raised("KeyError", "'x'")
PENDING, RUNNING = Snapshot(JobState.PENDING, "", 1_000, 0), Snapshot(JobState.RUNNING, "", 1_000, 0)
DONE = Snapshot(JobState.DONE, "", 1_000, 1_000)
FULL = ("submit", "submit", "submit", "submit")
READY = ResultView("READY", MISSING, "result-3", "request-1")  # of: submit, finish 1

# what was done before | the call | a wrong answer | the clause to blame
WRONG = [
    # submit
    ((), "submit", Submission(False, None), "AJT-ADMIT-CAS"),
    ((), "submit", Submission(True, None), "AJT-ID-UNIQUE"),
    (("submit",), "submit", Submission(True, "j1"), "AJT-ID-UNIQUE"),
    (("submit", "finish 1", 200, "submit"), "submit", Submission(True, "j1"), "AJT-ID-UNIQUE"),
    (FULL, "submit", Submission(True, "j5"), "AJT-ADMIT-CAS"),
    (FULL, "submit", Submission(False, "j5"), "AJT-ADMIT-REJECT"),
    ((*FULL, "finish 1"), "submit", Submission(False, None), "AJT-DEPTH-WHEN"),
    ((*FULL, "transition_running 1"), "submit", Submission(True, "j5"), "AJT-DEPTH-SCOPE"),
    ((), "submit", ERROR, "AJT-ADMIT-CAS"),
    (FULL, "submit", ERROR, "AJT-ADMIT-REJECT"),
    ((), "submit", BLOCKED, "AJT-ADMIT-CAS"),
    # transition_running
    (("submit",), "transition_running 1", False, "AJT-RUN-FROM-PENDING"),
    (("submit", "transition_running 1"), "transition_running 1", True, "AJT-RUN-FROM-PENDING"),
    (("submit", "finish 1"), "transition_running 1", True, "AJT-RUN-FROM-PENDING"),
    ((), "transition_running 0", True, "AJT-UNKNOWN"),
    ((), "transition_running 0", ERROR, "AJT-UNKNOWN"),
    (("submit",), "transition_running 1", BLOCKED, "AJT-RUN-FROM-PENDING"),
    # take_request
    (("submit",), "take_request 1", None, "AJT-RET-SELF"),
    (("submit",), "take_request 1", TakenRequest("other", "payload-2"), "AJT-TAKE-REQUEST"),
    (("submit",), "take_request 1", TakenRequest("request-1", "other"), "AJT-TAKE-REQUEST"),
    (("submit",), "take_request 1", TakenRequest("request-1", EMPTY), "AJT-TAKE-REQUEST"),
    (
        ("submit", "take_request 1"),
        "take_request 1",
        TakenRequest("request-1", "payload-2"),
        "AJT-TAKE-REQUEST",
    ),
    (("submit", "take_request 1"), "take_request 1", TakenRequest("", EMPTY), "AJT-TAKE-REQUEST"),
    (("submit", "take_request 1"), "take_request 1", None, "AJT-TAKE-REQUEST"),
    ((), "take_request 0", TakenRequest("request-1", EMPTY), "AJT-UNKNOWN"),
    # snapshot
    (("submit",), "snapshot 1", RUNNING, "AJT-STATE-ATOMIC"),
    (("submit",), "snapshot 1", PENDING._replace(error="x"), "AJT-ATOMIC-PUBLISH"),
    (("submit",), "snapshot 1", PENDING._replace(submitted_at=0), "AJT-TIMES"),
    (("submit",), "snapshot 1", PENDING._replace(submitted_at="now"), "AJT-TIMES"),
    (("submit",), "snapshot 1", PENDING._replace(completed_at=1_000), "AJT-TIMES"),
    (("submit", "snapshot 1"), "snapshot 1", PENDING._replace(submitted_at=1_001), "AJT-TIMES"),
    (("submit", "finish 1"), "snapshot 1", PENDING, "AJT-STATE-ATOMIC"),
    (("submit", "finish 1"), "snapshot 1", DONE._replace(completed_at=0), "AJT-TIMES"),
    (("submit", "finish 1"), "snapshot 1", DONE._replace(completed_at=999), "AJT-TIMES"),
    (("submit", "finish 1"), "snapshot 1", None, "AJT-RET-LAZY"),
    (("submit", "submit"), "snapshot 1", None, "AJT-RET-NONTERM"),
    (("submit", "submit", "finish 1", "submit"), "snapshot 1", None, "AJT-RET-TTL"),
    ((), "snapshot 0", PENDING, "AJT-UNKNOWN"),
    (("submit", "finish 1", 82, "submit"), "snapshot 1", DONE, "AJT-RET-TTL"),
    # terminal states absorb
    (("submit", "finish 1", "fail 1"), "snapshot 1", DONE._replace(error="error-4"), "AJT-TERM-ABSORB"),
    (
        ("submit", "finish 1", "snapshot 1", 7, "timeout 1"),
        "snapshot 1",
        DONE._replace(completed_at=1_007),
        "AJT-TERM-ABSORB",
    ),
    (("submit", "fail 1", "finish 1"), "snapshot 1", DONE, "AJT-TERM-ABSORB"),
    (
        ("submit", "finish 1", "finish 1"),
        "take_result 1",
        READY._replace(result="result-4"),
        "AJT-TERM-ABSORB",
    ),
    # take_result
    (("submit",), "take_result 1", ResultView("NOT_FOUND"), "AJT-RET-SELF"),
    (("submit",), "take_result 1", ResultView("NOT_DONE", JobState.RUNNING), "AJT-TAKE-RESULT"),
    (("submit",), "take_result 1", READY, "AJT-TAKE-RESULT"),
    (("submit", "fail 1"), "take_result 1", ResultView("READY", MISSING, "error-3"), "AJT-TAKE-RESULT"),
    (("submit", "finish 1"), "take_result 1", ResultView("NOT_DONE", JobState.DONE), "AJT-TAKE-RESULT"),
    (("submit", "finish 1"), "take_result 1", READY._replace(result=MISSING), "AJT-TAKE-RESULT"),
    (("submit", "finish 1"), "take_result 1", READY._replace(request_id="other"), "AJT-TAKE-RESULT"),
    ((), "take_result 0", READY, "AJT-UNKNOWN"),
    # queue_depth
    ((), "queue_depth", -1, "AJT-DEPTH-SCOPE"),
    (("submit",), "queue_depth", 0, "AJT-DEPTH-ONCE"),
    (("submit", "transition_running 1"), "queue_depth", 0, "AJT-DEPTH-SCOPE"),
    (("submit", "finish 1"), "queue_depth", 1, "AJT-DEPTH-WHEN"),
    (("submit", "finish 1"), "queue_depth", -1, "AJT-DEPTH-ONCE"),
    (("submit", "submit", "finish 1", "fail 1"), "queue_depth", 0, "AJT-DEPTH-ONCE"),
    ((*FULL, "submit"), "queue_depth", 5, "AJT-ADMIT-REJECT"),
    ((), "queue_depth", ERROR, "AJT-DEPTH-SCOPE"),
    # retention by count: three ended, two kept
    (
        ("submit", "submit", "submit", "finish 1", "finish 2", "finish 3", "submit"),
        "snapshot 1",
        DONE,
        "AJT-RET-LRU",
    ),
    (
        ("submit", "submit", "submit", "finish 1", "finish 2", "finish 3", "submit"),
        "snapshot 3",
        None,
        "AJT-RET-LRU",
    ),
    (
        (*FULL, "finish 3", "finish 4", 82, "finish 1", "finish 2", "submit"),
        "snapshot 1",
        None,
        "AJT-RET-ORDER-TTL-FIRST",
    ),
]
ENDS = [
    (before, f"{end} {job}", answer, clause)
    for end in ("finish", "fail", "timeout")
    for before, job, answer, clause in [
        (("submit",), 1, False, "AJT-TERM-ANY"),
        (("submit", "transition_running 1"), 1, False, "AJT-TERM-ANY"),
        (("submit", "finish 1"), 1, True, "AJT-TERM-ABSORB"),
        (("submit", "fail 1"), 1, True, "AJT-TERM-ABSORB"),
        (("submit", "timeout 1"), 1, True, "AJT-TERM-ABSORB"),
        ((), 0, True, "AJT-UNKNOWN"),
        ((), 0, BLOCKED, "AJT-UNKNOWN"),
        (("submit",), 1, ERROR, "AJT-TERM-ANY"),
    ]
]
# what was done before | the call | a wrong answer | how long it took | the clause to blame
WAITS = [
    (("submit",), "wait 1 PENDING 5", PENDING, 0, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 PENDING 5", PENDING, 7, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 PENDING 5", None, 5, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 PENDING 5", PENDING._replace(state=JobState.TIMEOUT), 5, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 PENDING 5", BLOCKED, None, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 PENDING 0", PENDING, 0, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 PENDING -1", PENDING, 0, "AJT-WAIT-BUDGET"),
    (("submit",), "wait 1 RUNNING 5", PENDING, 5, "AJT-WAIT-COND"),
    (("submit",), "wait 1 RUNNING 0", BLOCKED, None, "AJT-WAIT-COND"),
    (("submit",), "wait 1 RUNNING 5", RUNNING, 0, "AJT-STATE-ATOMIC"),
    (("submit", "finish 1"), "wait 1 DONE 5", DONE, 5, "AJT-WAIT-COND"),
    (("submit", "finish 1"), "wait 1 DONE 0", BLOCKED, None, "AJT-WAIT-COND"),
    (("submit", "finish 1"), "wait 1 PENDING 5", None, 0, "AJT-RET-LAZY"),
    ((), "wait 0 PENDING 5", BLOCKED, None, "AJT-UNKNOWN"),
    ((), "wait 0 PENDING 5", None, 5, "AJT-UNKNOWN"),
    ((), "wait 0 PENDING 5", PENDING, 0, "AJT-UNKNOWN"),
    ((), "wait 0 PENDING 5", ERROR, 0, "AJT-UNKNOWN"),
    (("submit",), "wait 1 PENDING 5", ERROR, 0, "AJT-WAIT-COND"),
]


@pytest.mark.parametrize(("before", "call", "answer", "clause"), WRONG + ENDS)
def test_a_wrong_answer_is_refused_with_its_clause(beside, before, call, answer, clause):
    """Every state refuses the answer, and the first names the clause that it breaks."""
    blamed = beside().steps(*before).wrong(call, answer, 0 if answer is not BLOCKED else None)
    assert clause == blamed[0]
    assert None not in blamed


@pytest.mark.parametrize(("before", "call", "answer", "elapsed", "clause"), WAITS)
def test_a_wrong_wait_is_refused_with_its_clause(beside, before, call, answer, elapsed, clause):
    """A wait is held against what it answers and, where time is virtual, against how long it took."""
    blamed = beside().steps(*before).wrong(call, answer, elapsed)
    assert clause == blamed[0]
    assert None not in blamed


@pytest.mark.parametrize(("max_queue", "answer"), [(0, True), (-1, True), (0, False)])
def test_a_bound_of_zero_admits_nothing(beside, max_queue, answer):
    """Zero and negative bounds have a clause of their own; a rejection is the only legal answer."""
    blamed = beside(max_queue=max_queue).wrong("submit", Submission(answer, "j1" if answer else None))
    assert ["AJT-ADMIT-ZERO" if answer else None] * 2 == blamed


@pytest.mark.parametrize(
    "program",
    [
        (
            "submit",
            "snapshot 1",
            "transition_running 1",
            "snapshot 1",
            "timeout 1",
            "snapshot 1",
            "queue_depth",
        ),
        ("submit", "take_request 1", "take_request 1", "finish 1", "take_request 1", "take_result 1"),
        ("submit", "wait 1 PENDING 5", "wait 1 RUNNING 5", "finish 1", "wait 1 DONE 0", "wait 0 PENDING 5"),
        ("submit", "wait 1 PENDING 0"),
        (*FULL, "submit", "queue_depth", "finish 1", "submit", "queue_depth"),
        ("submit", "fail 1", 82, "snapshot 1", "submit", "snapshot 1", "take_result 1", "finish 1"),
    ],
)
def test_right_answers_are_legal(beside, program):
    """What the naive ledger answers is legal, clause by clause."""
    assert beside().steps(*program).states


def test_a_wrong_answer_says_what_would_have_been_right(beside):
    """Illegal rulings come with an expectation in words; legal ones with none."""
    run = beside().steps("submit", "finish 1")
    for step, answer in (("finish 1", True), ("snapshot 1", PENDING), ("queue_depth", 3)):
        name, *given = step.split()
        call = (name, run.arguments(name, *map(int, given)))
        assert all(ruling.expected for ruling in run.judge(Call(*call), answer))


def test_an_operation_without_an_answer_has_an_owner():
    """Every operation has a clause that it breaks when its answer cannot be read at all."""
    known = {clause.id for clause in LEDGER.clauses}
    assert {LEDGER.model.owner(operation.name) for operation in LEDGER.operations} <= known


def test_only_a_wait_on_an_unchanged_job_blocks(beside):
    """`blocks` tells the calls that must not return yet: waits whose condition does not hold."""
    run = beside().steps("submit", "submit", "finish 2")
    blocking = [
        step
        for step in (
            "wait 1 PENDING 5",
            "wait 1 RUNNING 5",
            "wait 2 DONE 5",
            "wait 0 PENDING 5",
            "snapshot 1",
        )
        if LEDGER.model.blocks(run.states[0], Call(step.split()[0], _arguments(run, step)))
    ]
    assert blocking == ["wait 1 PENDING 5"]


def _arguments(run, step):
    name, *given = step.split()
    return run.arguments(name, *[int(one) if one.isdigit() else one for one in given])


def test_last_calls_are_unbounded_waits_on_live_jobs(beside):
    """The calls that must not return wait, without a budget, for jobs that nobody will end."""
    run = beside().steps("submit", "submit", "submit", "transition_running 2", "finish 3")
    calls = LEDGER.last_calls(run.states[0])
    assert [call.arguments for call in calls] == [("j1", JobState.PENDING, 0), ("j2", JobState.RUNNING, 0)]


def test_a_submit_that_we_made_fail_changes_nothing(beside):
    """After an injected failure the ledger is as it was, and a wrong depth is blamed on recovery."""
    run = beside().steps("submit")
    run.states = tuple(LEDGER.model.failed(state, Call("submit", ("r", "p"))) for state in run.states)
    assert run.wrong("queue_depth", 2) == ["AJT-ADMIT-FAILSAFE"] * 2
    assert run.wrong("queue_depth", 1) == [None] * 2


NO_JOB = "if this is how it says that there is no such job, name KeyError under [exceptions] absent"
REJECTS = "if this is how it rejects, name KeyError under [exceptions] rejected"
LONG = 'after 50000 ms, a thousand times as long; if it takes seconds, an adapter says so: [units] time = "s"'
SHORT = 'a thousandth of it; if it takes milliseconds, the adapter has [units] time = "ms"'
HINTS = [
    (FULL, "submit", ERROR, None, f"{REJECTS} of an adapter"),
    ((), "snapshot 0", ERROR, None, f"{NO_JOB} of an adapter"),
    (("submit",), "wait 1 PENDING 50", PENDING, 50_000, LONG),
    (("submit",), "wait 1 PENDING 2000", PENDING, 2, SHORT),
]


@pytest.mark.parametrize(("before", "step", "answer", "elapsed", "said"), HINTS)
def test_what_an_adapter_could_explain_comes_with_a_hint(beside, before, step, answer, elapsed, said):
    """The finding stands, and what is expected ends with the line that an adapter may lack."""
    run = beside().steps(*before)
    name, *given = step.split()
    arguments = run.arguments(name, *[int(one) if one.isdigit() else one for one in given])
    rulings = run.judge(Call(name, arguments), answer, elapsed)
    assert {()} == {ruling.states for ruling in rulings}
    assert {said} == {ruling.expected[-len(said) :] for ruling in rulings}


@pytest.mark.parametrize("elapsed", [49_999, 52, 500, 500_000])
def test_a_wait_that_is_merely_wrong_comes_without_a_hint(beside, elapsed):
    """Only a factor of exactly a thousand speaks of units."""
    run = beside().steps("submit")
    rulings = run.judge(Call("wait", run.arguments("wait", 1, "PENDING", 50)), PENDING, elapsed)
    assert rulings
    assert [] == [ruling for ruling in rulings if ruling.states or "[units]" in ruling.expected]


def test_an_exception_of_a_submit_that_should_admit_is_no_way_to_reject(beside):
    """The hint is given only where a rejection is due."""
    run = beside()
    rulings = run.judge(Call("submit", run.arguments("submit")), ERROR)
    assert ["an answer, not an exception"] * len(run.states) == [ruling.expected for ruling in rulings]


@pytest.mark.parametrize(("ttl", "hinted"), [(0, True), (5, False)])
def test_a_time_to_live_of_zero_is_told_not_to_be_none(beside, ttl, hinted):
    """A job that stays at job_ttl_ms=0 may be an implementation's "no limit": the finding says what 0 is."""
    run = beside(job_ttl_ms=ttl).steps("submit", "finish 1", 9, "submit")
    rulings = run.judge(Call("snapshot", run.arguments("snapshot", 1)), PENDING)
    assert {()} == {ruling.states for ruling in rulings}
    assert {hinted} == {ruling.expected.endswith("not none (A15)") for ruling in rulings}
