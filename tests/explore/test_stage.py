"""The interleavings stage: the reference passes, a race is a finding, and what it cannot control is skipped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.contracts.ledger import LEDGER
from harness.explore.stage import find_planted_interleaving, run_interleavings
from harness.findings import Verdict
from harness.job import StageJob
from harness.seeds.store import SeedStore
from scenarios.ledger import SCENARIOS

JOB = StageJob(
    "interleavings", "reference.ledger:Ledger", "ledger", {}, seed=1, examples=0, pace=0.1, executions=10
)
MUTANT = "reference.mutants.ledger.lifecycle:IdFromUnlockedCounter"
UNCONTROLLED = """
import _thread
from reference.ledger import Ledger as Sound


class Ledger(Sound):
    def __init__(self, **bounds):
        super().__init__(**bounds)
        done = _thread.allocate_lock()
        raise SystemError("only outside of any control")
"""


def run(job, scenarios=SCENARIOS):
    """The stage's report."""
    return run_interleavings(job, LEDGER, scenarios, lambda executions, operations: None)


@pytest.fixture(scope="module")
def small():
    """The scenarios with the fewest strands."""
    return sorted(SCENARIOS, key=lambda scenario: sum(role.count for role in scenario.roles))[:4]


def test_the_reference_is_ok_with_few_executions():
    """Every scenario is explored, clauses are decided, and there is nothing to say against it."""
    report = run(JOB)
    assert (Verdict.OK, ()) == (report.verdict, report.findings)
    assert report.executions >= 10 * len(SCENARIOS) - len(report.skipped) * 10
    assert {tally.clause for tally in report.tallies} <= {clause.id for clause in LEDGER.clauses}
    assert report.operations > report.executions


def test_the_stage_is_deterministic(small):
    """The same seed does the same work."""
    one, other = (run(JOB, small) for _ in range(2))
    assert (one.executions, one.operations, one.tallies) == (other.executions, other.operations, other.tallies)
    assert one.details["distinct"] == other.details["distinct"]


def test_a_planted_race_is_found():
    """What the canary relies on: sabotage of the reference shows within two hundred executions."""
    executions = find_planted_interleaving(JOB, LEDGER, SCENARIOS)
    assert executions is not None
    assert 1 <= executions <= 200
