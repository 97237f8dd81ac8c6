"""Whatever a strategy chooses follows from its seed, and is possible."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from benchmarks.programs.tiny import Playground, random_program
from harness.explore.exploration import Effort
from harness.explore.explorer import laboratory_for
from harness.findings import UsageError
from harness.strategies import SEARCHES, STRATEGIES, strategy_named
from harness.strategies.portfolio import Portfolio
from scenarios.known_bugs import KNOWN_BUGS

BUGS = {bug.name: bug for bug in KNOWN_BUGS}
SAMPLED = sorted(STRATEGIES.keys() - SEARCHES)
EXECUTIONS = 24
ELSEWHERE = """
import hashlib, sys
from harness.explore.exploration import Effort
from harness.explore.explorer import laboratory_for
from harness.strategies import STRATEGIES, strategy_named
from scenarios.known_bugs import KNOWN_BUGS

program = next(bug.buggy for bug in KNOWN_BUGS if bug.name == "stringbuffer")
for name in STRATEGIES:
    laboratory, strategy, last, told = laboratory_for(program, Effort()), strategy_named(name, 7), None, []
    for _ in range(24):
        if strategy.begin(last):
            last = laboratory.run(strategy)
            told.append((last.steps, last.decisions))
    print(name, hashlib.sha256(repr(told).encode()).hexdigest())
"""


def choices(name, seed, bug, played):
    """Decisions of the first executions of a fresh strategy in a fresh laboratory."""
    laboratory = laboratory_for(BUGS[bug].buggy, Effort())
    return [ended.decisions for ended in played(laboratory, strategy_named(name, seed), EXECUTIONS)]


@pytest.mark.parametrize("bug", ["stringbuffer", "din_phil_3"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_seed_makes_the_same_choices_again(name, bug, played):
    """Two strategies of one seed decide alike in every execution."""
    assert choices(name, 11, bug, played) == choices(name, 11, bug, played)


@pytest.mark.parametrize("name", SAMPLED)
def test_another_seed_makes_other_choices(name, played):
    """The seed is used: what is the same for one seed differs for the next."""
    assert choices(name, 11, "stringbuffer", played) != choices(name, 12, "stringbuffer", played)


def test_choices_do_not_depend_on_hashes():
    """Processes that hash strings differently decide alike, with every strategy."""
    told = []
    for number in ("1", "2"):
        ending = subprocess.run(
            [sys.executable, "-c", ELSEWHERE],
            env={**os.environ, "PYTHONHASHSEED": number},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(ending.stdout)
    assert told[0] == told[1]
    assert len(STRATEGIES) == len(set(told[0].splitlines()))


class Watched:
    """Passes every question on, and notes answers that are none."""

    def __init__(self, strategy):
        self._strategy = strategy
        self.asked = 0
        self.wrong = []

    def __getattr__(self, name):
        return getattr(self._strategy, name)

    def choose(self, moment):
        ids = [task.id for task in moment.runnable if task is not moment.clock]
        chosen = self._strategy.choose(moment)
        self.asked += 1
        if chosen not in moment.runnable:
            self.wrong.append(f"{chosen.name} is not runnable")
        if ids != sorted(ids) or moment.clock in moment.runnable[:-1]:
            self.wrong.append(f"runnable out of order: {moment.runnable}")
        if moment.current not in (None, *moment.runnable):
            self.wrong.append(f"{moment.current} asks and is not runnable")
        return chosen


def watched_on_tiny_programs(strategy, programs):
    """The watcher of a strategy that ran on programs of every feature; each is met by it anew."""
    asked, wrong = 0, []
    playground = Playground()
    for number in range(programs):
        watch = Watched(strategy())
        playground.outcomes(random_program(Random(number)), watch, most=20)
        asked += watch.asked
        wrong += watch.wrong
    return asked, wrong


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_runnable_tasks_are_named(name):
    """Over locks, conditions, events and timeouts: who is chosen can go on, and is asked for in order."""
    asked, wrong = watched_on_tiny_programs(lambda: strategy_named(name, 3), 12)
    assert asked > 100
    assert wrong == []


def test_a_choice_of_somebody_else_would_be_noticed():
    """The check above can fail: a strategy that names whoever is blocked is told."""

    class Stray:
        sees_all = True
        follows = False
        early_timeouts = True
        begun = False

        def begin(self, last):
            if self.begun:
                return False
            self.begun = True
            return True

        def choose(self, moment):
            return moment.tasks[0]  # it waits for the others

    watch = Watched(Stray())
    program = ((("read", 0, 0),), (("read", 0, 0),))
    Playground().outcomes(program, watch)
    assert "main is not runnable" in watch.wrong


@pytest.mark.parametrize("name", SAMPLED)
def test_draws_stay_below_their_bound(name):
    """A data choice is one of the values that there are, and each of them comes up."""
    strategy = strategy_named(name, 5)
    strategy.begin(None)
    assert set(range(4)) == {strategy.draw(4) for _ in range(200)}


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_a_search_comes_to_an_end(name, strands):
    """A search stops by itself, says that it is complete, and stays at its end."""
    tasks = [lambda: strands.access(True, strands, "x")] * 2
    strategy, last, executions = strategy_named(name, 0), None, 0
    while strategy.begin(last):
        last = strands.run(tasks, strategy)
        executions += 1
    assert strategy.complete
    assert executions > 1
    assert not strategy.begin(last)


def test_an_unknown_strategy_is_told():
    """The message lists those that there are."""
    with pytest.raises(UsageError, match="no strategy 'luck'; there are: portfolio, random, pct"):
        strategy_named("luck", 0)


def test_a_portfolio_gives_each_its_turns():
    """Seven turns in a fixed order, three of them focused PCT, again and again."""
    portfolio = Portfolio(1)
    turns = []
    for _ in range(21):
        assert portfolio.begin(None)
        turns.append(type(portfolio.present).__name__)
    once = ["RandomWalk", "POS", "FocusedPCT", "PCT", "FocusedPCT", "URW", "FocusedPCT"]
    assert once * 3 == turns


def test_a_strategy_of_a_portfolio_hears_of_its_own_executions_only(monkeypatch):
    """What PCT learns lengths from is what PCT ran."""
    heard = []
    portfolio = Portfolio(1)
    kinds = {type(turn) for turn in portfolio._turns}
    for kind in kinds:
        begin = kind.begin

        def noted(self, last, begin=begin):
            heard.append((type(self).__name__, None if last is None else last.owner))
            return begin(self, last)

        monkeypatch.setattr(kind, "begin", noted)
    last = None
    for _ in range(28):
        portfolio.begin(last)
        last = Told(type(portfolio.present).__name__)
    assert {owner for name, owner in heard if owner not in (None, name)} == set()
    assert {"RandomWalk", "POS", "PCT", "URW"} <= {owner for _, owner in heard}
    assert Counter(name for name, _ in heard) == Counter(
        {"RandomWalk": 4, "POS": 4, "FocusedPCT": 12, "PCT": 4, "URW": 4}
    )


class Told:
    """An ending that knows whose it is."""

    cut = False
    racing = 5

    def __init__(self, owner):
        self.owner = owner
