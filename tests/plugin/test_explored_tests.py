"""A test that is explored, under pytest: red, kept, replayed first, and green once it is repaired."""

from __future__ import annotations

import pytest

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
    assert tally(REPAIRED).code == 0
