"""What the explorer's tests share: the small programs, as a module that is imported by its name."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import pytest


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The small programs, in a folder of the test's own."""
    name = "small_programs"
    shutil.copy(Path(__file__).parent / "programs.py", tmp_path / f"{name}.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)
