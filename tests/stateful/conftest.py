"""What the sequential stage's tests share: implementations written for a test, and no example database."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import reference.ledger
from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.stateful.stage import run_sequential
from harness.stateful.surroundings import Surroundings
from harness.targets.locate import Target

settings.register_profile("nothing kept", database=None)


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """No example of an earlier run comes back, and the path and the modules of targets are put back."""
    before = settings.get_current_profile_name()
    settings.load_profile("nothing kept")
    monkeypatch.setattr(sys, "path", list(sys.path))
    modules = set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        if name.startswith(("harness_target_", "original")):
            del sys.modules[name]
    settings.load_profile(before)


@pytest.fixture(scope="session")
def surrounded():
    """Puts a target's text into surroundings."""
    return lambda text, adapter=None: Surroundings.of(Target.parse(text), LEDGER, adapter or Adapter())


@pytest.fixture(scope="session")
def run(surrounded):
    """Runs the sequential stage on a target's text, in the same way each time."""

    def run(text, **choices):
        surroundings = surrounded(text)
        return run_sequential(surroundings, **{"target": text, "examples": 40, "seed_number": 1, **choices})

    return run


@pytest.fixture
def impl(tmp_path):
    """Writes a class `Made` on a private copy of the reference, and gives its target's text.

    A copy beside the file, because only the file's own folder is imported privately.
    """

    def write(body, head=""):
        shutil.copy(Path(reference.ledger.__file__), tmp_path / "original.py")
        path = tmp_path / "made.py"
        imports = "import threading, time\nfrom original import JobState, Ledger"
        text = f"{imports}\n{head}\nclass Made(Ledger):\n{body}\n"
        path.write_text(text, encoding="utf-8")
        return f"{path}:Made"

    return write
