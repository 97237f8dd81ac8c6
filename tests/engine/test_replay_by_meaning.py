"""Schedules replay by meaning: as text, after edits, and they say when they no longer fit."""

from __future__ import annotations

import sys

import pytest

from harness.control.trace import TraceRecorder
from harness.explore.exploration import Effort
from harness.explore.explorer import explored_in, laboratory_for
from harness.explore.program import Program
from harness.findings import UsageError
from harness.seeds.schedule import Seed
from harness.strategies import strategy_named
from harness.strategies.replay import Replay
from harness.strategies.rerun import Rerun
from scenarios.known_bugs import KNOWN_BUGS

SOURCE = """
class Account:
    def __init__(self):
        self.balance = 10

    def withdraw(self, amount):
        seen = self.balance
        if seen >= amount:
            self.balance = seen - amount
            return True
        return False


class Case:
    def __init__(self):
        self.account = Account()
        self.paid = 0


def setup():
    return Case()


def first(case):
    case.first = case.account.withdraw(6)


def second(case):
    case.second = case.account.withdraw(6)


def check(case):
    assert case.first + case.second == 1, "paid out twice"
"""
EDITS = {
    "a comment": lambda text: text.replace("        seen = self", "        # look\n        seen = self"),
    "an unrelated statement": lambda text: text.replace(
        "        self.balance = 10\n", "        self.balance = 10\n        self.owner = str(1)\n"
    ),
    "a renamed local": lambda text: text.replace("seen", "noticed"),
}


@pytest.fixture
def laboratory(tmp_path, monkeypatch):
    """Makes a laboratory for a version of the program's source."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(text, name):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        sys.modules.pop(name, None)
        module = __import__(name)
        program = Program("account", module.setup, (module.first, module.second), module.check)
        return laboratory_for(program, Effort())

    return make


def _schedule_of(laboratory):
    outcome = explored_in(laboratory, Effort(executions=500), lambda executions, steps, distinct: None)
    assert outcome.found is not None
    assert outcome.found.failure.message == "paid out twice"
    assert outcome.found.replayed == outcome.found.replays
    return outcome.found.schedule


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_elsewhere_changes_nothing(laboratory, edit):
    """The schedule found in the original shows the same failure in the edited program."""
    schedule = _schedule_of(laboratory(SOURCE, "account_before"))
    text = EDITS[edit](SOURCE)
    assert text != SOURCE
    edited = laboratory(text.replace("account_before", "account_after"), "account_before")
    replay = Replay(schedule)
    ended = edited.run(replay)
    assert replay.missed == ""
    assert ended.failure.message == "paid out twice"


def test_a_repaired_program_passes_and_says_what_no_longer_applies(laboratory):
    """Where the point is gone, the replay names the step that it missed."""
    schedule = _schedule_of(laboratory(SOURCE, "account_repaired"))
    text = SOURCE.replace("self.balance = 10", "self.balance = 10\n        self.lock = threading.Lock()")
    text = text.replace(
        "        seen = self.balance\n",
        "        with self.lock:\n            return self._pay(amount)\n\n"
        "    def _pay(self, amount):\n        seen = self.balance\n",
    )
    replay = Replay(schedule)
    ended = laboratory("import threading\n" + text, "account_repaired").run(replay)
    assert ended.failure is None
    assert "never came to 'write Account.balance" in replay.missed


def test_a_seed_is_its_text(laboratory):
    """Written and read again, a seed is the same."""
    seed = Seed(_schedule_of(laboratory(SOURCE, "account_text")), {"test": "a::b", "message": "two\nlines"})
    read = Seed.from_text(seed.to_text())
    assert seed.schedule == read.schedule
    assert read.fields == {"test": "a::b", "message": "two lines"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is no seed"),
        ("something else\n", "this is no seed"),
        ("job-harness seed 99\n", "version '99' is not known"),
        ("job-harness seed 1\ntest: x\n\nat nowhere\n", "line 4: neither a field nor a step"),
    ],
)
def test_a_text_that_is_no_seed_is_told(text, said):
    """One sentence with the file's name, and the line where there is one."""
    with pytest.raises(UsageError, match=said) as caught:
        Seed.from_text(text, "x.seed")
    assert str(caught.value).startswith("x.seed")


@pytest.mark.parametrize("name", ["account", "din_phil_3", "stringbuffer", "twostage", "bounded_buffer"])
def test_a_lean_run_and_its_traced_rerun_agree(name):
    """Steps, decisions and failure are the same when everything is looked at."""
    bug = next(bug for bug in KNOWN_BUGS if bug.name == name)
    for strategy in ("random", "pct", "pos", "urw", "portfolio"):
        lab = laboratory_for(bug.buggy, Effort())
        chooser = strategy_named(strategy, 7)
        last = None
        for _ in range(30):
            chooser.begin(last)
            last = lab.run(chooser)
            again = lab.run(Rerun(last.decisions, chooser.early_timeouts), TraceRecorder())
            assert (last.steps, last.decisions) == (again.steps, again.decisions)
            assert last.failure == again.failure
