"""What the judge of the stress stage keeps of what claims decide."""

from __future__ import annotations

import pytest

from harness.contracts.ledger import LEDGER
from harness.findings import Kind
from harness.history import Recorded
from harness.stress.judge import REAL_THREADS, StressJudge

MS = 1_000_000


def test_an_observation_that_holds_is_counted(judge):
    """Silence counts: the tally says how often a clause could have been broken."""
    assert judge.check("AJT-TIMES", True, "never shown")
    assert judge.check("AJT-TIMES", True)
    assert {"AJT-TIMES": 2} == dict(judge.checked)
    assert ({}, ()) == (dict(judge.breaches), judge.findings())


def test_the_first_breach_of_a_clause_is_kept(judge):
    """Later breaches are counted, and change nothing in the finding."""
    judge.scenario, judge.reproduce = "ends", "harness gate x"
    assert not judge.check("AJT-TIMES", False, "the first")
    judge.scenario, judge.reproduce = "soak", "harness gate y"
    judge.check("AJT-TIMES", False, "the second")
    [finding] = judge.findings()
    assert (Kind.BROKEN_CLAUSE, "AJT-TIMES", 'the first (scenario "ends")', "stress", "harness gate x") == (
        finding.kind,
        finding.clause,
        finding.message,
        finding.stage,
        finding.reproduce,
    )
    assert (2, 2) == (judge.checked["AJT-TIMES"], judge.breaches["AJT-TIMES"])


def test_only_what_should_hold_is_advisory(judge):
    """A SHOULD clause is advice, a MUST clause is not."""
    judge.check("AJT-ADMIT-FAILSAFE", False, "leaked")
    judge.check("AJT-TIMES", False, "wrong")
    assert {"AJT-ADMIT-FAILSAFE": True, "AJT-TIMES": False} == {
        finding.clause: finding.advisory for finding in judge.findings()
    }


def test_findings_come_in_the_contracts_order(judge):
    """Whichever clause breaks first, reports read like the contract."""
    order = [clause.id for clause in LEDGER.clauses]
    for clause in reversed(order):
        judge.check(clause, False, "wrong")
    assert order == [finding.clause for finding in judge.findings()]


def test_a_clause_that_the_contract_lacks_is_our_mistake(judge):
    """A claim cannot blame what is not a clause."""
    with pytest.raises(KeyError, match="AJT-NONE"):
        judge.check("AJT-NONE", False, "wrong")


def test_evidence_is_the_norm_and_the_operations(judge):
    """The norm comes first, then operations with times from the first of them on, then other facts."""
    judge.check(
        "AJT-TIMES",
        False,
        "wrong",
        Recorded("one", "finish", ("a", "result"), True, 5 * MS, 7 * MS),
        Recorded("two", "queue_depth", (), None, 6 * MS, None),
        "a fact",
    )
    [finding] = judge.findings()
    norm, first, second, fact, note = finding.evidence
    assert LEDGER.clause("AJT-TIMES").norm == norm
    assert first.startswith("[one] finish('a', 'result') -> ")
    assert first.endswith("0.000 to 2.000 ms")
    assert "[two] queue_depth() never returned; called at 1.000 ms" == second
    assert ("a fact", REAL_THREADS) == (fact, note)


def test_evidence_is_cut_to_what_can_be_read(judge):
    """Six operations are shown, and how many more there are."""
    judge.check("AJT-TIMES", False, "wrong", *(f"fact {number}" for number in range(9)))
    [finding] = judge.findings()
    assert ("fact 5", "and 3 more") == finding.evidence[-3:-1]
    assert 9 == len(finding.evidence)


@pytest.mark.parametrize(("stage", "noted"), [("stress", True), ("interleavings", False), ("canary", False)])
def test_only_findings_of_real_threads_may_need_several_runs(stage, noted):
    """What the scheduler is not in charge of may not show at once again, and the evidence ends with that."""
    judge = StressJudge(LEDGER, stage)
    judge.check("AJT-TIMES", False, "wrong", "a fact")
    [finding] = judge.findings()
    assert noted == (finding.evidence[-1] == REAL_THREADS)
    assert noted == (REAL_THREADS in finding.evidence)


def test_a_recorded_breach_is_no_observation(judge):
    """Exceptions, hangs and malformed answers are findings, and decide nothing else."""
    judge.record("AJT-TERM-ANY", Kind.EXCEPTION, "raised", ["a line"], "ledger.py:1 in finish")
    [finding] = judge.findings()
    assert (Kind.EXCEPTION, "ledger.py:1 in finish") == (finding.kind, finding.where)
    assert (0, 1) == (judge.checked["AJT-TERM-ANY"], judge.breaches["AJT-TERM-ANY"])
