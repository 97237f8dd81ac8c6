"""`harness replay`: fails again, passes, cannot be read, no longer applies, one or several at a time."""

from __future__ import annotations

import pytest

from harness.seeds.store import read_seed

TEST = """
import threading


def test_tally():
    total = [0]

    def add():
        seen = total[0]
        total[0] = seen + 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 2, f"counted {total[0]}"
"""
REPAIRED = "        with lock:\n            seen = total[0]\n            total[0] = seen + 1\n"
BROKEN = "        seen = total[0]\n        total[0] = seen + 1\n"
MUTANT = "reference.mutants.ledger.lifecycle:TwoEndersWin"


@pytest.fixture
def seed(harness, folder):
    """The seed of a test that fails, as `harness explore` keeps it."""
    (folder / "test_tally.py").write_text(TEST, encoding="utf-8")
    assert harness("explore", "test_tally.py::test_tally", "--executions", "500").code == 1
    [path] = (folder / ".harness" / "seeds").glob("*.seed")
    return path.relative_to(folder)


def test_a_seed_that_fails_again_is_one(harness, seed):
    """Exit 1, with the story and how often it showed."""
    ending = harness("replay", seed)
    assert (1, "") == (ending.code, ending.err)
    assert "invariant: counted 1" in ending.out or "exception: counted 1" in ending.out
    assert "replayed 10 of 10" in ending.out


def test_a_trace_has_every_step(harness, seed):
    """--trace puts all the steps in front of what is shown without it."""
    plain, traced = harness("replay", seed), harness("replay", "--trace", seed)
    assert traced.out.endswith(plain.out)
    assert traced.out.startswith("   1 ")


def test_a_seed_that_passes_is_zero(harness, seed, folder):
    """Where the claim is given up and the points are as before, the seed applies and nothing fails."""
    path = folder / "test_tally.py"
    path.write_text(TEST.replace("assert total[0] == 2", "assert total[0] > 0"), encoding="utf-8")
    ending = harness("replay", seed)
    assert ending.code == 0
    assert "passes: the schedule applies and no longer shows: counted 1" in ending.out


def test_a_seed_that_no_longer_applies_is_three(harness, seed, folder):
    """Where the code of its points has moved elsewhere: exit 3, and which step it was."""
    text = TEST.replace("    total = [0]\n", "    total, lock = [0], threading.Lock()\n").replace(
        "add", "count"
    )
    (folder / "test_tally.py").write_text(text.replace(BROKEN, REPAIRED), encoding="utf-8")
    ending = harness("replay", seed)
    assert ending.code == 3
    assert "no longer applies: step" in ending.out
    assert ending.out.rstrip().endswith("Nothing failed")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xff", b"job-harness seed 9\n", b"job-harness seed 1\n\nat\n"]
)
def test_a_file_that_is_no_seed_is_two(harness, folder, content):
    """Exit 2 and one line that begins with the file's name."""
    (folder / "bad.seed").write_bytes(content)
    ending = harness("replay", "bad.seed")
    assert (2, "") == (ending.code, ending.out)
    assert ending.err.startswith("harness: bad.seed")
    assert ending.err.count("\n") == 1


def test_a_seed_of_nothing_and_of_a_test_that_is_gone_is_two(harness, seed, folder):
    """A seed has to name what can be run."""
    (folder / "test_tally.py").unlink()
    assert "there is no test test_tally.py::test_tally" in harness("replay", seed).err
    (folder / "of_nothing.seed").write_text("job-harness seed 1\n\n")
    ending = harness("replay", "of_nothing.seed")
    assert (2, True) == (ending.code, "neither a test nor a target" in ending.err)


def test_of_several_the_gravest_counts_and_each_is_told(harness, seed, folder):
    """A failure counts more than a file that cannot be read, wherever it comes."""
    (folder / "bad.seed").write_bytes(b"")
    ending = harness("replay", "bad.seed", seed, "missing.seed")
    assert ending.code == 1
    assert "counted 1" in ending.out
    assert ["harness: bad.seed", "harness: missing.seed"] == [
        line[: line.index(".seed") + 5] for line in ending.err.splitlines()
    ]


def test_what_a_gate_kept_is_replayed(harness, folder):
    """The command that a gate prints shows the same clause again."""
    gate = ("gate", MUTANT, "--stage", "interleavings", "--scenario", "ends", "--seed", "1")
    ending = harness(*gate)
    assert ending.code == 1
    command = next(line for line in ending.out.splitlines() if "harness replay " in line)
    path = command.partition("harness replay ")[2].strip()
    assert (folder / path).exists()
    again = harness("replay", path)
    assert (1, "") == (again.code, again.err)
    assert read_seed(folder / path).fields["message"] in " ".join(again.out.split())


INLINE = """
import harness


class Tally:
    def __init__(self):
        self.total = 0

    def add(self):
        self.total = self.total + 1

    def empty(self):
        self.total = 0


def test_tallies():
    harness.explore(Tally, [Tally.empty, Tally.empty], lambda tally: tally.total == 0, executions=50)
    harness.explore(Tally, [Tally.add, Tally.add], lambda tally: tally.total == 2, executions=300)
"""


@pytest.fixture
def inline(harness, folder):
    """The seed of the second exploration that a test makes itself."""
    (folder / "test_tallies.py").write_text(INLINE, encoding="utf-8")
    assert harness("explore", "test_tallies.py::test_tallies", "--executions", "500").code == 1
    [path] = (folder / ".harness" / "seeds").glob("*.seed")
    return path.relative_to(folder)


def test_each_exploration_of_a_test_is_told_of(harness, folder, inline):
    """A test that calls harness.explore is not itself explored: its explorations are, by number."""
    ending = harness("explore", "test_tallies.py::test_tallies", "--executions", "500")
    assert (1, "") == (ending.code, ending.err)
    assert "OK  test_tallies.py::test_tallies, exploration 1: 500 executions" in ending.out
    assert "VIOLATION  test_tallies.py::test_tallies, exploration 2: " in ending.out
    assert read_seed(folder / inline).fields["exploration"] == "2"


def test_a_seed_of_an_exploration_within_a_test_is_replayed(harness, folder, inline):
    """With the exploration that it was kept for; and not once the test makes it no more."""
    ending = harness("replay", inline)
    assert (1, "") == (ending.code, ending.err)
    assert "check answered False" in ending.out
    assert "replayed 10 of 10" in ending.out
    only_first = "\n".join(INLINE.splitlines()[:-1]) + "\n"
    (folder / "test_tallies.py").write_text(only_first, encoding="utf-8")
    gone = harness("replay", inline)
    assert gone.code == 2
    assert "comes to no exploration '2' any more" in gone.err


def test_a_folder_is_replayed_seed_by_seed(harness, folder, seed):
    """The name of a folder stands for what is in it; an empty one is an error."""
    assert harness("replay", ".harness/seeds").out == harness("replay", seed).out
    (folder / "empty").mkdir()
    ending = harness("replay", "empty")
    assert (2, True) == (ending.code, "there is no seed in this folder" in ending.err)


def test_the_debugger_says_why_it_did_not_stop(harness, folder):
    """Nobody raises in a deadlock."""
    text = TEST.replace(BROKEN, "        lock.acquire()\n").replace(
        "total = [0]\n", "total, lock = [0], threading.Lock()\n"
    )
    (folder / "test_tally.py").write_text(text, encoding="utf-8")
    assert harness("explore", "test_tally.py::test_tally").code == 1
    ending = harness("replay", "--pdb", ".harness/seeds")
    assert ending.code == 1
    assert "--pdb stops where a task raises; here none did" in ending.out
