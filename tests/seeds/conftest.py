"""What the seeds' tests share: a till that pays out twice, as a module that can be edited."""

from __future__ import annotations

import importlib
import linecache
import sys

import pytest

from harness.explore.exploration import Effort
from harness.explore.explorer import explored_in, laboratory_for
from harness.explore.program import Program

TILL = """
import threading


class Till:
    def __init__(self):
        self.cash = 10
        self.lock = threading.Lock()


def pay(till):
    left = till.cash
    if left >= 6:
        till.cash = left - 6


def refill(till):
    left = till.cash
    till.cash = left + 1


def audit(till):
    assert till.cash == 5, f"{till.cash} in the till"
"""


@pytest.fixture
def till():
    """The source of the program."""
    return TILL


@pytest.fixture
def laboratory(tmp_path, monkeypatch):
    """Makes a laboratory for a version of the source, always under one module name."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(text):
        path = tmp_path / "till.py"
        path.write_text(text, encoding="utf-8")
        sys.modules.pop("till", None)
        importlib.invalidate_caches()
        linecache.clearcache()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        module = importlib.import_module("till")
        sys.dont_write_bytecode = before
        return laboratory_for(
            Program("till", module.Till, (module.pay, module.refill), module.audit), Effort()
        )

    yield make
    sys.modules.pop("till", None)


@pytest.fixture
def found_in():
    """Explores a laboratory until it fails."""

    def explore(lab, **effort):
        return explored_in(
            lab, Effort(executions=500, **effort), lambda executions, steps, distinct: None
        ).found

    return explore
