"""A test that is explored, under pytest: red, kept, replayed first, and green once it is repaired."""

from __future__ import annotations

import pytest

from harness.findings import Verdict
from harness.replaying import replay_file

BROKEN = """
import threading

import harness


@harness.explore(executions=300)
def test_tally():
    total, lock = [0], threading.Lock()

    def add():
        seen = total[0]
        total[0] = seen + 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 2, f"counted {total[0]}"


@harness.explore(executions=20)
def test_alone():
    assert True
"""
REPAIRED = BROKEN.replace(
    "        seen = total[0]\n        total[0] = seen + 1\n",
    "        with lock:\n            seen = total[0]\n            total[0] = seen + 1\n",
)


@pytest.fixture
def tally(run_pytest, tmp_path):
    """Writes the tests and runs one of them."""

    def run(text, name="test_tally"):
        (tmp_path / "test_tally.py").write_text(text, encoding="utf-8")
        return run_pytest(f"test_tally.py::{name}")

    return run


def test_a_race_is_red_kept_and_green_after_the_repair(tally, tmp_path):
    """One schedule is kept; the next run begins with it; the repaired test passes with the seed in place."""
    first = tally(BROKEN)
    assert first.code == 1
    assert "Lost update" in first.out
    assert "replay: harness replay .harness/seeds/test-test_tally" in first.out
    [seed] = (tmp_path / ".harness" / "seeds").glob("*.seed")
    second = tally(BROKEN)
    assert second.code == 1
    assert f"(kept seed {seed.name})" in second.out
    assert [seed] == list((tmp_path / ".harness" / "seeds").glob("*.seed"))
    third = tally(REPAIRED)
    assert third.code == 0
    assert seed.exists()


def test_a_seed_that_no_longer_applies_is_warned_of(tally):
    """The test is green and says which seed protects nothing any more."""
    tally(BROKEN)
    ending = tally(REPAIRED.replace("def add", "def count").replace("target=add", "target=count"))
    assert ending.code == 0
    assert "SeedWarning: seed test-test_tally-" in ending.out
    assert "no longer applies: step " in ending.out


def test_the_summary_says_what_failed(tally):
    """The last lines have the claim, not an empty message."""
    summary = tally(BROKEN).out.partition("short test summary")[2]
    assert "counted 1" in summary


def test_a_failure_shows_the_story_and_not_the_harness(tally):
    """The traceback hides our frames."""
    out = tally(BROKEN).out
    assert "harness/explore/entry.py" not in out.partition("short test summary")[0]


def test_a_test_that_starts_nobody_is_not_green(tally):
    """Nothing was concurrent: the test fails and says so."""
    ending = tally(BROKEN, "test_alone")
    assert ending.code == 1
    assert "no concurrency was exercised" in ending.out


def test_a_corrupt_seed_does_not_stop_a_test(tally, tmp_path):
    """A file in the folder that is no seed is passed over."""
    folder = tmp_path / ".harness" / "seeds"
    folder.mkdir(parents=True)
    (folder / "bad.seed").write_bytes(b"\xff")
    ending = tally(REPAIRED)
    assert ending.code == 0
    assert "SeedWarning: seed ignored: .harness/seeds/bad.seed: this is no seed" in ending.out


METHODS = """
import threading

import harness
import pytest


def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class TestTally:
    count = 0

    def add(self):
        self.count = self.count + 1

    @harness.explore(executions=300)
    def test_method(self):
        together(self.add, self.add)
        assert self.count == 2, f"counted {self.count}"

    @pytest.mark.parametrize("number", [1, 2])
    def test_inline(self, number):
        harness.explore(TestTally, [TestTally.add] * 2, lambda tally: tally.count == number, executions=300)


@pytest.mark.parametrize("number", [1, 2])
@harness.explore(executions=300)
def test_numbers(number):
    tally = TestTally()
    together(tally.add, tally.add)
    assert tally.count >= number, f"counted {tally.count}"


@harness.explore
def test_fixture(tmp_path):
    pass
"""


@pytest.fixture
def methods(run_pytest, tmp_path, monkeypatch):
    """Writes the tests with methods and arguments, and runs one of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_methods.py").write_text(METHODS, encoding="utf-8")
    return lambda name: run_pytest(f"test_methods.py::{name}")


def test_a_method_is_explored_with_a_new_instance(methods, tmp_path):
    """Nothing of one execution is left to the next; the seed is replayed."""
    ending = methods("TestTally::test_method")
    assert ending.code == 1
    assert "Lost update" in ending.out
    assert "(kept seed " in methods("TestTally::test_method").out
    [seed] = (tmp_path / ".harness" / "seeds").glob("*.seed")
    assert replay_file(seed, 80).verdict is Verdict.VIOLATION


def test_parameters_are_part_of_the_test(methods, tmp_path):
    """A parametrized test is explored with its plain values, and its seed belongs to these."""
    ending = methods("test_numbers")
    assert "1 failed, 1 passed" in ending.out
    [seed] = (tmp_path / ".harness" / "seeds").glob("*.seed")
    assert replay_file(seed, 80).verdict is Verdict.VIOLATION
    again = methods("test_numbers")
    assert "(kept seed " in again.out
    assert "SeedWarning" not in again.out


def test_a_fixture_is_refused_and_told(methods):
    """It would be shared between executions."""
    ending = methods("test_fixture")
    assert ending.code == 1
    assert "takes tmp_path, PosixPath: an explored test makes what it needs itself" in ending.out


def test_an_exploration_that_needs_pytest_is_replayed_by_pytest(methods):
    """Nobody else can give the test its arguments."""
    ending = methods("TestTally::test_inline")
    assert "1 failed, 1 passed" not in ending.out
    assert (
        "replay: pytest 'test_methods.py::TestTally::test_inline[2]'  # replays .harness/seeds/" in ending.out
    )
