"""Findings of the sequential stage: the same each time, and programs that a person can paste."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.values import JobState
from harness.contracts.records import Directed
from harness.findings import Kind
from harness.stateful.directed import directed_failures, run_directed
from harness.stateful.progress import Progress
from harness.stateful.session import ContractBroken, Session
from harness.stateful.shrink import shortest, without
from harness.stateful.stage import program_text

GOLDEN = Path(__file__).parent / "golden"
MUTANTS = "reference.mutants.ledger."
BOUNDS = {"max_queue": 2, "job_ttl_ms": 80, "max_completed": 1}
SEVERAL = [
    "admission:RejectionHandsOutAnId",
    "admission:SlotLostWithTheRecord",
    "lifecycle:UnknownIdIsWaitedFor",
    "lifecycle:UnknownIdRaises",
    "data:SnapshotIsTheRecord",
    "retention:ImmortalJobs",
    "waiting:WaitsAtTheEnd",
    "waiting:NoBudgetIsNoWait",
]


@pytest.fixture(scope="module", params=SEVERAL)
def twice(request, run):
    """Two reports on the same mutant, from the same seed."""
    return [run(MUTANTS + request.param, examples=10, seed_number=7) for _ in range(2)]


def test_findings_repeat(twice):
    """The same seed gives the same findings, down to the program's text; each text is Python."""
    one, other = twice
    assert one.findings
    assert one.findings == other.findings
    assert (one.executions, one.operations, one.tallies) == (
        other.executions,
        other.operations,
        other.tallies,
    )
    for finding in one.findings:
        compile(finding.program, finding.clause, "exec")
        assert LEDGER.clause(finding.clause).norm == finding.evidence[0]


def pasted(text):
    """The test function of a finding's program, as if it had been pasted into a file."""
    names = {}
    exec(text, names)  # noqa: S102 - that is what pasting is
    [test] = [value for name, value in names.items() if name.startswith("test_")]
    return test


def test_a_pasted_program_breaks_the_same_clause(twice):
    """The text of a finding, run as it is shown, raises for the clause that it was found for."""
    for finding in twice[0].findings:
        with pytest.raises(ContractBroken) as caught:
            pasted(finding.program)()
        assert (finding.clause, finding.message) == (caught.value.clause, caught.value.message)


def test_a_pasted_program_passes_once_the_bug_is_mended(run):
    """The same text with the reference in place of the mutant holds."""
    [finding, *_] = run(MUTANTS + "lifecycle:LateEndIsTrue", stop_at_first=True).findings
    pasted(finding.program.replace(MUTANTS + "lifecycle:LateEndIsTrue", "reference.ledger:Ledger"))()


def first_breach(surroundings):
    """The first breach by a directed program, made as short as can be."""
    return shortest(surroundings, directed_failures(surroundings, Progress(), stop_at_first=True)[0])


@pytest.mark.parametrize(
    "mutant", ["retention:ImmortalJobs", "retention:NewestGoesFirst", "waiting:WaitsAtTheEnd"]
)
def test_a_program_is_minimal(surrounded, mutant):
    """Without any one of its steps the program breaks nothing, or is about a job that is not made."""
    surroundings = surrounded(MUTANTS + mutant)
    best = first_breach(surroundings)
    for position in range(len(best.session.steps)):
        steps = without(LEDGER, best.session.steps, position)
        if steps is not None:
            session = Session(surroundings, best.session.configuration)
            run_directed(session, Directed(best.clause, session.configuration, tuple(steps)), ends=False)


def test_findings_are_in_the_order_of_the_contract(run):
    """One finding per clause, in the order of the contract's clauses, with where it was raised."""
    findings = run(MUTANTS + "lifecycle:UnknownIdRaises", examples=5).findings
    order = [clause.id for clause in LEDGER.clauses]
    assert [finding.clause for finding in findings] == sorted(
        {one.clause for one in findings}, key=order.index
    )
    unknown = next(finding for finding in findings if finding.clause == "AJT-UNKNOWN")
    assert unknown.kind is Kind.EXCEPTION
    assert unknown.where.endswith("in _find")
    assert unknown.program.splitlines()[-1].strip().endswith("# breaks AJT-UNKNOWN")


