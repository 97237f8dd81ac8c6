"""The stress stage as a whole, on the reference: it decides what it promises, and finds what is planted."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import reference
from harness.contracts.ledger import LEDGER
from harness.findings import Kind, Verdict
from harness.stages import StageJob
from harness.stress.stage import find_planted_race, run_stress
from reference.ledger import Ledger
from scenarios.ledger import SCENARIOS

pytestmark = pytest.mark.stress

PLACES = [Path(folder) for folder in reference.__path__]
CLAUSES = [clause.id for clause in LEDGER.clauses if "stress" in clause.checked_by]
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
JOB = StageJob(
    "stress", "reference.ledger:Ledger", "ledger", {}, seed=1, examples=0, pace=0.1, soak_seconds=0.3
)


class NoWait(Ledger):
    """A ledger that cannot wait."""

    wait = None


class HidesIds(Ledger):
    """A ledger that accepts jobs and gives nobody their ids."""

    def submit(self, request_id, payload):
        return super().submit(request_id, payload)._replace(job_id=None)


class Leaking(Ledger):
    """A ledger that can be made sixty times."""

    made = 0

    def __init__(self, **bounds):
        super().__init__(**bounds)
        Leaking.made += 1
        if Leaking.made > 60:
            raise OSError("too many open files")


@pytest.fixture(scope="module")
def progress():
    """What the stage reported while it ran."""
    return []


@pytest.fixture(scope="module")
def report(bound, progress):
    """The stage on the reference, with tiny budgets."""
    return run_stress(JOB, bound(), SCENARIOS, PLACES, lambda *counts: progress.append(counts))


def test_the_reference_breaks_nothing(report):
    """No findings, nothing skipped: OK, or UNKNOWN where a starved machine left a soak too little to see.

    A soak of 0.3 s on busy cores has been seen to miss "a wait blocked", once in some hundred runs.
    """
    assert ((), ()) == (report.findings, report.skipped)
    assert [] == [claim for claim in report.unmet if claim.partition(":")[0] not in ("soak", "churn")]
    assert (Verdict.UNKNOWN if report.unmet else Verdict.OK) is report.verdict


@pytest.mark.parametrize("clause", CLAUSES)
def test_every_clause_of_the_stage_is_decided(report, clause):
    """A clause that stress is said to check was put to the test at least once."""
    assert 0 < {tally.clause: tally.checked for tally in report.tallies}.get(clause, 0)


def test_the_report_counts_rounds_and_operations(report, progress):
    """By scenario and together, and progress was told on the way."""
    rounds = report.details["rounds"]
    assert [scenario.name for scenario in SCENARIOS] == list(rounds)
    assert all(count > 0 for count in rounds.values())
    assert sum(rounds.values()) == report.executions
    assert (report.executions, report.operations) == progress[-1]
    assert len(SCENARIOS) <= len(progress)
    assert sorted(progress) == progress


def test_an_implementation_that_cannot_be_made_any_more_is_a_finding(bound):
    """It ends the scenario in which it happens and those that follow, which are not taken for refused."""
    report = run_stress(JOB, bound(Leaking), SCENARIOS, [], lambda *counts: None)
    [finding] = report.findings
    assert (Verdict.VIOLATION, (), Kind.EXCEPTION, "") == (
        report.verdict,
        report.skipped,
        finding.kind,
        finding.clause,
    )
    assert "raised OSError: too many open files" in finding.message
    assert report.executions + 20 <= 60


def test_what_a_target_cannot_do_is_skipped_by_name(bound):
    """Scenarios that need a wait are listed as skipped, the others are played."""
    chosen = [BY_NAME["crowd"], BY_NAME["takers"], BY_NAME["handoff"]]
    played = run_stress(JOB, bound(NoWait), chosen, PLACES, lambda *_: None)
    assert ('scenario "crowd": no wait', 'scenario "handoff": no wait') == played.skipped
    assert ["takers"] == list(played.details["rounds"])
    assert Verdict.OK is played.verdict


def test_a_claim_that_never_held_makes_the_green_worthless(bound):
    """Nothing found and something never seen is UNKNOWN, and says which scenario it was."""
    quiet = dataclasses.replace(BY_NAME["takers"], sometimes={"it rained": lambda _: False})
    played = run_stress(JOB, bound(), [quiet], PLACES, lambda *_: None)
    assert (Verdict.UNKNOWN, ('scenario "takers": it rained',)) == (played.verdict, played.unmet)


def test_the_first_finding_can_end_the_stage(bound):
    """Later scenarios are not played, and the finding says how to see it again."""
    job = dataclasses.replace(JOB, stop_at_first=True)
    played = run_stress(job, bound(HidesIds), [BY_NAME["burst"], BY_NAME["takers"]], PLACES, lambda *_: None)
    assert Verdict.VIOLATION is played.verdict
    assert "AJT-ID-UNIQUE" in [finding.clause for finding in played.findings]
    assert ["burst"] == list(played.details["rounds"])
    assert {f"{job.reproduce} --scenario burst", f"{job.reproduce} --scenario 'burst'"} & {
        finding.reproduce for finding in played.findings
    }


def test_without_places_there_are_no_forced_switches(bound):
    """Then the report says so."""
    notes = run_stress(JOB, bound(), [BY_NAME["takers"]], [], lambda *_: None).notes
    assert ("no forced switches: coverage uses the trace function",) == notes


def test_a_race_planted_around_the_reference_is_found(bound):
    """The canary's race shows in the first scenario, which is the contract's choice for it."""
    rounds = find_planted_race(bound(), SCENARIOS, PLACES, seed=1)
    assert rounds is not None
    assert 1 <= rounds


def test_a_race_that_cannot_show_is_not_found(bound, monkeypatch):
    """In a scenario where nobody ends the same job twice, the planted race stays hidden."""
    monkeypatch.setattr("harness.stress.stage._CANARY_SECONDS", 0.2)
    assert find_planted_race(bound(), [BY_NAME["takers"]], PLACES, seed=1) is None
