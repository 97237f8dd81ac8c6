"""What the command line's tests share: the command, run in this process, and a folder of one's own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.cli import main

FOREIGN = Path(__file__).parent / "foreign"


class Ending(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory: empty, with the path and the environment put back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


@pytest.fixture
def harness(folder, monkeypatch, capsys):
    """The command; stages run in children as ever."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        return Ending(code, *capsys.readouterr())

    return run


@pytest.fixture
def gate(harness):
    """A gate of the sequential stage alone, with a small budget."""
    return lambda target, *words: harness("gate", target, "--stage", "sequential", "--budget", "2s", *words)


@pytest.fixture
def book(folder):
    """A ledger that nobody here wrote, with its adapter, in the working directory."""
    for name in ("book.py", "book.toml"):
        shutil.copy(FOREIGN / name, folder / name)
    return folder / "book.py"
