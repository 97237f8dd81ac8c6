"""What the report tests share: a small contract, gates made by hand, and files of what is expected."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.contracts import contract_named
from harness.contracts.records import Clause, Level, Resolution
from harness.findings import ClauseTally, Finding, Kind, StageReport, Verdict
from harness.gate import conclude
from harness.outcome import GateRequest

GOLDEN = Path(__file__).parent / "golden"

CLAUSES = (
    Clause("TEA-HOT", "Tea is served hot.", Level.MUST, ("sequential", "stress")),
    Clause(
        "TEA-ONCE", "A cup is filled once, whoever asks for it and however often.", Level.MUST, ("stress",)
    ),
    Clause("TEA-MILK", "Milk is poured last.", Level.SHOULD, ("sequential",)),
    Clause("TEA-TIMER", "Tea steeps for its time.", Level.MUST, ("sequential",), frozenset({"virtual time"})),
)
PROGRAM = """\
from harness.testing import program


def test_tea_hot():
    with program(
        "tea/pot.py:Pot",
        contract="tea",
    ) as tea:
        cup1 = tea.pour("a request with a name that is long enough for the line to be folded at eighty")
        tea.drink(cup1)  # breaks TEA-HOT
"""
HOT = Finding(
    Kind.BROKEN_CLAUSE,
    "TEA-HOT",
    "drink(cup1) answered 'cold'; the contract allows 'hot'",
    "sequential",
    evidence=("Tea is served hot.", "2 programs broke it; this is the shortest"),
    program=PROGRAM,
    reproduce="harness gate tea/pot.py:Pot --contract tea --stage sequential",
)
ONCE = Finding(
    Kind.EXCEPTION,
    "TEA-ONCE",
    "fill raised ValueError: [/full] of [red]tea[/red] (scenario party)",
    "stress",
    where="tea/pot.py:12 in fill",
    evidence=("A cup is filled once.", "[guest-1] fill('cup') -> Raised, 0.000 to 0.125 ms"),
    reproduce="harness gate tea/pot.py:Pot --contract tea --stage stress --scenario party",
)
MILK = Finding(
    Kind.BROKEN_CLAUSE,
    "TEA-MILK",
    "milk came first",
    "sequential",
    evidence=("Milk is poured last.",),
    advisory=True,
)
CRASH = Finding(
    Kind.CRASH,
    "",
    "it crashed the process: SIGSEGV",
    "stress",
    evidence=('Fatal Python error: Segmentation fault\n\n  File "tea/pot.py", line 12 in fill',),
    reproduce="harness gate tea/pot.py:Pot --contract tea --stage stress",
)


def stage(name, verdict=Verdict.OK, checked=("TEA-HOT", "TEA-ONCE", "TEA-MILK", "TEA-TIMER"), **more):
    """A stage that decided some clauses, each seven times."""
    tallies = tuple(
        ClauseTally(clause.id, 7) for clause in CLAUSES if name in clause.checked_by and clause.id in checked
    )
    return StageReport(name, verdict, seconds=1.25, executions=20, operations=300, tallies=tallies, **more)


GATES = {
    "ok": [stage("canary"), stage("sequential"), stage("stress")],
    "violation": [
        stage("sequential", Verdict.VIOLATION, findings=(HOT,)),
        stage("stress", Verdict.VIOLATION, findings=(ONCE, CRASH)),
    ],
    "unknown": [
        stage("canary", Verdict.UNKNOWN, unmet=("stress found a planted race",)),
        stage("sequential", checked=("TEA-MILK", "TEA-TIMER")),
        stage("stress", Verdict.UNKNOWN, checked=(), unmet=("party: a guest had to wait",)),
    ],
    "advice": [stage("sequential", findings=(MILK,)), stage("stress")],
    "skipped": [
        stage(
            "sequential",
            skipped=("virtual time: no virtual time: the implementation starts a thread",),
            notes=("configuration cups=0 refused: [no] cups", "no forced switches"),
        )
    ],
    "covered": [stage("sequential"), stage("stress")],
}
COVERAGE = {
    "tea/pot.py": {"percent": 91.7, "lines": [3, 4, 5, 9], "branches": [[8, 9], [12, -1]]},
    "tea/cup.py": {"percent": 100.0, "lines": [], "branches": []},
}


@pytest.fixture(scope="session")
def tea():
    """A contract of four clauses, so that the ledger's wording is nobody's business here."""
    settled = Resolution("T1", "Is cold tea tea?", "No: a cup that went cold is poured anew, see TEA-HOT.")
    return replace(
        contract_named("ledger"), name="tea", title="tea service", clauses=CLAUSES, resolutions=(settled,)
    )


@pytest.fixture(scope="session")
def gates(tea):
    """Gate reports by name."""
    request = GateRequest("tea/pot.py:Pot", "tea", seed=7)
    return {
        name: conclude(request, tea, stages, COVERAGE if name == "covered" else {})
        for name, stages in GATES.items()
    }


@pytest.fixture(scope="session")
def shown():
    """What a renderable looks like on paper of some width; trailing blanks are nobody's business."""

    def show(renderable, width):
        console = Console(
            file=io.StringIO(), width=width, highlight=False, color_system=None, legacy_windows=False
        )
        console.print(renderable)
        return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())

    return show


@pytest.fixture(scope="session")
def golden():
    """Compares with a file; HARNESS_UPDATE_GOLDEN=1 writes it anew."""

    def compare(name, text):
        path = GOLDEN / name
        if os.environ.get("HARNESS_UPDATE_GOLDEN") == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return compare
