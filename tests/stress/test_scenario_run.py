"""One scenario on real threads: what becomes a finding, what is our own mistake, and what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

import reference
from harness.contracts.ledger.values import JobState
from harness.findings import Kind
from harness.scenario import Scenario
from harness.stress import crew as crew_module
from harness.stress.judge import REAL_THREADS
from harness.stress.noise import Noise
from harness.stress.runner import ScenarioRun
from reference.ledger import Ledger

pytestmark = pytest.mark.stress


class Raising(Ledger):
    """A ledger whose fail raises instead of answering."""

    def fail(self, job_id, error):
        raise OSError("disk full")


class Malformed(Ledger):
    """A ledger whose finish answers with something that is no answer."""

    def finish(self, job_id, result):
        super().finish(job_id, result)
        return "perhaps"


class Hanging(Ledger):
    """A ledger whose queue_depth never answers."""

    def queue_depth(self):
        self.released.wait()
        return 0


def one_job(strand):
    """A setup that submits one job."""
    strand.shared.jobs = [strand.system.submit("request", "payload").job_id]


def finish(strand):
    """A role that ends the job."""
    strand.system.finish(strand.shared.jobs[0], strand.fresh("result"))


def fail(strand):
    """A role that makes the job fail."""
    strand.system.fail(strand.shared.jobs[0], strand.fresh("error"))


def ask(strand):
    """A role that asks for the depth."""
    strand.system.queue_depth()


@pytest.fixture
def played(scenario, bound, judge):
    """Runs a scenario of these roles once, and gives the run."""

    def play(roles, factory=Ledger, record=True, enough=lambda: True, seconds=0.0, **others):
        made = scenario(roles, **{"setup": one_job, **others})
        run = ScenarioRun(made, bound(factory), judge, seed=1, record=record)
        run.run(seconds, enough)
        return run

    return play


def test_noise_leaves_a_strands_draws_alone(scenario, bound, judge):
    """What a role draws follows from the seed, the round and the strand, whether or not there is noise."""
    drawn = {}

    def draw(strand):
        finish(strand)
        drawn.setdefault(strand.index, []).append(strand.random.random())

    made = scenario({"one": (draw, 2)}, setup=one_job, noise=0.5)
    for noise in (None, Noise([Path(folder) for folder in reference.__path__])):
        run = ScenarioRun(made, bound(), judge, seed=1, noise=noise)
        run.run(60.0, lambda run=run: run.rounds == 2)
    first, second = drawn.values()
    assert (first[:2], second[:2]) == (first[2:], second[2:])
    assert len({*first, *second}) == 4


def test_a_long_wait_that_nobody_ends_is_no_hang(played, judge, monkeypatch):
    """A wait is left alone for as long as its budget lasts, however soon blocked strands count as stuck."""
    monkeypatch.setattr(crew_module, "_BEAT_S", 0.005)
    monkeypatch.setattr(crew_module, "_BEATS_TO_STUCK", 10_000)
    monkeypatch.setattr(crew_module, "_BEATS_PARKED", 5)
    played({"one": (lambda strand: strand.system.wait(strand.shared.jobs[0], JobState.PENDING, 500), 2)})
    assert () == judge.findings()


def test_claims_see_the_history_of_all_strands(played, judge):
    """Members and auditor, before and after, in order of invocation, with the bounds that were set."""
    seen = []
    played({"one": (finish, 2), "two": ask}, claims=(lambda round_, _: seen.append(round_),), closing=ask)
    [round_] = seen
    assert ["audit-0", "audit-0", "one-0", "one-1", "two-0"] == sorted(item.client for item in round_.history)
    assert "submit" == round_.history[0].operation
    assert ("audit-0", "queue_depth") == (round_.history[-1].client, round_.history[-1].operation)
    assert sorted(round_.history, key=lambda item: item.called) == list(round_.history)
    assert (8, frozenset()) == (round_.configuration["max_queue"], round_.missing)


def test_sometimes_claims_that_never_held_are_listed(played):
    """Those that held at least once are not."""
    run = played(
        {"one": ask},
        sometimes={"never": lambda _: False, "always": lambda _: True, "nor this": lambda _: False},
    )
    assert ("never", "nor this") == run.unmet()


def test_a_sometimes_claim_need_hold_once_only(played):
    """In some round, not in the last one."""
    answers = iter((False, True, False))
    rounds = iter((False, False, True))
    run = played(
        {"one": ask}, enough=lambda: next(rounds), seconds=60, sometimes={"once": lambda _: next(answers)}
    )
    assert (3, ()) == (run.rounds, run.unmet())


def test_an_exception_is_a_finding(played, judge):
    """It is blamed on the clause by which the operation answers, with the line that raised."""
    played({"one": fail}, Raising)
    [finding] = judge.findings()
    assert (Kind.EXCEPTION, "AJT-TERM-ANY") == (finding.kind, finding.clause)
    assert "fail raised OSError: disk full" in finding.message
    assert "in fail" in finding.where
    assert "[one-0] fail(" in finding.evidence[1]


class Full(Ledger):
    """A ledger that rejects with an exception."""

    def submit(self, request_id, payload):
        if self.queue_depth() > 0:
            raise BlockingIOError("no room")
        return super().submit(request_id, payload)


def test_an_exception_of_submit_may_be_how_it_rejects(played, judge):
    """The evidence ends with the line that an adapter may lack."""
    played({"one": lambda strand: strand.system.submit("request", "payload")}, Full)
    [finding] = judge.findings()
    hint = "if this is how it rejects, name BlockingIOError under [exceptions] rejected of an adapter"
    assert hint in finding.evidence


def test_a_malformed_answer_is_a_finding(played, judge):
    """The strand ends there, and the call that was answered so is the evidence."""
    played({"one": finish, "two": ask}, Malformed)
    [finding] = judge.findings()
    assert (Kind.MALFORMED_ANSWER, "AJT-TERM-ANY") == (finding.kind, finding.clause)
    assert "expected True or False, got 'perhaps'" in finding.message
    assert "[one-0] finish(" in finding.evidence[1]


def test_a_malformed_answer_to_the_auditor_is_a_finding(played, judge):
    """The closing look is held to the same answers."""
    played({"one": ask}, Malformed, closing=finish)
    assert [Kind.MALFORMED_ANSWER] == [finding.kind for finding in judge.findings()]


def mistake(*_):
    """A mistake in a scenario of ours."""
    raise ZeroDivisionError("ours")


@pytest.mark.parametrize(
    "others",
    [{"roles": {"one": mistake}}, {"setup": mistake}, {"closing": mistake}, {"claims": (mistake,)}],
    ids=["role", "setup", "closing", "claim"],
)
def test_a_mistake_of_ours_is_raised_and_is_no_finding(played, judge, others):
    """Wherever a scenario is wrong itself, the implementation is not blamed."""
    with pytest.raises(ZeroDivisionError, match="ours"):
        played(**{"roles": {"one": ask}, **others})
    assert () == judge.findings()


def test_without_records_calls_are_counted_and_nothing_is_checked(played, judge):
    """For measuring: the claims would have nothing to look at, so they are not asked."""
    claims = (lambda _, listener: listener.check("AJT-TIMES", False, "asked"),)
    run = played({"one": (ask, 3)}, record=False, claims=claims, hang="AJT-LOCK-ORDER")
    assert (1, 3) == (run.rounds, run.operations)
    assert ({}, ()) == (dict(judge.checked), judge.findings())


def test_the_auditors_calls_are_not_counted(played):
    """Operations are those of the roles."""
    assert 2 == played({"one": (ask, 2)}, closing=ask).operations


def test_a_round_that_everybody_returned_from_decides_the_hang(played, judge):
    """The clause that a hang would break has been put to the test."""
    played({"one": ask}, hang="AJT-LOCK-ORDER")
    assert {"AJT-LOCK-ORDER": 1} == dict(judge.checked)


@pytest.fixture
def impatient(monkeypatch):
    """Beats that make little of a strand that gets nowhere."""
    monkeypatch.setattr(crew_module, "_BEAT_S", 0.005)
    monkeypatch.setattr(crew_module, "_BEATS_TO_STUCK", 40)
    monkeypatch.setattr(crew_module, "_BEATS_PARKED", 10)


@pytest.fixture
def hanging(impatient, release):
    """A ledger on which one operation hangs, and impatience with it."""
    return type("Hanging", (Hanging,), {"released": release})


def test_a_strand_that_never_returns_is_a_finding(played, judge, hanging):
    """It names the strand, the call in progress and where it is, and it ends the scenario."""
    run = played(
        {"free": finish, "stuck": ask}, hanging, hang="AJT-LOCK-ORDER", enough=lambda: False, seconds=60
    )
    [finding] = judge.findings()
    assert (1, Kind.HANG, "AJT-LOCK-ORDER") == (run.rounds, finding.kind, finding.clause)
    assert "never returned: stuck-0" in finding.message
    assert finding.evidence[1].startswith("[stuck-0] queue_depth() never returned")
    before, submitted, ended, stack, note = finding.evidence[2:]
    assert "the last calls before, which led to it:" == before
    assert submitted.startswith("[audit-0] submit('request', 'payload') -> ")
    assert ended.startswith("[free-0] finish(")
    assert stack.startswith("stack of stuck-0:\n")
    assert "in queue_depth" in stack
    assert REAL_THREADS == note


class Deaf(Ledger):
    """A ledger that wakes nobody: a wait that was begun goes on."""

    def wait(self, job_id, initial, timeout_ms):
        self.released.wait()
        return super().snapshot(job_id)


def test_waiters_that_hang_alike_are_one_fact(played, judge, impatient, release):
    """One stack for all, of the implementation's lines only, with the calls on the job that led to it."""
    deaf = type("Deaf", (Deaf,), {"released": release})

    def wait(strand):
        strand.system.wait(strand.shared.jobs[0], JobState.PENDING, 0)

    played({"waiter": (wait, 8), "runner": finish}, deaf, hang="AJT-LOCK-ORDER")
    [finding] = judge.findings()
    assert "never returned: waiter-0 to waiter-7" in finding.message
    _, *lines, stack, _ = finding.evidence
    assert 6 == sum("never returned; called at" in line for line in lines)
    assert "and 2 more that never returned" == lines[6]
    assert "the last calls on the job, which led to it:" == lines[7]
    assert ["[audit-0] submit", "[runner-0] finish"] == [line.partition("(")[0] for line in lines[8:]]
    assert stack.startswith("waiter-0 to waiter-7, same stack:\n")
    assert "in wait" in stack
    assert [] == [name for name in ("crew.py", "recorder.py", "subject.py") if name in stack]


