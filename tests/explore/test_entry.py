"""`harness.explore` as people call it: what it returns, raises and refuses."""

from __future__ import annotations

import pytest

import harness
from harness.explore.entry import Undecided, Violated
from harness.findings import UsageError, Verdict


def test_a_program_of_tasks_is_explored(programs, tmp_path):
    """Called with tasks it returns the exploration, and keeps nothing when nothing failed."""
    outcome = harness.explore(
        programs.Counter, [programs.increment_safely] * 2, programs.nothing_lost, executions=50
    )
    assert (Verdict.OK, 50) == (outcome.verdict, outcome.executions)
    assert not (tmp_path / ".harness").exists()


def test_a_violation_is_an_assertion_error_with_the_story(programs, tmp_path):
    """The text has message, explanation, source lines and the seed that was kept."""
    with pytest.raises(Violated) as raised:
        harness.explore(programs.Counter, [programs.increment] * 2, programs.nothing_lost)
    assert isinstance(raised.value, AssertionError)
    [seed] = (tmp_path / ".harness" / "seeds").glob("*.seed")
    text = str(raised.value)
    for part in ("invariant: counted 1", "Lost update", "counter.value = ", seed.name):
        assert part in text
    assert raised.value.exploration.verdict is Verdict.VIOLATION


def test_seeds_are_kept_nowhere_if_so_wished(programs, tmp_path):
    """Without a folder nothing is written."""
    with pytest.raises(Violated):
        harness.explore(programs.Counter, [programs.increment] * 2, programs.nothing_lost, seeds=None)
    assert not list(tmp_path.rglob("*.seed"))


def test_what_could_not_be_decided_is_not_green(programs):
    """One task alone raises, and not as an assertion."""
    with pytest.raises(Undecided, match="no concurrency was exercised"):
        harness.explore(programs.Counter, [programs.increment], seeds=None)
    assert not issubclass(Undecided, AssertionError)


def test_an_invariant_is_watched(programs):
    """An invariant that is passed is checked after every step."""
    tasks = [programs.open_and_close, programs.look]
    with pytest.raises(Violated, match="it is open"):
        harness.explore(programs.Counter, tasks, programs.closed, invariant=programs.closed, seeds=None)


def test_fixtures_are_refused():
    """A test with arguments is told at once, and why."""
    with pytest.raises(UsageError, match="takes tmp_path, monkeypatch: an explored test makes what it needs"):

        @harness.explore
        def test_something(tmp_path, monkeypatch):
            """Never run."""


def test_a_setup_that_cannot_be_called_is_refused(programs):
    """A state is no setup."""
    with pytest.raises(UsageError, match="setup is a function that makes the state"):
        harness.explore(programs.Counter(), [programs.increment])


def test_what_is_no_function_is_refused():
    """A decorator is for functions."""
    with pytest.raises(UsageError, match="decorates a function"):
        harness.explore("test_something")


def test_an_unknown_strategy_is_refused(programs):
    """Its name and those that there are."""
    with pytest.raises(UsageError, match="no strategy 'luck'; there are: portfolio"):
        harness.explore(programs.Counter, [programs.increment] * 2, strategy="luck", seeds=None)


def test_a_bound_method_is_refused(programs):
    """An object made outside of the controlled world cannot be a task."""
    with pytest.raises(UsageError, match="no plain function or class"):
        harness.explore(programs.Counter, [programs.Ordered().order.append] * 2, seeds=None)
    with pytest.raises(UsageError, match="no plain function or class"):
        harness.explore(programs.Counter, [programs.Counter().__init__] * 2, seeds=None)
