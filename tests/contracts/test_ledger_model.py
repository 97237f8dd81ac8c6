"""The ledger's model: pure, canonical, and as free as the resolutions say, no freer."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.values import JobState, ResultView, Snapshot, Submission
from harness.contracts.records import BLOCKED, Call

FULL_OF_ENDED = ("submit", "submit", "submit", "finish 1", "finish 2", "finish 3")
DONE = Snapshot(JobState.DONE, "", 1_000, 1_000)


def submit(run, job_id):
    """An accepted submit with this id, whatever the naive ledger would say."""
    run.take(Call("submit", run.arguments("submit")), Submission(True, job_id))


def look(run, job_id, answer):
    """A snapshot answered so, which must be legal."""
    run.take(Call("snapshot", (job_id,)), answer)


STEPS = st.lists(
    st.one_of(
        st.just("submit"),
        st.builds(
            "{} {}".format,
            st.sampled_from(
                ["transition_running", "finish", "fail", "timeout", "take_request", "snapshot", "take_result"]
            ),
            st.integers(0, 4),
        ),
        st.builds(
            "wait {} {} {}".format,
            st.integers(0, 4),
            st.sampled_from(["PENDING", "DONE"]),
            st.sampled_from([1, 80]),
        ),
        st.just("queue_depth"),
        st.sampled_from([1, 80, 81]),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(program=STEPS)
def test_judging_twice_gives_the_same(beside, program):
    """The model is pure: a call judged twice has equal rulings, and its state is untouched."""
    run = beside(job_ttl_ms=80)
    for step in program:
        states = run.states
        kept = pickle.dumps(states)
        before = copy.deepcopy(run.naive), run.fresh
        run.steps(step)
        after, run.states = run.states, states
        run.naive, run.fresh = before
        run.steps(step)
        assert after == run.states
        assert pickle.dumps(states) == kept
        assert len({hash(state) for state in after}) <= len(set(after)) == len(after)


INDEPENDENT = [
    ("take_request 1", "take_request 2"),
    ("snapshot 1", "snapshot 2"),
    ("transition_running 1", "transition_running 2"),
    ("take_request 1", "snapshot 2"),
    ("take_result 1", "take_request 1"),
    ("queue_depth", "snapshot 1"),
    ("take_request 1", "finish 2"),
]


@pytest.mark.parametrize("calls", INDEPENDENT)
def test_independent_calls_commute(beside, calls):
    """States are canonical: calls that do not touch each other lead to equal states in either order."""
    one = beside().steps("submit", "submit", *calls)
    other = beside().steps("submit", "submit", *reversed(calls))
    assert set(one.states) == set(other.states)


def test_time_may_pass_in_pieces(beside):
    """Advancing twice is advancing once by the sum."""
    one, other = (beside().steps("submit", "finish 1", *pauses) for pauses in ((30, 50), (80,)))
    assert one.states == other.states
    assert hash(one.states) == hash(other.states)


def test_an_expirable_job_looks_the_same_whenever_it_was_seen_first(beside):
    """Whether a job was first looked at before or after its time to live leaves no trace in the state."""
    early = beside().steps("submit", "finish 1", "snapshot 1", 81, "snapshot 1")
    late = beside().steps("submit", "finish 1", 81, "snapshot 1")
    assert early.states == late.states


def test_the_order_of_completion_is_forgotten_where_it_does_not_matter(beside):
    """The state that evicts by submission is one state, in whichever order two jobs ended."""
    one = beside().steps("submit", "submit")
    one.take(Call("finish", ("j1", "a")), True)
    one.take(Call("finish", ("j2", "b")), True)
    other = beside().steps("submit", "submit")
    other.take(Call("finish", ("j2", "b")), True)
    other.take(Call("finish", ("j1", "a")), True)
    assert one.states[1] == other.states[1]


def test_both_orders_of_eviction_are_accepted(beside):
    """A7: the oldest by completion or by submission may go, and the first look settles which it is."""
    ended = ("submit", "submit", "submit", "finish 3", "finish 1", "finish 2")
    by_completion = beside().steps(*ended, "submit", "snapshot 1", "snapshot 2", "snapshot 3")
    assert [state.by_completion for state in by_completion.states] == [True]
    by_submission = beside().steps(*ended)
    submit(by_submission, "j4")
    look(by_submission, "j1", None)
    look(by_submission, "j3", DONE)
    assert [state.by_completion for state in by_submission.states] == [False]


def test_an_implementation_cannot_mix_the_orders(beside):
    """A7: having evicted by submission once, it must not evict by completion later."""
    run = beside(max_completed=1).steps("submit", "submit", "finish 2", "finish 1")
    submit(run, "j3")
    look(run, "j2", DONE)  # the first submitted went
    run.take(Call("finish", ("j3", "r")), True)
    submit(run, "j4")
    assert run.wrong("snapshot 2", DONE) == ["AJT-RET-LRU"]


def test_refreshing_on_read_is_refused(beside):
    """A7: a read must not make a job younger; keeping the one that was read fits neither order."""
    run = beside().steps(*FULL_OF_ENDED, "snapshot 1", "take_result 1", "submit")
    assert run.wrong("snapshot 1", DONE) == ["AJT-RET-LRU"] * 2
    assert run.wrong("snapshot 2", None) == ["AJT-RET-LRU"] * 2


def test_an_eager_time_to_live_is_accepted(beside):
    """A13: an expired job may be absent before any sweep, and then stays absent."""
    run = beside().steps("submit", "submit", "finish 1", 82)
    look(run, "j1", None)
    assert "AJT-UNKNOWN" in run.wrong("snapshot 1", DONE)


def test_a_lazy_time_to_live_is_accepted(beside):
    """A13: an expired job may be read until an accepted submit, and no longer."""
    run = beside().steps("submit", "finish 1", 200, "snapshot 1", "take_result 1", "submit")
    assert {"AJT-RET-TTL"} == set(run.wrong("snapshot 1", DONE))


def test_no_job_leaves_before_its_time(beside):
    """A13: readable for at least the time to live."""
    assert {"AJT-RET-LAZY"} == set(beside().steps("submit", "finish 1", 80).wrong("snapshot 1", None))


@pytest.mark.parametrize("gone", [True, False])
def test_a_rejected_submit_may_sweep(beside, gone):
    """A14: what an accepted submit would evict may be gone after a rejected one, or not."""
    run = beside(max_queue=1).steps("submit", "finish 1", "submit", 82, "submit")
    look(run, "j1", None if gone else DONE)
    assert run.states


def test_a_rejected_submit_evicts_nothing_else(beside):
    """A14: a job within the bound and its time to live stays, whatever a rejected submit does."""
    run = beside(max_queue=3, max_completed=1).steps("submit", "submit", "submit", "finish 1", "finish 2")
    run.steps("submit", "submit", "submit")
    assert {"AJT-RET-LAZY"} == set(run.wrong("snapshot 2", None))


def test_a_sweep_at_a_rejection_is_not_forgotten(beside):
    """A14 with A7: what a rejected submit evicted is not asked for again once others expired."""
    run = beside(job_ttl_ms=80, max_completed=2)
    run.states = LEDGER.model.initial({**run.bounds, "max_queue": None})
    run.steps("submit", "submit", "submit", "finish 2", "finish 3", 70, "finish 1")
    run.take(
        Call("submit", run.arguments("submit")), Submission(False, None)
    )  # sweeps: job 1 goes, as the surplus
    run.later(20)  # jobs 2 and 3 expire
    submit(run, "j6")
    look(run, "j1", None)


@pytest.mark.parametrize("gone", [True, False])
def test_at_the_time_to_live_either_is_right(beside, gone):
    """A15: at exactly the time to live a sweep may take the job or leave it; a look settles it."""
    run = beside(job_ttl_ms=80).steps("submit", "finish 1", 80)
    submit(run, "j2")
    look(run, "j1", None if gone else DONE)
    assert run.states


def test_past_the_time_to_live_there_is_no_choice(beside):
    """A15: one tick more and the sweep must take it; one less and it must not."""
    late = beside(job_ttl_ms=80).steps("submit", "finish 1", 81, "submit")
    assert {"AJT-RET-TTL"} == set(late.wrong("snapshot 1", DONE))
    soon = beside(job_ttl_ms=80).steps("submit", "finish 1", 79, "submit")
    assert {"AJT-RET-TTL"} == set(soon.wrong("snapshot 1", None))


def test_a_time_to_live_of_zero_keeps_age_zero(beside):
    """A15: with a time to live of 0 a job of age 0 stays, and one of age 1 goes."""
    young = beside(job_ttl_ms=0).steps("submit", "finish 1", "submit")
    assert {"AJT-RET-TTL"} == set(young.wrong("snapshot 1", None))
    old = beside(job_ttl_ms=0).steps("submit", "finish 1", 1, "submit")
    assert {"AJT-RET-TTL"} == set(old.wrong("snapshot 1", DONE))


def test_no_completed_jobs_are_kept_with_a_bound_of_zero(beside):
    """A16: with max_completed 0 every ended job goes at the next accepted submit, the new one stays."""
    run = beside(max_completed=0).steps("submit", "finish 1", "submit")
    assert {"AJT-RET-LRU"} == set(run.wrong("snapshot 1", DONE))
    assert {"AJT-RET-SELF"} == set(run.wrong("snapshot 2", None))


UNKNOWN = {"max_queue": None, "job_ttl_ms": None, "max_completed": None}


@pytest.mark.parametrize("answer", [Submission(True, "a"), Submission(False, None)])
def test_an_unknown_bound_refuses_no_admission(answer):
    """With max_queue unknown a submit may be admitted or rejected, and admission is not tallied."""
    for state in LEDGER.model.initial(UNKNOWN):
        ruling = LEDGER.model.judge(state, Call("submit", ("r", "p")), answer)
        assert ruling.states
        assert "AJT-ADMIT-CAS" not in ruling.clauses


@pytest.mark.parametrize("missing", ["job_ttl_ms", "max_completed"])
@pytest.mark.parametrize("kept", [True, False])
def test_an_unknown_retention_refuses_no_eviction(beside, missing, kept):
    """A job that ended may be there or not once a bound is unknown that could explain it; a live one must."""
    run = beside(max_queue=4, max_completed=100)
    run.states = LEDGER.model.initial({**run.bounds, missing: None})
    run.steps("submit", "submit", "finish 1", "submit")
    look(run, "j1", DONE if kept else None)
    assert None not in run.wrong("snapshot 2", None)


def test_a_job_that_is_gone_does_not_come_back(beside):
    """Absent once, absent for ever; its id must not be given again (A4)."""
    run = beside().steps("submit", "finish 1", 82)
    run.take(Call("take_result", ("j1",)), ResultView("NOT_FOUND"))
    assert run.wrong("transition_running 1", False) == [None] * 2
    assert run.wrong("submit", Submission(True, "j1")) == ["AJT-ID-UNIQUE"] * 2


def test_blocking_for_ever_changes_nothing(beside):
    """An unbounded wait on a live job must block (A17), and leaves the state as it was."""
    run = beside().steps("submit")
    before = run.states
    run.take(Call("wait", ("j1", JobState.PENDING, 0)), BLOCKED)
    assert before == run.states
