"""The commands and their exit codes: 0 OK, 1 VIOLATION, 2 usage, 3 UNKNOWN."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness import gate as gates
from harness.__main__ import main as command
from harness.certify import mutants_of
from harness.contracts import contract_named
from harness.findings import HarnessError, StageReport, Verdict
from harness.scenario import installed_scenarios

SOUND = "reference.ledger:Ledger"
MUTANT = "reference.mutants.ledger.lifecycle:LateEndIsTrue"


def test_a_sound_ledger_exits_0(gate):
    """OK, with the stage, the clauses and the verdict on standard output and nothing on standard error."""
    ending = gate(SOUND)
    assert (0, "") == (ending.code, ending.err)
    assert ending.out.startswith("sequential: OK, ")
    last = ending.out.splitlines()[-1]
    assert last.startswith(
        f"OK (stage sequential only)  {SOUND} against contract ledger: 0 findings, seed 0, "
    )


def test_a_broken_ledger_exits_1(gate, folder):
    """VIOLATION, with the finding, its program, and the command that shows it again, in every report."""
    ending = gate(MUTANT, "--json", "out.json", "--junit", "out.xml", "--seed", "3", "--verbose")
    assert (1, "") == (ending.code, ending.err)
    assert "broken clause AJT-TERM-ABSORB" in ending.out
    again = f"again: harness gate {MUTANT} --contract ledger --stage sequential --budget 2s --seed 3"
    assert again in " ".join(ending.out.split())
    outcome = json.loads((folder / "out.json").read_text())
    assert ("VIOLATION", MUTANT, "ledger", 3) == tuple(
        outcome[key] for key in ("verdict", "target", "contract", "seed")
    )
    broken = {row["id"] for row in outcome["clauses"] if row["verdict"] == "VIOLATION"}
    assert broken == {finding["clause"] for finding in outcome["findings"]} >= {"AJT-TERM-ABSORB"}
    suite = ET.parse(folder / "out.xml").getroot().find("testsuite")  # noqa: S314 - we wrote it
    assert broken == {case.attrib["name"] for case in suite if case.find("failure") is not None}


def test_an_undecided_gate_exits_3(harness, monkeypatch):
    """UNKNOWN is not green."""
    monkeypatch.setattr(
        gates, "run_isolated", lambda job, limit, progress: StageReport(job.stage, Verdict.UNKNOWN)
    )
    assert 3 == harness("gate", SOUND).code


def test_a_fault_of_ours_exits_3(harness, monkeypatch):
    """A fault of the harness says that there is no verdict, and is neither red nor green."""

    def faulty(job, limit, progress):
        raise HarnessError("the boiler is out")

    monkeypatch.setattr(gates, "run_isolated", faulty)
    ending = harness("gate", SOUND)
    assert (3, "harness: fault of the harness, no verdict: the boiler is out\n") == (ending.code, ending.err)


def test_an_interrupt_exits_130(harness, monkeypatch):
    """Control-C ends the command in one line."""

    def interrupted(job, limit, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(gates, "run_isolated", interrupted)
    ending = harness("gate", SOUND)
    assert (130, "harness: interrupted") == (ending.code, ending.err.strip())


def test_json_to_standard_output_is_nothing_but_json(gate):
    """With --json - everything else goes to standard error."""
    ending = gate(SOUND, "--json", "-")
    assert "OK" == json.loads(ending.out)["verdict"]
    assert "sequential: OK" in ending.err


def test_coverage_is_reported(gate, book):
    """With --cov the lines and branches of the implementation's file that were never reached."""
    pytest.importorskip("coverage")
    ending = gate("book.py:Book", "--adapter", "book.toml", "--cov", "--json", "out.json")
    assert 0 == ending.code
    assert "never reached" in ending.out
    [(name, covered)] = json.loads(book.with_name("out.json").read_text())["coverage"].items()
    assert name.endswith("book.py")
    assert 80 < covered["percent"] <= 100


@pytest.mark.stress
def test_a_whole_gate_of_the_reference_is_ok(harness):
    """All stages, with soaks cut short."""
    ending = harness("gate", SOUND, "--budget", "quick", "--duration", "0.3")
    assert 0 == ending.code
    assert [f"{stage}: OK" for stage in ("canary", "sequential", "interleavings", "stress")] == [
        line.partition(",")[0] for line in ending.out.splitlines()[:4]
    ]


@pytest.mark.stress
def test_a_scenario_may_be_run_alone(harness):
    """With --scenario the stages that know scenarios run it alone, with the strands that were asked for."""
    words = ("--scenario", "soak", "--count", "submitter=2", "--count", "waiter=1", "--duration", "0.3")
    ending = harness("gate", SOUND, *words, "--json", "out.json")
    assert ending.code in (0, 3)  # a soak this short may see no rejection
    assert ["interleavings", "stress"] == [line.partition(":")[0] for line in ending.out.splitlines()[:2]]
    assert "sequential" not in ending.out


def test_contracts_are_listed(harness):
    """Name, title and size of each."""
    assert (0, "ledger: asynchronous job ledger, 31 clauses\n", "") == harness("contracts")


@pytest.mark.parametrize("width", ["80", "200"])
def test_a_contract_is_printed_in_full(harness, monkeypatch, width):
    """All 31 clauses and all resolutions, at any width."""
    monkeypatch.setenv("COLUMNS", width)
    ending = harness("contracts", "ledger")
    contract = contract_named("ledger")
    assert (0, 31) == (ending.code, len(contract.clauses))
    words = ending.out.split()
    assert [] == [clause.id for clause in contract.clauses if clause.id not in words]
    assert [] == [resolution.id for resolution in contract.resolutions if resolution.id not in words]


