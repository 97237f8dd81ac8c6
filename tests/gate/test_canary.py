"""The canary: a gate that cannot find a planted bug says so, and is not green."""

from __future__ import annotations

import pytest

from harness import stages as stages_of
from harness.contracts.ledger.saboteurs import SABOTEURS
from harness.findings import Verdict
from harness.gate import conclude
from harness.job import StageJob
from harness.stages import run_stage
from harness.stress import stage as stress

JOB = StageJob("canary", "reference.ledger:Ledger", "ledger", {}, 1, 20, 0.1)


def canary(**changes):
    """The canary's report, run in this process."""
    return run_stage(JOB, lambda executions, operations: None)


@pytest.fixture
def no_threads(monkeypatch, in_process):
    """The stress half of the canary says that it found its race in the first round."""
    monkeypatch.setattr(stages_of, "_canary_race", lambda job, contract: 1)


@pytest.mark.usefixtures("no_threads")
def test_a_planted_bug_is_found(request_for, ledger, decided):
    """On a sound implementation the saboteur's bug, and nothing else, is what generated programs find."""
    report = canary()
    assert (Verdict.OK, (), ()) == (report.verdict, report.unmet, report.findings)
    assert report.executions > 1
    assert Verdict.OK is conclude(request_for(), ledger, [report, decided("sequential")], {}).verdict


@pytest.mark.usefixtures("no_threads")
def test_a_missed_bug_makes_the_gate_unknown(monkeypatch, request_for, ledger, decided):
    """If the planted bug cannot be seen, everything else that is green counts for nothing."""
    monkeypatch.setitem(SABOTEURS, "sequential", lambda subject: subject)
    report = canary()
    assert (Verdict.UNKNOWN, ("generated programs found a planted bug",)) == (report.verdict, report.unmet)
    whole = conclude(request_for(), ledger, [report, decided("sequential"), decided("stress")], {})
    assert (Verdict.UNKNOWN, 3) == (whole.verdict, whole.verdict.exit_code)
    assert ("canary: never happened: generated programs found a planted bug",) == whole.reasons


@pytest.mark.stress
@pytest.mark.usefixtures("in_process")
def test_a_planted_race_is_found():
    """On real threads the race around a sound implementation shows within the canary's seconds."""
    report = canary()
    assert (Verdict.OK, ()) == (report.verdict, report.unmet)


@pytest.mark.stress
@pytest.mark.usefixtures("in_process")
def test_a_missed_race_is_told(monkeypatch):
    """Without its saboteur the stress half finds nothing in a sound implementation, and says so."""
    monkeypatch.setitem(SABOTEURS, "stress", lambda subject: subject)
    monkeypatch.setattr(stress, "_CANARY_SECONDS", 0.3)
    report = canary()
    assert (Verdict.UNKNOWN, ("stress found a planted race",)) == (report.verdict, report.unmet)
