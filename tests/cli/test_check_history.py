"""`harness check-history`: the answer, the longest order, and what cannot be used."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "histories.md"
WRONG = [
    {"client": "a", "operation": "write", "arguments": [1], "called": 0, "returned": 1},
    {"client": "a", "operation": "write", "arguments": [2], "called": 2, "returned": 3},
    {"client": "b", "operation": "read", "result": 1, "called": 4, "returned": 5},
]
RIGHT = [*WRONG[:2], {**WRONG[2], "result": 2}]
STACK = """
from harness.history.models import Sequential


class Stack(Sequential):
    operations = frozenset({"push", "pop"})

    def initial(self):
        return [()]

    def step(self, state, operation, arguments, response):
        if operation == "push":
            return [(*state, arguments[0])]
        return [state[:-1]] if state and state[-1] == response else []
"""
TOLD = """\
VIOLATION: no order explains a response:

    a  write(1) -> None   [0, 1]
    a  write(2) -> None   [2, 3]
  > b  read() -> 1   [4, 5]

The operations above the last line are in the longest order that the model allows.
"""


@pytest.fixture
def history(tmp_path, monkeypatch):
    """Writes a history file into the working directory, and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(lines):
        (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return "history.jsonl"

    return write


def test_a_response_that_no_order_explains_is_shown(harness, history):
    """Exit 1, the longest order, and the response."""
    ending = harness("check-history", history(WRONG), "--model", "register")
    assert (1, TOLD) == (ending.code, ending.out)


def test_a_history_in_order_is_ok(harness, history):
    """Exit 0, in one line."""
    ending = harness("check-history", history(RIGHT), "--model", "register")
    assert (0, "OK: 3 operations have an order that the model allows\n") == (ending.code, ending.out)


def test_a_model_of_the_users_own(harness, history, tmp_path):
    """A class in a file, of twelve lines."""
    (tmp_path / "stack.py").write_text(STACK, encoding="utf-8")
    lines = [
        {"client": "a", "operation": "push", "arguments": [1], "called": 0, "returned": 1},
        {"client": "a", "operation": "push", "arguments": [2], "called": 2, "returned": 3},
        {"client": "a", "operation": "pop", "result": 1, "called": 4, "returned": 5},
    ]
    assert 1 == harness("check-history", history(lines), "--model", "stack.py:Stack").code
    lines[2]["result"] = 2
    assert 0 == harness("check-history", history(lines), "--model", "stack.py:Stack").code


@pytest.mark.parametrize(
    ("lines", "model", "said"),
    [
        (RIGHT, "regster", "there is no model 'regster'; there are register, cas-register, kv"),
        (RIGHT, "queue", "operation 1 is 'write'; the model has get, poll, put"),
        ([{**WRONG[0], "called": 9}], "register", "history.jsonl:1: it returns at 1, before it is called"),
    ],
)
def test_what_cannot_be_checked_is_told(harness, history, lines, model, said):
    """Exit 2, one sentence."""
    ending = harness("check-history", history(lines), "--model", model)
    assert 2 == ending.code
    assert said in ending.err
    assert "Traceback" not in ending.err


def test_an_empty_history_is_unknown(harness, history):
    """Nothing happened, so nothing is known."""
    assert 3 == harness("check-history", history([]), "--model", "register").code


def test_a_small_budget_is_unknown(harness, history):
    """Exit 3, with what to do."""
    ending = harness("check-history", history(RIGHT), "--model", "register", "--nodes", "1")
    assert 3 == ending.code
    assert "raise the budget" in ending.out


def blocks_of(text, language):
    """The fenced blocks of a page in this language."""
    return [part.partition("```")[0] for part in text.split(f"```{language}\n")[1:]]


@pytest.mark.skipif(not PAGE.exists(), reason="the installed package comes without its pages")
def test_the_page_on_histories_says_what_happens(harness, tmp_path, monkeypatch):
    """Its file leads to its output, and its model is one."""
    page = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [lines] = blocks_of(page, "json")
    [model] = blocks_of(page, "python")
    (tmp_path / "history.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "stack.py").write_text(model, encoding="utf-8")
    ending = harness("check-history", "history.jsonl", "--model", "register")
    assert 1 == ending.code
    assert textwrap.indent(ending.out, "    ", lambda line: line.strip()) in page
    pushed = {"client": "a", "operation": "push", "arguments": [1], "called": 0, "returned": 1}
    popped = {"client": "b", "operation": "pop", "result": 2, "called": 2, "returned": 3}
    (tmp_path / "history.jsonl").write_text(f"{json.dumps(pushed)}\n{json.dumps(popped)}", encoding="utf-8")
    assert 1 == harness("check-history", "history.jsonl", "--model", "stack.py:Stack").code
