"""The checker against all permutations, by known histories, and at the end of its budget."""

from __future__ import annotations

from random import Random, SystemRandom

import pytest

from benchmarks.checker_fuzz import mismatches_in
from benchmarks.checker_long import spoilt
from benchmarks.programs.brute_force import in_real_time
from benchmarks.programs.histories import concurrent_history
from harness.findings import Verdict
from harness.history import automaton
from harness.history.automaton import BLOCKED
from harness.history.linearizability import Budget, check_linearizable
from harness.history.models import BoundedQueue, CasRegister, Counter, FifoQueue, KeyValue, Lock, Register
from harness.history.recorder import Recorded


def op(client, operation, *arguments, result=None, at):
    """An operation from `at[0]` to `at[1]`; without an end it did not return."""
    return Recorded(client, operation, arguments, result, at[0], at[1] if len(at) > 1 else None)


KNOWN = {
    "a read of what was overwritten": (
        Register(),
        [
            op("a", "write", 1, at=(0, 1)),
            op("a", "write", 2, at=(2, 3)),
            op("b", "read", result=1, at=(4, 5)),
        ],
        2,
    ),
    "the same, while the second write lasts": (
        Register(),
        [
            op("a", "write", 1, at=(0, 1)),
            op("a", "write", 2, at=(2, 6)),
            op("b", "read", result=1, at=(4, 5)),
        ],
        None,
    ),
    "new, then old": (
        Register(),
        [
            op("a", "write", 1, at=(0, 9)),
            op("b", "read", result=1, at=(1, 2)),
            op("c", "read", result=None, at=(3, 4)),
        ],
        2,
    ),
    "True is not 1": (
        Register(),
        [op("a", "write", True, at=(0, 1)), op("a", "read", result=1, at=(2, 3))],
        1,
    ),
    "a write without a response that took effect": (
        Register(),
        [op("a", "write", 1, at=(0,)), op("b", "read", result=1, at=(5, 6))],
        None,
    ),
    "a write without a response that did not": (
        Register(),
        [op("a", "write", 1, at=(0,)), op("b", "read", result=None, at=(5, 6))],
        None,
    ),
    "intervals are closed": (
        Register(),
        [op("a", "write", 1, at=(0, 2)), op("b", "read", result=None, at=(2, 3))],
        None,
    ),
    "two compare-and-sets from one value": (
        CasRegister(),
        [
            op("a", "write", 0, at=(0, 1)),
            op("a", "cas", 0, 1, result=True, at=(2, 5)),
            op("b", "cas", 0, 2, result=True, at=(2, 5)),
        ],
        2,
    ),
    "a get that blocks on an empty queue": (
        FifoQueue(),
        [
            op("a", "put", 1, at=(0, 1)),
            op("b", "get", result=1, at=(2, 3)),
            op("c", "get", result=BLOCKED, at=(2,)),
        ],
        None,
    ),
    "a get that blocks although there is an item": (
        FifoQueue(),
        [op("a", "put", 1, at=(0, 1)), op("c", "get", result=BLOCKED, at=(2,))],
        "end",
    ),
    "an offer that finds room where there is none": (
        BoundedQueue(1),
        [op("a", "offer", 1, result=True, at=(0, 1)), op("b", "offer", 2, result=True, at=(2, 3))],
        1,
    ),
    "two hold one lock": (
        Lock(),
        [op("a", "acquire", at=(0, 1)), op("b", "acquire", at=(2, 3))],
        1,
    ),
    "a number given twice": (
        Counter(),
        [op("a", "increment", result=0, at=(0, 5)), op("b", "increment", result=0, at=(0, 5))],
        1,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_history_is_decided(name):
    """The verdict, the order, and the response at which the longest prefix ends."""
    model, history, stuck = KNOWN[name]
    checked = check_linearizable(history, model)
    if stuck is None:
        assert Verdict.OK is checked.verdict
        assert {item for item in history if item.returned is not None} <= set(checked.order)
        assert in_real_time(checked.order)
    else:
        assert Verdict.VIOLATION is checked.verdict
        assert checked.stuck is (None if stuck == "end" else history[stuck])


def test_the_checker_agrees_with_all_permutations():
    """On random histories of every model, from a fresh seed; both verdicts come up."""
    seed = SystemRandom().randrange(1_000_000)
    counts = mismatches_in(2_000, seed)
    assert 0 == counts["mismatches"], f"seed {seed}"
    assert min(counts["ok"], counts["violations"]) > 500


def test_a_checker_that_takes_true_for_one_is_caught(monkeypatch, capsys):
    """The comparison can fail: with values interned by equality alone, it does."""

    class Equal(automaton.Interner):
        def number(self, value):
            if value not in self.values:
                self.values.append(value)
            return self.values.index(value)

    monkeypatch.setattr(automaton, "Interner", Equal)
    assert mismatches_in(500, 1)["mismatches"] > 0
    assert "mismatch: " in capsys.readouterr().out


def test_a_long_legal_history_is_followed():
    """Ten clients, two thousand operations: the order it gives is one, and hardly more was looked at."""
    history = concurrent_history(Random(4), clients=10, operations=2_000)
    checked = check_linearizable(history, KeyValue())
    assert Verdict.OK is checked.verdict
    assert in_real_time(checked.order)
    assert len(history) == len(checked.order)
    assert checked.nodes < 20 * len(history)


def test_one_wrong_answer_in_a_long_history_is_found():
    """Its part is named, and the response."""
    history = spoilt(concurrent_history(Random(5), clients=4, operations=600, keys=3))
    checked = check_linearizable(history, KeyValue())
    assert Verdict.VIOLATION is checked.verdict
    assert checked.part == checked.stuck.arguments[0]
    assert "get" == checked.stuck.operation


def test_a_budget_that_does_not_suffice_is_unknown():
    """Never a guess; the reason says what to do."""
    history = spoilt(concurrent_history(Random(6), clients=20, operations=400))
    checked = check_linearizable(history, KeyValue(), Budget(nodes=300))
    assert Verdict.UNKNOWN is checked.verdict
    assert "raise the budget" in checked.reason
    assert 300 <= checked.nodes < 3_000
