"""The reference ledger on real threads: waits handed over, bounds kept, and what it refuses."""

from __future__ import annotations

import threading

import pytest

from harness.contracts.ledger.values import JobState, ResultView, Snapshot, Submission, TakenRequest
from reference.ledger import Ledger, SystemClock


@pytest.fixture
def ledger(clock):
    """A small ledger on the test's clock."""
    return Ledger(max_queue=3, job_ttl_ms=80, max_completed=2, clock=clock)


def submitted(ledger, number=1):
    """Ids of jobs just admitted."""
    return [ledger.submit(f"request {one}", {"load": one}).job_id for one in range(number)]


def test_a_job_from_submission_to_result(ledger, clock):
    """The whole life of a job, with its times."""
    [job] = submitted(ledger)
    assert Snapshot(JobState.PENDING, "", 1_000, 0) == ledger.snapshot(job)
    assert ledger.transition_running(job)
    clock.pass_ms(7)
    assert ResultView("NOT_DONE", JobState.RUNNING) == ledger.take_result(job)
    assert ledger.finish(job, [1, [2]])
    assert Snapshot(JobState.DONE, "", 1_000, 1_007) == ledger.snapshot(job)
    assert ledger.take_result(job)[2:] == ([1, [2]], "request 0")
    assert TakenRequest("request 0", {"load": 0}) == ledger.take_request(job)
    assert TakenRequest("request 0", None) == ledger.take_request(job)


def test_results_are_copied_in_and_out(ledger):
    """Neither the caller's object nor one that was read is the stored one."""
    [job] = submitted(ledger)
    given = {"list": []}
    ledger.finish(job, given)
    given["list"].append("changed later")
    ledger.take_result(job).result["list"].append("changed by a reader")
    assert ledger.take_result(job).result == {"list": []}


@pytest.mark.parametrize(("age", "kept"), [(79, True), (80, True), (81, False)])
def test_a_job_leaves_after_its_time_to_live(ledger, clock, age, kept):
    """Strictly older than the time to live since completion, and only at an accepted submit."""
    [job] = submitted(ledger)
    clock.pass_ms(500)
    ledger.finish(job, "r")
    clock.pass_ms(age)
    assert ledger.snapshot(job) is not None
    submitted(ledger)
    assert kept == (ledger.snapshot(job) is not None)


def test_a_rejected_submit_sweeps_nothing(ledger, clock):
    """A full table rejects, and what has expired stays until one is admitted."""
    [job] = submitted(ledger)
    ledger.finish(job, "r")
    running = submitted(ledger, 3)
    clock.pass_ms(81)
    assert Submission(False, None) == ledger.submit("r", "p")
    assert ledger.snapshot(job) is not None
    ledger.fail(running[0], "gone wrong")
    submitted(ledger)
    assert ledger.snapshot(job) is None


def test_the_bound_holds_with_jobs_in_flight_across_sweeps(clock):
    """Jobs that were in flight during sweeps are counted and evicted like others once they end."""
    ledger = Ledger(max_queue=10, job_ttl_ms=10**6, max_completed=2, clock=clock)
    slow = submitted(ledger, 4)
    for _ in range(5):
        [quick] = submitted(ledger)
        ledger.finish(quick, "r")
    for job in slow:
        ledger.finish(job, "r")
        [pending] = submitted(ledger)
        stored = [one for one in ledger._jobs.values() if one.state.terminal]
        assert len(stored) <= 2
        assert ledger.snapshot(pending).state is JobState.PENDING
        ledger.timeout(pending, "too slow")
    assert ledger.queue_depth() == 0


def test_the_oldest_by_completion_goes_first(ledger):
    """Eviction follows the order in which jobs ended, not that of submission."""
    first, second, third = submitted(ledger, 3)
    for job in (third, first, second):
        ledger.finish(job, "r")
    submitted(ledger)
    assert [(seen := ledger.snapshot(job)) and seen.state for job in (third, first, second)] == [
        None,
        JobState.DONE,
        JobState.DONE,
    ]


STARTED = {
    "transition_running": (lambda ledger, job: ledger.transition_running(job), JobState.RUNNING, ""),
    "finish": (lambda ledger, job: ledger.finish(job, "r"), JobState.DONE, ""),
    "fail": (lambda ledger, job: ledger.fail(job, "broken"), JobState.FAILED, "broken"),
    "timeout": (lambda ledger, job: ledger.timeout(job, "late"), JobState.TIMEOUT, "late"),
}