def test_a_hang_in_a_scenario_that_names_no_clause_for_it_is_a_finding(played, judge, hanging):
    """`hang` may be left out of a scenario; a hang is evidence all the same."""
    assert "" == Scenario.__dataclass_fields__["hang"].default
    played({"stuck": ask}, hanging)
    assert [Kind.HANG] == [finding.kind for finding in judge.findings()]


def test_a_hang_after_a_mistake_of_ours_is_no_finding(played, judge, hanging, release):
    """A role that broke off may be what the others wait for: the mistake is raised, nobody is blamed."""
    error = None
    try:
        played({"broken": mistake, "stuck": lambda strand: release.wait()}, hang="AJT-LOCK-ORDER")
    except ZeroDivisionError as raised:
        error = raised
    assert (True, ()) == (error is not None, judge.findings())


@pytest.mark.parametrize(
    ("factory", "role", "kind"),
    [(Malformed, finish, Kind.MALFORMED_ANSWER), (Raising, fail, Kind.EXCEPTION)],
    ids=["malformed", "raised"],
)
def test_a_hang_does_not_hide_what_led_to_it(played, judge, hanging, release, factory, role, kind):
    """What the strands that came back were answered is evidence also when others hang."""
    played({"one": role, "stuck": lambda strand: release.wait()}, factory, hang="AJT-LOCK-ORDER")
    assert kind in [finding.kind for finding in judge.findings()]


def test_the_same_seed_draws_the_same_numbers(scenario, bound, judge):
    """What a strand draws follows from the seed, the round and the strand."""
    draws = []

    def draw(strand):
        draws.append((strand.index, strand.random.random()))

    for seed in (1, 1, 2):
        ScenarioRun(scenario({"one": (draw, 2)}), bound(), judge, seed).run(0.0)
    first, again, other = (sorted(draws[start : start + 2]) for start in (0, 2, 4))
    assert first == again
    assert first != other
    assert first[0][1] != first[1][1]


def test_a_soak_is_one_round(played):
    """However long it is; rounds of straight programs are repeated until there is enough."""
    assert 1 == played({"one": ask}, enough=lambda: False, soak=True).rounds
    assert 1 < played({"one": ask}, enough=lambda: False, seconds=0.2).rounds