def test_scenarios_are_listed(harness):
    """A line each, with roles and seconds."""
    ending = harness("scenarios")
    lines = " ".join(ending.out.split())
    assert 0 == ending.code
    assert [] == [one.name for one in installed_scenarios("ledger") if f"{one.name}: " not in lines]
    assert "4 submitter, 2 runner, 3 poller, 2 waiter" in lines


@pytest.mark.parametrize("words", [["scenarios"], ["certify", "--list"]], ids=["scenarios", "mutants"])
def test_a_record_is_a_line(harness, monkeypatch, words):
    """Away from a terminal a list has a line for each, however narrow, and nothing at the ends of lines."""
    wide = harness(*words).out
    monkeypatch.setenv("COLUMNS", "80")
    assert wide == harness(*words).out
    count = len(mutants_of("ledger") if words == ["certify", "--list"] else installed_scenarios("ledger"))
    assert count == len(wide.splitlines())
    assert max(map(len, wide.splitlines())) > 80
    assert [] == [line for line in wide.splitlines() if line != line.rstrip()]


def test_mutants_are_listed(harness):
    """`certify --list` names each with its clause, marks the rare ones, and gates none."""
    ending = harness("certify", "--list")
    known = contract_named("ledger")
    lines = [line for line in ending.out.splitlines() if "  AJT-" in line]
    assert 0 == ending.code
    assert len(lines) >= 35
    assert any("D1StateBeforePayload  AJT-ATOMIC-PUBLISH" in line for line in lines)
    assert {line.split()[1] for line in lines} <= {clause.id for clause in known.clauses}
    assert "(rare)" in ending.out


def test_a_killed_mutant_certifies(harness, folder):
    """One mutant that a single strand shows is killed: exit 0, and the JSON says how."""
    ending = harness(
        "certify", "--mutant", "lifecycle.LateEndIsTrue", "--budget", "2s", "--json", "kills.json"
    )
    assert (0, "") == (ending.code, ending.err)
    assert "1 of 1 mutants killed" in ending.out
    outcome = json.loads((folder / "kills.json").read_text())
    assert {"mutants": 1, "killed": 1, "survivors": []} == {
        key: outcome[key] for key in ("mutants", "killed", "survivors")
    }
    [row] = outcome["rows"]
    assert ("lifecycle.LateEndIsTrue", "sequential", "AJT-TERM-ABSORB") == (
        row["mutant"],
        row["stage"],
        row["clause"],
    )


def test_a_survivor_does_not_certify(harness, monkeypatch):
    """A mutant that no stage kills is listed, and the exit code is 3."""
    monkeypatch.setattr(
        gates, "run_isolated", lambda job, limit, progress: StageReport(job.stage, Verdict.OK)
    )
    ending = harness(
        "certify",
        "--mutant",
        "lifecycle.LateEndIsTrue",
        "--mutant",
        "historical.D1StateBeforePayload",
        "--json",
        "-",
    )
    assert 3 == ending.code
    assert ["lifecycle.LateEndIsTrue", "historical.D1StateBeforePayload"] == json.loads(ending.out)[
        "survivors"
    ]
    assert "survives: lifecycle.LateEndIsTrue" in ending.err


@pytest.mark.parametrize(
    "words", [["--help"], ["gate", "--help"], ["contracts", "-h"], ["certify", "-h"], ["--version"]]
)
def test_help_is_at_hand(harness, words):
    """Every command explains itself."""
    ending = harness(*words)
    assert (0, "") == (ending.code, ending.err)
    assert ending.out


def test_the_command_is_a_module_too(folder):
    """`python -m harness` is the same command, and its exit code the process's."""
    ending = subprocess.run(
        [sys.executable, "-m", "harness", "gate", "nowhere"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert (2, "") == (ending.returncode, ending.stdout)
    assert ending.stderr.startswith("harness: target 'nowhere' has neither of the forms")


WANDERING = """
import os
import tempfile

from reference.ledger import Ledger


class Wanderer(Ledger):
    def __init__(self, **bounds):
        super().__init__(**bounds)
        os.chdir(tempfile.gettempdir())
"""


def test_a_target_may_change_the_working_directory(harness, folder):
    """What was given relative to where the command was typed is still found, in every stage."""
    (folder / "wanderer.py").write_text(WANDERING, encoding="utf-8")
    words = ("--stage", "canary", "--stage", "sequential", "--stage", "interleavings", "--budget", "quick")
    assert 0 == harness("gate", "wanderer.py:Wanderer", *words).code


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
def test_a_file_name_may_be_any_bytes(gate, folder):
    """A folder whose name is no UTF-8 is a folder."""
    odd = Path(os.fsdecode(b"caf\xe9"))
    odd.mkdir()
    (odd / "mine.py").write_text("from reference.ledger import Ledger\n", encoding="utf-8")
    ending = gate(f"{odd}/mine.py:Ledger")
    assert (0, "") == (ending.code, ending.err)


def test_loading_may_be_interrupted(monkeypatch, capsys):
    """Control-C before there is anything to interrupt gives one line."""

    def interrupted(name, *rest, **more):
        if name == "harness.cli":
            raise KeyboardInterrupt
        return real(name, *rest, **more)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as ending:
        command()
    assert (130, "\nharness: interrupted\n") == (ending.value.code, capsys.readouterr().err)