@pytest.mark.parametrize("transition", STARTED)
@pytest.mark.parametrize("waiters", [1, 2, 50])
def test_a_transition_wakes_every_waiter(ledger, clock, strand, transition, waiters):
    """All waiters, parked without a budget, wake with the state and payload that the transition published."""
    act, state, error = STARTED[transition]
    [job] = submitted(ledger)
    strands = [strand(ledger.wait, job, "PENDING", 0) for _ in range(waiters)]
    for _ in range(waiters):
        clock.parked.acquire()
    assert act(ledger, job)
    seen = {one.result() for one in strands}
    assert {(state, error)} == {(snapshot.state, snapshot.error) for snapshot in seen}
    assert len(seen) == 1
    assert [None] * waiters == clock.asked


def test_a_parked_waiter_delays_nobody(ledger, clock, strand):
    """While a waiter sleeps on one job, everything works on it and on others."""
    one, other = submitted(ledger, 2)
    waiting = strand(ledger.wait, one, JobState.PENDING, 0)
    clock.parked.acquire()
    assert ledger.snapshot(one).state is JobState.PENDING
    assert ledger.take_request(one).request_id == "request 0"
    assert ledger.submit("r", "p").accepted
    assert ledger.finish(other, "r")
    assert ledger.take_result(other).status == "READY"
    assert ledger.queue_depth() == 2
    assert ledger.finish(one, "r")
    assert waiting.result().state is JobState.DONE


def test_an_unrelated_wake_up_does_not_end_a_wait(ledger, clock, strand):
    """A waiter that is woken for nothing goes back to sleep for what is left of its budget."""
    [job] = submitted(ledger)
    waiting = strand(ledger.wait, job, "PENDING", 50)
    clock.parked.acquire()
    clock.pass_ms(20)
    clock.parked.acquire()
    clock.pass_ms(30)
    assert waiting.result().state is JobState.PENDING
    assert clock.asked == [50, 30]


def test_a_waiter_gets_the_final_snapshot_of_an_evicted_job(clock, strand):
    """A job that ends and is evicted before its waiter looks again still answers that waiter."""
    ledger = Ledger(max_queue=2, max_completed=0, clock=clock)
    [job] = submitted(ledger)
    waiting = strand(ledger.wait, job, "PENDING", 0)
    clock.parked.acquire()
    clock.gate.clear()
    ledger.finish(job, "r")
    submitted(ledger)
    assert ledger.snapshot(job) is None
    clock.gate.set()
    assert waiting.result().state is JobState.DONE


@pytest.mark.parametrize("initial", ["RUNNING", "DONE", JobState.FAILED])
def test_a_wait_whose_condition_holds_returns_at_once(ledger, clock, initial):
    """A state that differs from the initial one, or is terminal, is not waited for."""
    [job] = submitted(ledger)
    assert ledger.wait(job, initial, 0).state is JobState.PENDING
    ledger.finish(job, "r")
    assert ledger.wait(job, initial, 0).state is JobState.DONE
    assert clock.asked == []


def test_admission_is_one_step(strand):
    """Sixteen threads that start together get exactly the eight slots that there are."""
    ledger = Ledger(max_queue=8)
    start = threading.Barrier(16)

    def submit():
        start.wait()
        return ledger.submit("r", "p")

    answers = [one.result() for one in [strand(submit) for _ in range(16)]]
    accepted = {answer.job_id for answer in answers if answer.accepted}
    assert (len(accepted), ledger.queue_depth()) == (8, 8)
    assert [Submission(False, None)] * 8 == [answer for answer in answers if not answer.accepted]


def test_one_of_many_ends_a_job(strand):
    """However many race to end a job, one wins, one slot is given back, and the winner's result stays."""
    ledger = Ledger(max_queue=1)
    [job] = submitted(ledger)
    start = threading.Barrier(12)

    def end(number):
        start.wait()
        calls = (ledger.finish, ledger.fail, ledger.timeout)
        return calls[number % 3](job, f"by {number}")

    won = [number for number, one in enumerate([strand(end, n) for n in range(12)]) if one.result()]
    assert len(won) == 1
    assert ledger.queue_depth() == 0
    seen = ledger.snapshot(job)
    assert f"by {won[0]}" == (seen.error or ledger.take_result(job).result)
    assert (JobState.DONE, JobState.FAILED, JobState.TIMEOUT)[won[0] % 3] is seen.state


