"""Generated programs: which jobs they are about, and that they get somewhere."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.contracts.ledger import LEDGER
from harness.stateful import machine
from harness.stateful.progress import Progress
from harness.stateful.session import Session
from harness.stateful.stage import generated_failures

REFERENCE = "reference.ledger:Ledger"
JOB = LEDGER.operation("snapshot").parameters[0]
NUMBERS = range(2 * (machine._MOST_JOBS + 1))


@pytest.fixture
def session(surrounded):
    """A session on the reference, with three jobs of which the second has ended."""
    session = Session(surrounded(REFERENCE), LEDGER.configuration)
    for name in "abc":
        session.submit(f"request-{name}", f"payload-{name}")
    session.finish(session.ids[1], "result")
    return session


def test_half_of_the_calls_are_about_live_jobs(session):
    """Low numbers are those of jobs that have not ended, high ones of all jobs and of an unknown id."""
    first, second, third = session.ids
    drawn = [machine._argument(session, JOB, number) for number in NUMBERS]
    half = len(drawn) // 2
    assert Counter({first: half // 2, third: half // 2}) == Counter(drawn[:half])
    assert {first, second, third, session.unknown_id()} == set(drawn[half:])


def test_every_number_is_a_job_when_none_is_live(surrounded):
    """Without a live job all numbers are those of the jobs there are, or of an unknown id."""
    session = Session(surrounded(REFERENCE), LEDGER.configuration)
    assert {session.unknown_id()} == {machine._argument(session, JOB, number) for number in NUMBERS}
    job = session.submit("request", "payload").job_id
    session.finish(job, "result")
    assert {job, session.unknown_id()} == {machine._argument(session, JOB, number) for number in NUMBERS}


def test_generated_programs_end_jobs(surrounded, monkeypatch):
    """In 160 programs of four seeds at least 80 finishes succeed, whatever Hypothesis draws."""
    ended = []
    call = Session.call

    def counted(self, name, *arguments):
        answer = call(self, name, *arguments)
        if name == "finish" and answer is True:
            ended.append(arguments)
        return answer

    monkeypatch.setattr(Session, "call", counted)
    surroundings = surrounded(REFERENCE)
    for seed in range(4):
        assert generated_failures(surroundings, Progress(), "ends", 40, seed, remember=False) == []
    assert len(ended) >= 80
