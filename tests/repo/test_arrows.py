"""Imports run one way, so that each room can be read, and replaced, without those above it."""

from __future__ import annotations

import ast

import pytest

# What each room may import of our own code. The longest name that fits a module decides.
ARROWS = {
    "harness.findings": (),
    "harness.contracts": ("harness.contracts", "harness.findings"),
    "harness.outcome": ("harness.contracts", "harness.findings"),
    "harness.report": (
        "harness.report",
        "harness.contracts",
        "harness.findings",
        "harness.outcome",
        "harness.control.failures",
        "harness.control.trace",
        "harness.explore.exploration",
    ),
    "harness.control": ("harness.control", "harness.findings"),
    "harness.strategies": ("harness.strategies", "harness.control", "harness.findings", "harness.seeds"),
    "harness": ("harness",),
    "reference": ("reference", "harness.contracts"),
    "scenarios": ("scenarios", "reference", "harness"),
    "benchmarks": ("benchmarks", "scenarios", "reference", "harness"),
    "tests": ("tests", "benchmarks", "scenarios", "reference", "harness"),
}
OURS = {room.partition(".")[0] for room in ARROWS}
DYNAMIC = {"__import__", "import_module"}


def within(module, room):
    """Whether a module is the room or in it."""
    return module == room or module.startswith(room + ".")


def imported(source):
    """Names of modules (or of what is taken from them) that a source imports, with lines."""
    package = source.module if source.is_package else source.module.rpartition(".")[0]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *filter(None, [node.module])])
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in DYNAMIC and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def against_the_arrows(source):
    """What a source imports and may not, as `file:line imports name`."""
    room = max((room for room in ARROWS if within(source.module, room)), key=len)
    return [
        f"{source.path}:{line} imports {name}"
        for line, name in imported(source)
        if name.partition(".")[0] in OURS and not any(within(name, allowed) for allowed in ARROWS[room])
    ]


def test_imports_follow_the_arrows(sources):
    """No file imports from a room that its own room does not know."""
    assert [wrong for source in sources for wrong in against_the_arrows(source)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("harness/gate.py", "import reference.ledger"),
        ("harness/gate.py", "def run():\n    from scenarios import ledger"),
        ("harness/gate.py", "importlib.import_module('tests.anything')"),
        ("harness/contracts/records.py", "from harness.stateful import machine"),
        ("harness/contracts/records.py", "from ..stateful import machine"),
        ("harness/contracts/__init__.py", "from .. import gate"),
        ("harness/report/html.py", "from harness import gate"),
        ("harness/findings.py", "from harness.contracts import CONTRACTS"),
        ("reference/ledger.py", "from harness.findings import Finding"),
        ("reference/ledger.py", "import harness"),
        ("scenarios/ledger.py", "import benchmarks"),
    ],
)
def test_a_planted_import_is_seen(plant, path, text):
    """The checker sees each way of importing against an arrow."""
    assert len(against_the_arrows(plant(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("harness/gate.py", "from harness.contracts import CONTRACTS"),
        ("harness/contracts/ledger/model.py", "from . import values\nfrom .. import records"),
        ("harness/report/html.py", "import rich\nfrom harness.findings import Finding"),
        ("reference/ledger.py", "from harness.contracts.ledger.values import JobState"),
        ("scenarios/ledger.py", "import reference.ledger\nfrom harness.scenario import Scenario"),
        ("harness/gate.py", "import harness_of_somebody_else\nimport testsuite"),
    ],
)
def test_a_rightful_import_is_not(plant, path, text):
    """The checker lets through what the design allows."""
    assert against_the_arrows(plant(path, text)) == []