@pytest.mark.parametrize("mutant", ["retention:ImmortalJobs", "waiting:ExpiryIsShownAsTimeout"])
def test_the_text_of_a_directed_finding_is_as_agreed(surrounded, mutant):
    """The program's text is the golden file's; HARNESS_UPDATE_GOLDEN=1 writes the file anew."""
    target = MUTANTS + mutant
    broken = first_breach(surrounded(target))
    text = program_text(broken.session, broken.clause, target)
    path = GOLDEN / f"{mutant.partition(':')[2]}.txt"
    if os.environ.get("HARNESS_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.fixture
def session(surrounded):
    """A session on the reference."""
    return Session(surrounded("reference.ledger:Ledger"), BOUNDS)


def test_a_session_reads_as_it_was_driven(session):
    """Each call is one line; ids are named by their order, states and budgets shown as they are written."""
    job = session.submit(session.fresh("request"), session.fresh("payload")).job_id
    session.transition_running(job)
    session.wait(job, "RUNNING", 5)
    session.advance(7)
    session.step_wall_clock(-1)
    session.snapshot(session.unknown_id())
    session.audit()
    session.last_call()
    assert session.lines == [
        'job1 = ledger.submit("request-1", "payload-2").job_id',
        "ledger.transition_running(job1)",
        'ledger.wait(job1, "RUNNING", 5)',
        "ledger.advance(7)",
        "ledger.step_wall_clock(-1)",
        "ledger.snapshot(ledger.unknown_id())",
        "ledger.snapshot(job1)",
        'ledger.wait(job1, "RUNNING", 0)',
    ]
    assert session.steps[:4] == [
        ("submit",),
        ("transition_running", 0),
        ("wait", 0, JobState.RUNNING, 5),
        ("advance", 7),
    ]
    assert session.over


def test_a_session_takes_states_by_name_or_as_they_are(session):
    """A pasted program may name a state by its word; a wrong name or number of arguments is an error."""
    job = session.submit("r", "p").job_id
    assert session.wait(job, "RUNNING", 5) == session.wait(job, JobState.RUNNING, 5)
    with pytest.raises(AttributeError):
        session.enqueue("r", "p")
    with pytest.raises(ValueError, match="zip"):
        session.finish(job)


def test_a_broken_clause_is_an_assertion_of_its_own_class(surrounded):
    """What breaks raises, one class per clause so that shrinking keeps to it, and ends the program."""
    session = Session(surrounded(MUTANTS + "lifecycle:FinishNeedsRunning"), BOUNDS)
    job = session.submit("r", "p").job_id
    with pytest.raises(
        ContractBroken, match=r'AJT-TERM-ANY: finish\(job1, "x"\) answered False; .* True from'
    ) as caught:
        session.finish(job, "x")
    assert issubclass(caught.type, AssertionError)
    assert caught.type is ContractBroken.of("AJT-TERM-ANY") is not ContractBroken.of("AJT-TIMES")
    assert session.broken is caught.value
    assert session.over
    assert session.lines[-1] == 'ledger.finish(job1, "x")  # breaks AJT-TERM-ANY'


def test_a_failed_allocation_is_recovered_from(session):
    """An injected failure counts as nothing done, and the program goes on."""
    session.fail_allocation()
    session.submit("r", "p")
    assert session.queue_depth() == 0
    assert session.submit("r", "p").accepted
    assert session.lines[1] == 'ledger.submit("r", "p")  # raised MemoryError, made to fail by the harness'
    assert session.checked["AJT-ADMIT-FAILSAFE"] == 1


def test_a_message_of_several_lines_does_not_break_the_program(run, impl):
    """An exception whose text has line breaks leaves the program's text in one piece."""
    target = impl("    def transition_running(self, job_id):\n        raise ValueError('first\\nsecond')")
    [finding, *_] = run(target, stop_at_first=True).findings
    assert "first second" in finding.message
    compile(finding.program, finding.clause, "exec")


def test_a_target_with_quotes_is_quoted(session):
    """A folder's name may contain a quotation mark or a backslash."""
    session.submit("r", "p")
    compile(program_text(session, "AJT-TIMES", 'a "folder"\\/made.py:Made'), "program", "exec")


UUIDS = """
    def _next_id(self):
        return uuid.UUID(int=next(self._sequence))

    def snapshot(self, job_id):
        if job_id not in self._jobs:
            raise KeyError(str(job_id))
        return super().snapshot(job_id)
"""


def test_a_program_about_an_unknown_uuid_can_be_pasted(surrounded, impl):
    """A program about an id that was never issued runs as it is shown, whatever ids are."""
    target = impl(UUIDS, head="import uuid")
    session = Session(surrounded(target), BOUNDS)
    session.submit("r", "p")
    with pytest.raises(ContractBroken):
        session.snapshot(session.unknown_id())
    with pytest.raises(ContractBroken):
        pasted(program_text(session, "AJT-UNKNOWN", target))()
