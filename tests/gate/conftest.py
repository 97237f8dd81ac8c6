"""What the gate's tests share: stage reports made by hand, and stages that run in no child."""

from __future__ import annotations

import sys

import pytest
from hypothesis import settings

from harness import gate
from harness.contracts import contract_named
from harness.contracts.records import Level
from harness.findings import ClauseTally, Finding, Kind, StageReport, Verdict
from harness.outcome import GateRequest

settings.register_profile("gate tests keep nothing", database=None)


@pytest.fixture(scope="session")
def ledger():
    """The contract."""
    return contract_named("ledger")


@pytest.fixture(scope="session")
def request_for():
    """A request on a target that is never loaded."""
    return lambda **choices: GateRequest("reference.ledger:Ledger", "ledger", **choices)


@pytest.fixture(scope="session")
def decided(ledger):
    """Reports of both stages in which every clause was decided once by each stage that can."""

    def make(stage, leaving=(), **changes):
        tallies = tuple(
            ClauseTally(clause.id, 1)
            for clause in ledger.clauses
            if stage in clause.checked_by and clause.id not in leaving
        )
        return StageReport(stage, **{"verdict": Verdict.OK, "tallies": tallies, **changes})

    return make


@pytest.fixture(scope="session")
def broken(ledger):
    """A stage's finding on a clause, advisory as the clause is."""

    def make(clause, stage="sequential"):
        advisory = clause != "" and ledger.clause(clause).level is Level.SHOULD
        return Finding(Kind.BROKEN_CLAUSE, clause, f"{clause} is broken", stage, advisory=advisory)

    return make


@pytest.fixture
def stages(monkeypatch):
    """Lets a gate hear reports made by hand instead of running stages; gives the jobs it asked for."""

    def install(*reports):
        jobs, waiting = [], list(reports)

        def isolated(job, deadline_s, progress):
            jobs.append((job, deadline_s))
            progress(1, 10)
            return waiting.pop(0)

        monkeypatch.setattr(gate, "run_isolated", isolated)
        return jobs

    return install


@pytest.fixture
def in_process(monkeypatch, tmp_path):
    """A stage may be run in this process: no examples are kept, and the path is put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    before = settings.get_current_profile_name()
    settings.load_profile("gate tests keep nothing")
    yield
    settings.load_profile(before)