@pytest.mark.parametrize("bounds", [{"job_ttl_ms": -1}, {"max_completed": -1}])
def test_negative_retention_is_refused(bounds):
    """A negative time to live or bound is a mistake, at construction and at configuration."""
    with pytest.raises(ValueError, match="must not be negative"):
        Ledger(**bounds)
    with pytest.raises(ValueError, match="must not be negative"):
        Ledger().configure(**bounds)


@pytest.mark.parametrize("max_queue", [0, -1])
def test_a_bound_of_zero_admits_nothing(max_queue):
    """A max_queue of zero or less is no mistake: nothing is admitted."""
    ledger = Ledger(max_queue=max_queue)
    assert Submission(False, None) == ledger.submit("r", "p")
    assert ledger.queue_depth() == 0


def test_an_end_needs_something_to_say(ledger):
    """Finish needs a result, fail and timeout a text; what is refused changes nothing."""
    [job] = submitted(ledger)
    with pytest.raises(ValueError, match="finish needs a result"):
        ledger.finish(job, None)
    for end in (ledger.fail, ledger.timeout):
        with pytest.raises(ValueError, match="an error needs a text"):
            end(job, "")
    assert ledger.snapshot(job).state is JobState.PENDING
    assert ledger.finish(job, 0)
    assert ledger.take_result(job).result == 0


def test_a_result_that_cannot_be_copied_ends_nothing(ledger):
    """An exception while the result is copied leaves the job as it was."""
    [job] = submitted(ledger)
    with pytest.raises(TypeError):
        ledger.finish(job, threading.Lock())
    assert (ledger.snapshot(job).state, ledger.queue_depth()) == (JobState.PENDING, 1)


def test_configuring_is_for_before_the_first_job():
    """Bounds can be set until a job was admitted; a rejected submit is no use."""
    ledger = Ledger(max_queue=0)
    ledger.submit("r", "p")
    ledger.configure(max_queue=1)
    submitted(ledger)
    with pytest.raises(RuntimeError, match="before the first submit"):
        ledger.configure(max_queue=5)
    assert Submission(False, None) == ledger.submit("r", "p")


def test_configuring_during_the_first_submit_loses_no_slot(clock, monkeypatch):
    """A configure that meets a submit between its slot and its record is refused, or counts that slot."""
    ledger = Ledger(max_queue=2, clock=clock)
    monkeypatch.setattr(clock, "now_ms", lambda: monkeypatch.undo() or ledger.configure(max_queue=2) or 1_000)
    [job] = submitted(ledger)
    assert ledger.queue_depth() == 1
    ledger.finish(job, "r")
    assert ledger.queue_depth() == 0


class Failing:
    """A clock that is out of order."""

    def now_ms(self):
        """Raise, as an allocation might."""
        raise MemoryError


def test_a_slot_is_given_back_when_the_record_fails(ledger):
    """An exception while a record is made leaves the table as it was."""
    ledger._clock, kept = Failing(), ledger._clock
    with pytest.raises(MemoryError):
        ledger.submit("r", "p")
    ledger._clock = kept
    assert ledger.queue_depth() == 0
    assert len(submitted(ledger, 3)) == 3


def test_unknown_ids_are_absent(ledger):
    """Every operation answers 'absent' for an id that was never given, and does nothing."""
    calls = (ledger.transition_running, lambda job: ledger.finish(job, 1), lambda job: ledger.fail(job, "e"))
    assert [call("none") for call in calls] == [False, False, False]
    assert [
        ledger.snapshot("none"),
        ledger.take_request("none"),
        ledger.wait("none", "PENDING", 0),
    ] == [None, None, None]
    assert ResultView("NOT_FOUND") == ledger.take_result("none")
    assert ledger.queue_depth() == 0


def test_the_default_clock_is_the_machines():
    """Without a clock times are positive milliseconds that do not go back."""
    clock = SystemClock()
    first = clock.now_ms()
    assert 0 < first <= clock.now_ms()
    condition = threading.Condition()
    with condition:
        clock.wait(condition, 1)
    ledger = Ledger()
    [job] = submitted(ledger)
    assert first <= ledger.snapshot(job).submitted_at
    assert ledger.wait(job, "PENDING", 1).state is JobState.PENDING
