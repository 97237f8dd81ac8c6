"""The determinism check: what keeps state between executions is told, and its repaired twin is not."""

from __future__ import annotations

import itertools

import pytest

from harness.explore.exploration import Effort
from harness.explore.explorer import explored, laboratory_for
from harness.explore.program import Program
from harness.findings import Verdict
from harness.strategies import STRATEGIES, strategy_named
from harness.strategies.determinism import DeterminismCheck
from harness.strategies.nondeterminism import Nondeterminism

CALLS = itertools.count()


class Counter:
    """A value, and how often it was asked for."""

    def __init__(self):
        self.value = 0
        self.calls = itertools.count()


def moody(counter):
    """What it does depends on how often it was called in this process."""
    if next(CALLS) % 3 == 0:
        counter.value += 1
    counter.value += 1


def steady(counter):
    """The same, with a count that begins with the execution."""
    if next(counter.calls) % 3 == 0:
        counter.value += 1
    counter.value += 1


def test_state_that_outlives_an_execution_is_told():
    """The step, what either run came to there, and what may be behind it."""
    with pytest.raises(Nondeterminism, match=r"the same choices led elsewhere: .*module state kept"):
        explored(Program("moody", Counter, (moody, moody)), Effort(executions=50, strategy="determinism"))


def test_a_program_that_follows_its_schedule_passes():
    """Each execution of the portfolio is run twice, and nothing differs."""
    program = Program("steady", Counter, (steady, steady))
    outcome = explored(program, Effort(executions=100, strategy="determinism"))
    assert Verdict.OK is outcome.verdict
    assert 100 == outcome.executions
    assert outcome.distinct <= 50  # every other one is a repetition


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"determinism"}))
def test_any_strategy_can_be_checked(name):
    """The check asks the other strategy nothing that it would not be asked alone, and ends when it ends."""
    laboratory = laboratory_for(Program("steady", Counter, (steady, steady)), Effort())
    check, last, executions = DeterminismCheck(strategy_named(name, 7)), None, 0
    while executions < 60 and check.begin(last):
        last = laboratory.run(check)
        executions += 1
    assert executions % 2 == 0
    assert executions == 60 or check.complete
