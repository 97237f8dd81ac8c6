"""The model against a ledger that somebody else wrote: right answers pass, spoilt ones do not.

The naive ledger (in `conftest`) is strict: it evicts by completion, expires on accepted submits only,
and keeps a job of exactly its time to live. The model must accept all it says, and refuse every
answer in which one thing was changed.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts.ledger.values import (
    EMPTY,
    MISSING,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
)
from harness.contracts.records import BLOCKED, Call

JOBS = st.integers(0, 5)
PLAIN = ("transition_running", "finish", "fail", "timeout", "take_request", "snapshot", "take_result")
LIVE = (JobState.PENDING, JobState.RUNNING)


def programs(pauses, budgets):
    """Programs of calls by text, and of pauses by number; submits are frequent."""
    calls = st.one_of(
        st.just("submit"),
        st.just("submit"),
        st.builds("{} {}".format, st.sampled_from(PLAIN), JOBS),
        st.builds(
            "wait {} {} {}".format,
            JOBS,
            st.sampled_from([state.value for state in JobState]),
            st.sampled_from(budgets),
        ),
        st.just("queue_depth"),
        st.sampled_from(pauses),
    )
    return st.lists(calls, max_size=40)


def bounds(ttls):
    """Small bounds, so that they are met."""
    return st.fixed_dictionaries(
        {
            "max_queue": st.sampled_from([2, 1, 3, 0, -1]),
            "job_ttl_ms": st.sampled_from(ttls),
            "max_completed": st.sampled_from([2, 1, 0, 100]),
        }
    )


@settings(deadline=None, max_examples=200)
@given(configuration=bounds([80, 5, 0, 300_000]), program=programs([1, 5, 79, 80, 81], [1, 5, 80, 0, -1]))
def test_what_the_naive_ledger_answers_is_legal(beside, configuration, program):
    """No right answer is refused, at the time to live and around it, and eviction by completion survives."""
    run = beside(**configuration).steps(*program)
    assert any(state.by_completion for state in run.states)


def spoilt(answer, live):
    """Wrong answers near a right one. `live` says that the job is in flight, so must not be absent."""
    if isinstance(answer, bool):
        yield not answer
    elif isinstance(answer, int):
        yield from (answer + 1, answer - 1)
    elif isinstance(answer, Submission):
        yield Submission(not answer.accepted, None if answer.accepted else "another")
        yield Submission(answer.accepted, None if answer.accepted else "another")
    elif isinstance(answer, Snapshot):
        yield from (answer._replace(state=state) for state in JobState if state is not answer.state)
        yield answer._replace(error=answer.error + "!")
        yield answer._replace(submitted_at=0)
        yield answer._replace(submitted_at=-1)
        yield answer._replace(completed_at=0 if answer.completed_at else answer.submitted_at)
    elif isinstance(answer, TakenRequest):
        yield answer._replace(request_id="another")
        yield answer._replace(payload="another" if answer.payload is EMPTY else EMPTY)
        yield answer._replace(payload="something else")
    elif isinstance(answer, ResultView):
        yield from spoilt_results(answer)
    elif answer is not None:
        assert answer is BLOCKED
        yield Snapshot(JobState.DONE, "", 1_000, 1_000)
    if live and not isinstance(answer, (bool, int, Submission, ResultView)):
        yield None


def spoilt_results(answer):
    """Wrong answers of take_result."""
    if answer.status == "READY":
        yield from (answer._replace(result="another"), answer._replace(result=MISSING))
        yield answer._replace(request_id="another")
        yield ResultView("NOT_DONE", JobState.DONE)
    elif answer.status == "NOT_DONE":
        yield ResultView("READY", MISSING, "result", "request")
        yield from (answer._replace(state=state) for state in JobState if state is not answer.state)
        if answer.state in LIVE:
            yield ResultView("NOT_FOUND")


def present(operation):
    """Answers that show a job, which are wrong of one that is gone."""
    return {
        "take_request": [TakenRequest("request", EMPTY)],
        "snapshot": [Snapshot(JobState.PENDING, "", 1_000, 0), Snapshot(JobState.DONE, "", 1_000, 1_000)],
        "wait": [Snapshot(JobState.DONE, "", 1_000, 1_000)],
        "take_result": [
            ResultView("READY", MISSING, "result", "request"),
            ResultView("NOT_DONE", JobState.FAILED),
        ],
    }.get(operation, [])


def wrong_answers(run, call, answer):
    """Everything that must be refused here: (answer, how long it took)."""
    job = run.naive.jobs.get(call.arguments[0]) if call.arguments else None
    live = job is not None and not job["end"]
    took = run.naive.waited
    absent = call.operation not in ("submit", "queue_depth") and job is None
    for wrong in present(call.operation) if absent else spoilt(answer, live):
        yield wrong, took
    if call.operation == "wait" and answer is not BLOCKED:
        yield answer, took + 2
        yield BLOCKED, None
        if took:
            yield answer, took - 2


@settings(deadline=None, max_examples=200)
@given(configuration=bounds([81, 5, 0]), program=programs([2, 40, 82, 200], [2, 40, 80, 0]))
def test_a_spoilt_answer_is_refused(beside, configuration, program):
    """One thing changed in a right answer makes it illegal, at every step of every program.

    Pauses are even and times to live odd, so nothing is at a boundary where two answers are right;
    the state that evicts by submission is left out, because there the order is another.
    """
    run = beside(**configuration)
    run.states = tuple(state for state in run.states if state.by_completion)
    for step in program:
        if isinstance(step, str):
            refuse_all(run, step)
        else:
            run.steps(step)
        assert len(run.states) == 1


def refuse_all(run, step):
    """Make one call: refuse what is spoilt, then go on with what is right."""
    name, *given_ = step.split()
    call = Call(
        name, run.arguments(name, *[int(one) if one.lstrip("-").isdigit() else one for one in given_])
    )
    answer = run.naive.answer(name, *call.arguments)
    for wrong, took in wrong_answers(run, call, answer):
        accepted = [ruling for ruling in run.judge(call, wrong, took) if ruling.states]
        assert accepted == [], f"{call} -> {wrong} after {took}"
    run.take(call, answer, run.naive.waited)
