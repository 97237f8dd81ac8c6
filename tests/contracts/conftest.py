"""What the contract tests share: a naive ledger written twice over, and the model run beside it."""

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
from harness.contracts.records import BLOCKED, Call

START_MS = 1_000


class Naive:
    """A ledger of mutable dicts, strict profile, written without looking at the model."""

    def __init__(self, max_queue, job_ttl_ms, max_completed):
        self.max_queue, self.ttl, self.keep = max_queue, job_ttl_ms, max_completed
        self.now = START_MS
        self.jobs = {}
        self.ended = []  # ids in order of completion
        self.issued = 0
        self.waited = 0  # how long the last call took

    def answer(self, operation, *arguments):
        """The right answer to one call."""
        self.waited = 0
        return getattr(self, operation)(*arguments)

    def submit(self, request_id, payload):
        if self.queue_depth() >= self.max_queue:
            return Submission(False, None)
        for job_id in [one for one in self.ended if self.now - self.jobs[one]["end"] > self.ttl]:
            self._drop(job_id)
        while len(self.ended) > self.keep:
            self._drop(self.ended[0])
        self.issued += 1
        job_id = f"j{self.issued}"
        self.jobs[job_id] = {
            "state": "PENDING",
            "rid": request_id,
            "load": payload,
            "result": None,
            "error": "",
            "begin": self.now,
            "end": 0,
        }
        return Submission(True, job_id)

    def _drop(self, job_id):
        self.ended.remove(job_id)
        del self.jobs[job_id]

    def transition_running(self, job_id):
        if job_id in self.jobs and self.jobs[job_id]["state"] == "PENDING":
            self.jobs[job_id]["state"] = "RUNNING"
            return True
        return False

    def _end(self, job_id, state, result, error):
        if job_id not in self.jobs or job_id in self.ended:
            return False
        self.jobs[job_id].update(state=state, result=result, error=error, end=self.now)
        self.ended.append(job_id)
        return True

    def finish(self, job_id, result):
        return self._end(job_id, "DONE", result, "")

    def fail(self, job_id, error):
        return self._end(job_id, "FAILED", None, error)

    def timeout(self, job_id, error):
        return self._end(job_id, "TIMEOUT", None, error)

    def take_request(self, job_id):
        if job_id not in self.jobs:
            return None
        payload = self.jobs[job_id]["load"]
        self.jobs[job_id]["load"] = EMPTY
        return TakenRequest(self.jobs[job_id]["rid"], payload)

    def snapshot(self, job_id):
        if job_id not in self.jobs:
            return None
        job = self.jobs[job_id]
        return Snapshot(JobState(job["state"]), job["error"], job["begin"], job["end"])

    def wait(self, job_id, initial, timeout_ms):
        blocking = (
            job_id in self.jobs and job_id not in self.ended and self.jobs[job_id]["state"] == initial.value
        )
        if blocking and timeout_ms <= 0:
            return BLOCKED
        if blocking:
            self.waited = timeout_ms
            self.now += timeout_ms
        return self.snapshot(job_id)

    def take_result(self, job_id):
        if job_id not in self.jobs:
            return ResultView("NOT_FOUND")
        job = self.jobs[job_id]
        if job["state"] != "DONE":
            return ResultView("NOT_DONE", JobState(job["state"]))
        return ResultView("READY", MISSING, job["result"], job["rid"])

    def queue_depth(self):
        return len(self.jobs) - len(self.ended)


class Run:
    """The model beside the naive ledger: every call's right answer must be legal."""

    def __init__(self, max_queue=4, job_ttl_ms=81, max_completed=2):
        self.bounds = {"max_queue": max_queue, "job_ttl_ms": job_ttl_ms, "max_completed": max_completed}
        self.naive = Naive(**self.bounds)
        self.states = LEDGER.model.initial(self.bounds)
        self.fresh = 0

    def arguments(self, operation, *given):
        """Complete a call: jobs by number, states by name, fresh tokens filled in."""
        given = list(given)
        filled = []
        for parameter in LEDGER.operation(operation).parameters:
            kind = parameter.domain.kind
            if kind == "fresh":
                self.fresh += 1
                filled.append(f"{parameter.domain.prefix}-{self.fresh}")
            elif kind == "job":
                number = given.pop(0)
                filled.append(f"j{number}" if number else "never")
            else:
                value = given.pop(0)
                filled.append(JobState(value) if isinstance(value, str) else value)
        return tuple(filled)

    def judge(self, call, answer, elapsed=None):
        """The rulings of all states that are still possible."""
        return [LEDGER.model.judge(state, call, answer, elapsed) for state in self.states]

    def take(self, call, answer, elapsed=None):
        """Go on with an answer that must be legal."""
        rulings = self.judge(call, answer, elapsed)
        self.states = tuple(dict.fromkeys(after for ruling in rulings for after in ruling.states))
        assert self.states, f"{call} -> {answer}: expected {rulings[0].expected}"
        if elapsed and answer is not BLOCKED:
            self.states = tuple(LEDGER.model.advance(state, elapsed) for state in self.states)
        return rulings

    def do(self, operation, *given):
        """One call, answered rightly."""
        arguments = self.arguments(operation, *given)
        answer = self.naive.answer(operation, *arguments)
        self.take(Call(operation, arguments), answer, self.naive.waited)
        return answer

    def later(self, milliseconds):
        """Let time pass for both."""
        self.naive.now += milliseconds
        self.states = tuple(LEDGER.model.advance(state, milliseconds) for state in self.states)

    def steps(self, *steps):
        """A program of `operation job extra...` texts and numbers of milliseconds; returns itself."""
        for step in steps:
            if isinstance(step, int):
                self.later(step)
                continue
            name, *given = step.split()
            self.do(name, *[int(one) if one.lstrip("-").isdigit() else one for one in given])
        return self

    def wrong(self, step, answer, elapsed=None):
        """The clause that each remaining state blames for a wrong answer; None where it is legal."""
        name, *given = step.split()
        arguments = self.arguments(name, *[int(one) if one.lstrip("-").isdigit() else one for one in given])
        rulings = self.judge(Call(name, arguments), answer, elapsed)
        return [None if ruling.states else ruling.clauses[0] for ruling in rulings]


@pytest.fixture(scope="session")
def beside():
    """Starts a run of the model beside the naive ledger."""
    return Run
