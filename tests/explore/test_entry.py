"""`harness.explore` as people call it: what it returns, raises and refuses."""

from __future__ import annotations

import subprocess
import sys

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


def test_fixtures_are_refused(tmp_path):
    """What executions would share is told, and why; plain values are welcome."""

    @harness.explore
    def test_something(count, folder):
        """Never run."""

    with pytest.raises(UsageError, match=r"takes folder, PosixPath: an explored test makes what it needs"):
        test_something(count=3, folder=tmp_path)


@pytest.mark.parametrize("claim", ["check", "invariant"])
def test_a_claim_that_answers_false_does_not_hold(programs, claim):
    """It need not raise: False is as good, with the claim's own place; True and None hold."""
    tasks = [programs.open_and_close, programs.look]
    claims = {"check": programs.is_open, "invariant": programs.is_closed}
    with pytest.raises(Violated, match=f"{claim} answered False\n  at small_programs.py"):
        harness.explore(programs.Counter, tasks, **{claim: claims[claim]}, seeds=None)
    assert harness.explore(programs.Counter, tasks, programs.is_closed, seeds=None, executions=20)


def test_a_claim_that_answers_something_else_is_refused(programs):
    """A number is neither: a claim that merely computes would always be green."""
    with pytest.raises(UsageError, match="check answered int, neither True nor False"):
        harness.explore(programs.Counter, [programs.increment] * 2, programs.counted, seeds=None)


@pytest.mark.parametrize(
    "options", [{"check": print}, {"invariant": print}, {"racing_start": True}, {"name": "mine"}]
)
def test_what_belongs_to_tasks_is_refused_for_a_whole_test(options):
    """A claim that nobody would ever check is an error, not a green test."""
    with pytest.raises(UsageError, match="a decorated test asserts what it claims itself"):
        harness.explore(**options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"executions": 0}, "executions is 0"),
        ({"jobs": 0}, "jobs is 0"),
        ({"instrument": ["no_such_package"]}, "no package 'no_such_package'"),
    ],
)
def test_options_that_cannot_be_are_refused_at_once(options, told):
    """Before anything runs, also by the decorator."""
    with pytest.raises(UsageError, match=told):
        harness.explore(**options)


def test_asyncio_is_refused():
    """It is not under control, and a coroutine that nobody awaits would be green."""

    async def test_something():
        """Never run."""

    with pytest.raises(UsageError, match="asyncio is not under control"):
        harness.explore(test_something)


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


SCRIPT = """
import harness


class Tally:
    def __init__(self):
        self.total = 0

    def add(self):
        self.total = self.total + 1


print("once")
if {guard}:
    harness.explore(Tally, [Tally.add, Tally.add], lambda tally: tally.total == 2)
"""


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        ("__name__ == '__main__'", "replay: python script.py  # replays .harness/seeds/"),
        ("True", "below: if __name__"),
    ],
)
def test_a_script_explores_if_it_is_guarded(tmp_path, guard, told):
    """Its private twin is a module by the name of the file, which must not explore in its turn."""
    (tmp_path / "script.py").write_text(SCRIPT.replace("{guard}", guard), encoding="utf-8")
    ending = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ending.returncode == 1
    assert told in ending.stderr
    assert "RecursionError" not in ending.stderr
