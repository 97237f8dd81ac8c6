"""The sequential stage on the reference, which must pass, and on the mutants, which must not."""

from __future__ import annotations

import pytest

from harness.contracts.ledger import LEDGER
from harness.findings import Verdict
from reference.mutants.ledger import MUTANTS

REFERENCE = "reference.ledger:Ledger"
NEEDS_ANOTHER_STRAND = {
    "waiting.StartWakesNobody": "whether a start wakes a waiter shows only while somebody else waits",
    "waiting.OneWaiterWakes": "it takes two waiters",
    "waiting.WaitHoldsTheTable": "it takes somebody whom the waiter keeps out",
    "waiting.OneLockForTransitionsAndWaits": "it takes somebody whom the waiter keeps out",
    "waiting.AnyWakeEndsTheWait": "alone, nobody wakes a waiter for the sake of another job",
    "waiting.BudgetRestartsAtEachWake": "alone, nobody wakes a waiter for the sake of another job",
    "waiting.EvictedJobWaitsOn": "alone, no job is evicted during a wait",
    "waiting.EvictedJobIsAbsent": "alone, no job is evicted during a wait",
}
ALONE = [mutant for mutant in MUTANTS if not mutant.rare and mutant.name not in NEEDS_ANOTHER_STRAND]


@pytest.fixture(scope="module")
def report(run):
    """What the stage says of the reference."""
    return run(REFERENCE)


def test_the_reference_passes(report):
    """No finding on the reference, in directed and in 40 generated programs."""
    assert (report.findings, report.skipped, report.notes) == ((), (), ())
    assert report.verdict is Verdict.OK
    assert report.executions >= len(LEDGER.directed) + 40
    assert report.operations > 1_000


@pytest.mark.parametrize("clause", [one.id for one in LEDGER.clauses if "sequential" in one.checked_by])
def test_every_sequential_clause_is_decided(report, clause):
    """A pass means something for each clause: it was held against at least one answer."""
    assert {tally.clause: tally.checked for tally in report.tallies}.get(clause, 0) > 0


def test_only_sequential_clauses_are_decided(report):
    """What the stage tallies is what the contract says that it checks."""
    sequential = {clause.id for clause in LEDGER.clauses if "sequential" in clause.checked_by}
    assert {tally.clause for tally in report.tallies} <= sequential


@pytest.mark.parametrize("mutant", ALONE, ids=lambda mutant: mutant.name)
def test_a_mutant_is_found(run, mutant):
    """Each planted bug that one strand can show is found, and decides the verdict if its clause is a MUST."""
    report = run(mutant.target, stop_at_first=True)
    assert len(report.findings) == 1
    assert report.findings[0].advisory == (mutant.clause == "AJT-ADMIT-FAILSAFE")
    assert report.verdict is (Verdict.OK if report.findings[0].advisory else Verdict.VIOLATION)


def test_the_mutants_left_out_are_there():
    """Exclusions name real mutants, and every clause of a mutant that was kept is checked here."""
    assert set(NEEDS_ANOTHER_STRAND) <= {mutant.name for mutant in MUTANTS if not mutant.rare}
    assert all("sequential" in LEDGER.clause(mutant.clause).checked_by for mutant in ALONE)


@pytest.mark.parametrize(
    "mutant", [m for m in MUTANTS if m.name in NEEDS_ANOTHER_STRAND][:1], ids=lambda m: m.name
)
def test_a_mutant_that_needs_another_strand_passes(run, mutant):
    """A limit: what shows only between strands is not seen here."""
    assert run(mutant.target, examples=10).verdict is Verdict.OK
