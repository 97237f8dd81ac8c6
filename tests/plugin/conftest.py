"""What the plugin's tests share: pytest, run as a user runs it, in a process and a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

FAKE = '''
"""Stages that are over at once, and that note who asked for them."""

import os

from harness import gate
from harness.contracts import contract_named
from harness.findings import ClauseTally, Finding, Kind, StageReport, Verdict

MUST, SHOULD = "AJT-TERM-ANY", "AJT-ADMIT-FAILSAFE"


def isolated(job, limit, progress):
    if job.stage == "look":
        return StageReport("look", Verdict.OK)
    with open("calls.txt", "a") as calls:
        calls.write(f"{os.getpid()} {job.stage} {job.seed}\\n")
    known = contract_named(job.contract).clauses
    what = os.environ.get("FAKE", "")
    tallies = tuple(ClauseTally(one.id, 1) for one in known if job.stage in one.checked_by)
    more = {}
    if what == "broken" and job.stage == "sequential":
        more["findings"] = (
            Finding(Kind.BROKEN_CLAUSE, MUST, "it was refused", job.stage, evidence=("a fact",)),
            Finding(Kind.BROKEN_CLAUSE, SHOULD, "only advice", job.stage, advisory=True),
        )
    elif what == "lacking":
        more["skipped"] = ("wait: no operation wait",)
    verdict = Verdict.VIOLATION if "findings" in more else Verdict.OK
    return StageReport(job.stage, verdict, tallies=tallies, **more)


gate.run_isolated = isolated
'''


class Session(NamedTuple):
    """How a session ended; `outcomes` by the item's name in brackets."""

    code: int
    out: str
    err: str

    @property
    def outcomes(self):
        """PASSED, FAILED, SKIPPED or ERROR by what is gated: `clause` or `stage` names."""
        plain = re.findall(r"test_contract\.py::test_\w+\[([\w-]+)\] (\w+)", self.out)
        shared = re.findall(r"\] (\w+) \S*test_contract\.py::test_\w+\[([\w-]+)\]", self.out)
        return dict(plain) | {name: outcome for outcome, name in shared}


@pytest.fixture
def run_pytest(tmp_path):
    """Runs pytest in a folder of its own, in which `calls.txt` tells of faked stages."""
    (tmp_path / "fake_stages.py").write_text(FAKE)

    def run(*words, fake=None):
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))
        }
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        plugin = [] if fake is None else ["-p", "fake_stages"]
        ending = subprocess.run(
            [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *plugin, *words],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": path, "COLUMNS": "200", "FAKE": fake or ""},
            capture_output=True,
            text=True,
            check=False,
        )
        return Session(ending.returncode, ending.stdout, ending.stderr)

    return run


@pytest.fixture
def scenarios_on(run_pytest):
    """The contract's items on a target."""
    return lambda target, *words, **choices: run_pytest(
        "--pyargs", "scenarios", "--harness-target", target, *words, **choices
    )


@pytest.fixture
def calls(tmp_path):
    """Who asked for which stage with which seed."""
    return lambda: [line.split() for line in (tmp_path / "calls.txt").read_text().splitlines()]
