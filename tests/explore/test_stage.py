"""The interleavings stage: the reference passes, races are found, what it cannot control is skipped."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from types import SimpleNamespace

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
MUTANT = "reference.mutants.ledger.lifecycle:TwoEndersWin"
UNCONTROLLED = """
import sys

from reference.ledger import Ledger


def make(**bounds):
    sys.modules["waiting_room"].enter()
    return Ledger(**bounds)
"""


ENDS = [scenario for scenario in SCENARIOS if scenario.name == "ends"]


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
    assert (one.executions, one.operations, one.tallies) == (
        other.executions,
        other.operations,
        other.tallies,
    )
    assert one.details["distinct"] == other.details["distinct"]


def test_a_planted_race_is_found():
    """What the canary relies on: sabotage of the reference shows within two hundred executions."""
    executions = find_planted_interleaving(JOB, LEDGER, SCENARIOS)
    assert executions is not None
    assert 1 <= executions <= 200


def test_a_race_is_a_finding_with_clause_seed_and_command(tmp_path):
    """A mutant that frees a slot twice is told by its clause; its schedule is kept, and replayed first."""
    job = replace(JOB, target=MUTANT, executions=50, seeds=str(tmp_path))
    report = run(job, ENDS)
    assert report.verdict is Verdict.VIOLATION
    [finding] = report.findings
    assert ("AJT-TERM-ONCE-STRESS", "interleavings") == (finding.clause, finding.stage)
    assert "was ended more than once" in finding.message
    assert "replayed 10 of 10" in finding.program
    [(path, seed)] = SeedStore(tmp_path)
    assert finding.reproduce == f"harness replay {path}"
    said = [seed.fields[name] for name in ("target", "contract", "scenario", "finding")]
    assert [MUTANT, "ledger", "ends", "AJT-TERM-ONCE-STRESS"] == said
    again = run(replace(job, stop_at_first=True), ENDS)
    assert again.executions == 1
    assert "(kept seed)" in again.findings[0].program


def test_without_a_folder_the_command_runs_the_scenario_again():
    """Nothing is kept, and the command names stage and scenario."""
    [finding] = run(replace(JOB, target=MUTANT, executions=50, stop_at_first=True), ENDS).findings
    assert finding.reproduce.startswith("harness gate ")
    assert "--stage interleavings" in finding.reproduce
    assert finding.reproduce.endswith("--scenario ends")


def test_a_corrupt_seed_is_noted_and_stops_nothing(tmp_path, small):
    """The note names the file, and the scenarios are explored all the same."""
    (tmp_path / "bad.seed").write_text("no seed at all")
    report = run(replace(JOB, seeds=str(tmp_path)), small)
    assert report.verdict is Verdict.OK
    assert [note for note in report.notes if note.startswith("seed ignored: ") and "bad.seed" in note]


HELD_ELSEWHERE = """
import threading


class Held:
    def __init__(self, table):
        self._table, self._lock = table, threading.Lock()

    def __getattr__(self, name):
        def call(*values, **named):
            with self._lock:
                return getattr(self._table, name)(*values, **named)

        return call

    def wait(self, *values, **named):
        return self._table.wait(*values, **named)
"""
ONCE_ONLY = """
import sys

if hasattr(sys, "once_only"):
    raise ImportError("cannot load module more than once per process")
sys.once_only = True


class Payload:
    pass
"""
HOLDS_ONCE_ONLY = """
from once_only import Payload
from reference.ledger import Ledger


class Table(Ledger):
    def __init__(self, **bounds):
        super().__init__(**bounds)
        self.payload = Payload()
"""
MADE_ELSEWHERE = """
from held_elsewhere import Held
from reference.ledger import Ledger


def make(**bounds):
    return Held(Ledger(**bounds))
"""


def test_what_a_factory_makes_is_explored_though_its_package_lies_elsewhere(tmp_path, monkeypatch, small):
    """A function in a file makes an object of an installed package: that package is under control, too."""
    for folder, name, text in (
        ("site-packages", "held_elsewhere.py", HELD_ELSEWHERE),
        ("mine", "made.py", MADE_ELSEWHERE),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path / "mine")
    report = run(replace(JOB, target="made.py:make"), small)
    assert (Verdict.OK, ()) == (report.verdict, report.notes)
    assert report.executions > 1


def test_a_package_that_cannot_be_imported_twice_is_left_alone(tmp_path, monkeypatch, small):
    """What an attribute holds may come from an extension that refuses a second import: it stays shared."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "once_only.py").write_text(ONCE_ONLY, encoding="utf-8")
    (tmp_path / "holds.py").write_text(HOLDS_ONCE_ONLY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(sys, "once_only", raising=False)
    try:
        report = run(replace(JOB, target="holds.py:Table"), small)
    finally:
        vars(sys).pop("once_only", None)
        sys.modules.pop("once_only", None)
    assert (Verdict.OK, ()) == (report.verdict, report.notes)


def test_a_target_that_starts_real_threads_is_skipped_visibly(tmp_path, monkeypatch, small):
    """What is not under control is never green: the stage is SKIPPED, and says why."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uncontrolled.py").write_text(UNCONTROLLED, encoding="utf-8")
    released = threading.Event()
    crowd = []

    def enter():
        crowd.append(threading.Thread(target=released.wait))
        crowd[-1].start()

    monkeypatch.setitem(sys.modules, "waiting_room", SimpleNamespace(enter=enter))
    try:
        report = run(replace(JOB, target="uncontrolled.py:make"), small)
    finally:
        released.set()
        for thread in crowd:
            thread.join()
    assert report.verdict is Verdict.SKIPPED
    assert any("not under control" in note and "real thread" in note for note in report.notes)
