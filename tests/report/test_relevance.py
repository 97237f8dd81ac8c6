"""Which steps are shown: who waited, who woke it, and who was faster."""

from __future__ import annotations

import importlib
import sys

import pytest

from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.report.explanation import explained
from harness.report.interleaving import interleaving_text

BOX = """
import threading


class Box:
    def __init__(self):
        self.items = []
        self.full = threading.Condition()
        self.ready = False

    def put(self):
        with self.full:
            self.items.append(1)
            self.full.notify()

    def get(self):
        with self.full:
            if not self.items:
                self.full.wait()
            self.items.pop()

    def get_carefully(self):
        with self.full:
            while not self.items:
                self.full.wait()
            self.items.pop()

    def await_ready(self):
        if not self.ready:
            with self.full:
                self.full.wait()

    def get_ready(self):
        self.ready = True
        with self.full:
            self.full.notify()

    def lock_twice(self):
        with self.full:
            pass
"""


@pytest.fixture
def box(tmp_path, monkeypatch):
    """The class, in a module of its own."""
    (tmp_path / "box.py").write_text(BOX, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("box", None)
    yield importlib.import_module("box").Box
    sys.modules.pop("box", None)


def outcome(box, *tasks):
    """What exploring these methods shows."""
    program = Program("box", box, tuple(getattr(box, task) for task in tasks))
    return explored(program, Effort(executions=2_000))


def test_who_was_woken_too_late_is_told(box):
    """A wait without a second look: the wait, the notify and who took the item are there, in order."""
    found = outcome(box, "get", "get", "put", "put").found
    sentence = explained(found.failure, found.steps)
    assert " was woken by put-" in sentence
    assert "but before it went on get-" in sentence
    text = interleaving_text(found, 200)
    assert text.index("waits: 19  self.full.wait()") < text.index("self.full.notify()")
    assert text.index("self.full.notify()") < text.index("woken: 19  self.full.wait()")
    heading = next(line for line in text.splitlines() if line.startswith("  get-"))
    assert len(heading.split("|")) == 3


def test_its_repaired_twin_is_fine(box):
    """Who looks again is never too late."""
    assert outcome(box, "get_carefully", "get_carefully", "put", "put").found is None


def test_a_notify_that_nobody_heard_is_shown(box):
    """Look, change, notify, wait: the four lines of a lost wakeup."""
    found = outcome(box, "await_ready", "get_ready").found
    text = interleaving_text(found, 80)
    lines = ("if not self.ready:", "self.ready = True", "self.full.notify()", "waits: ")
    places = [text.index(line) for line in lines]
    assert places == sorted(places)


def test_a_lock_is_not_a_wait(box):
    """Nobody is said to have been woken who came to a lock that was taken."""
    found = outcome(box, "get", "lock_twice", "lock_twice", "put", "get").found
    rows = [line for line in interleaving_text(found, 200).splitlines() if "woken: " in line]
    assert all("self.full.wait()" in row for row in rows)
