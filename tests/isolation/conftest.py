"""What the isolation tests share: hostile implementations, and proof that no child outlives its gate."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

import reference.ledger
from harness.isolation import parent
from harness.job import StageJob

HEAD = """\
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

from original import Ledger

"""


def gone(pid):
    """Whether a process has ended; one that nobody has collected yet has ended too."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.parent.parent.joinpath("self").exists():
        try:
            return stat.read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Writes an implementation that does something before `where`, and gives its target's text.

    The sound rest is a copy of the reference, beside the file: only the file's folder is private.
    """
    monkeypatch.chdir(tmp_path)
    shutil.copy(reference.ledger.__file__, tmp_path / "original.py")

    def write(deed, where="finish", text=None):
        signature = "self, **bounds" if where == "__init__" else "self, *given"
        given = signature.removeprefix("self, ")
        if text is None:
            body = textwrap.indent(textwrap.dedent(deed).strip(), " " * 8)
            head = f"class Made(Ledger):\n    def {where}({signature}):\n"
            text = f"{head}{body}\n        return super().{where}({given})\n"
        (tmp_path / "hostile.py").write_text(HEAD + textwrap.dedent(text))
        return f"{tmp_path / 'hostile.py'}:Made"

    return write


@pytest.fixture
def isolate(monkeypatch):
    """Runs a stage on a target in a child, and fails the test if that child is still there afterwards."""
    children = []

    def popen(*arguments, **options):
        children.append(subprocess.Popen(*arguments, **options))
        return children[-1]

    # parent.py's own name for the module, so that what a target starts is not counted
    double = type("Counted", (), {**vars(subprocess), "Popen": staticmethod(popen)})
    monkeypatch.setattr(parent, "subprocess", double)

    def run(target, deadline_s=60.0, **choices):
        job = {"stage": "sequential", "target": target, "contract": "ledger", "adapter": {}, "seed": 1}
        heard = []
        report = parent.run_isolated(
            StageJob(**{**job, "examples": 1, "pace": 0.01, **choices}),
            deadline_s,
            lambda executions, operations: heard.append((executions, operations)),
        )
        assert heard == sorted(heard)
        return report

    yield run
    assert children
    assert [child.pid for child in children if child.returncode is None or not gone(child.pid)] == []


@pytest.fixture
def ends():
    """Waits until a process has ended; tells whether it did before patience, which is ample, was lost."""

    def wait(pid):
        patience = time.monotonic() + 30
        while not gone(pid) and time.monotonic() < patience:
            time.sleep(0.05)
        return gone(pid)

    return wait
