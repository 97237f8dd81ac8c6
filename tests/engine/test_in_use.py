"""The engine as people meet it: explored tests, kept seeds, `harness replay`, the gate's stage."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import harness
from harness.explore.entry import Undecided, Violated
from harness.findings import UsageError

RACY = """
import threading

import harness


class Counter:
    def __init__(self):
        self.value = 0

    def increment(self):
        self.value += 1


@harness.explore(executions=400)
def test_nothing_is_lost():
    counter = Counter()
    threads = [threading.Thread(target=counter.increment) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value == 2
"""
LOCKED = "        with self.lock:\n            self.value += 1"
MADE = "        self.value = 0\n        self.lock = threading.Lock()"
REPAIRED = RACY.replace("        self.value += 1", LOCKED).replace("        self.value = 0", MADE)


@pytest.fixture
def project(tmp_path):
    """A folder with a test file, and commands run in it."""

    def run(*words):
        environment = {**os.environ, "COLUMNS": "100"}
        environment.pop("PYTEST_ADDOPTS", None)
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    run.folder = tmp_path
    (tmp_path / "test_counter.py").write_text(RACY, encoding="utf-8")
    return run


def test_a_race_is_found_kept_replayed_and_guarded(project):
    """The whole life of a seed: found by a test, shown again by the command, gone after the repair."""
    pytest_words = ("pytest", "-q", "-p", "no:cacheprovider", "test_counter.py")
    first = project(*pytest_words)
    assert first.returncode == 1
    assert "Lost update: " in first.stdout
    assert "replayed 10 of 10" in first.stdout
    [seed] = (project.folder / ".harness" / "seeds").glob("*.seed")
    assert f"replay: harness replay .harness/seeds/{seed.name}" in first.stdout
    shown = project("harness", "replay", "--trace", str(seed))
    assert shown.returncode == 1
    assert "both read Counter.value before either wrote it back" in shown.stdout
    again = project(*pytest_words)
    assert f"kept seed {seed.name}" in again.stdout
    (project.folder / "test_counter.py").write_text(REPAIRED, encoding="utf-8")
    assert project(*pytest_words).returncode == 0
    gone = project("harness", "replay", str(seed))
    assert gone.returncode in (0, 3)
    assert "passes" in gone.stdout or "no longer applies" in gone.stdout


def test_replay_tells_what_is_wrong_with_a_file_and_goes_on(project):
    """A corrupt seed is one sentence and exit code 2; the seeds after it are replayed all the same."""
    corrupt = project.folder / "corrupt.seed"
    corrupt.write_text("not a seed", encoding="utf-8")
    foreign = project.folder / "foreign.seed"
    foreign.write_text("job-harness seed 1\ntest: gone.py::test_x\n", encoding="utf-8")
    ended = project("harness", "replay", str(corrupt), str(foreign))
    assert ended.returncode == 2
    assert "corrupt.seed: this is no seed" in ended.stderr
    assert "gone.py::test_x" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_gate_keeps_a_seed_that_replays(project):
    """A race mutant breaks its clause under control; its seed shows the same failure."""
    target = "reference.mutants.ledger.lifecycle:TwoEndersWin"
    gated = project("harness", "gate", target, "--stage", "interleavings", "--scenario", "ends")
    assert gated.returncode == 1
    [command] = re.findall(r"again: harness replay (\S+)", gated.stdout)
    shown = project("harness", "replay", command)
    assert shown.returncode == 1
    assert "replayed 10 of 10" in shown.stdout


def test_a_target_out_of_control_is_skipped_visibly(project):
    """An implementation that blocks in the operating system has the stage skipped, with the reason."""
    text = (
        "import os\nfrom reference.ledger import Ledger as Correct\n\n\n"
        "class Ledger(Correct):\n    def submit(self, *arguments):\n"
        "        reader, writer = os.pipe()\n        os.read(reader, 1)\n"
    )
    (project.folder / "piped.py").write_text(text, encoding="utf-8")
    ended = project("harness", "gate", "piped.py:Ledger", "--stage", "interleavings", "--scenario", "takers")
    assert "not under control" in ended.stdout
    assert ended.returncode == 3


class Counter:
    """Shared by the explored programs below."""

    def __init__(self):
        self.value = 0
        self.limit = 3


def add(counter):
    """Not atomic."""
    counter.value += 1


def look(counter):
    """Reads what nobody writes."""
    return counter.limit


def test_tasks_over_a_state():
    """The second form: setup, tasks, check."""

    def nothing_lost(counter):
        assert counter.value == 2, "an increment was lost"

    with pytest.raises(Violated, match="an increment was lost") as caught:
        harness.explore(Counter, [add, add], nothing_lost, seeds=None)
    assert caught.value.exploration.found.preemptions == 1


def test_an_invariant_is_checked_after_every_step():
    """What holds at the end need not have held in between."""

    def never_one(counter):
        assert counter.value != 1, "seen half done"

    with pytest.raises(Violated, match="seen half done"):
        harness.explore(Counter, [add, look], invariant=never_one, seeds=None)


def test_nothing_shared_is_no_pass():
    """Tasks that pass no scheduling point were not explored."""
    with pytest.raises(Undecided, match="no scheduling point"):
        harness.explore(Counter, [look, look], seeds=None, executions=20)


def test_one_task_is_no_pass():
    """Nothing runs concurrently: the verdict says so."""
    with pytest.raises(Undecided, match="no concurrency was exercised"):
        harness.explore(Counter, [add], seeds=None, executions=20)


def test_the_jobs_do_not_change_the_finding():
    """One process or three: the same execution, the same schedule."""

    def nothing_lost(counter):
        assert counter.value == 2

    found = []
    for jobs in (1, 3):
        with pytest.raises(Violated) as caught:
            harness.explore(Counter, [add, add], nothing_lost, seeds=None, jobs=jobs, seed=5)
        found.append(caught.value.exploration.found)
    assert (found[0].execution, found[0].schedule) == (found[1].execution, found[1].schedule)


def test_what_cannot_be_explored_is_told():
    """Unknown strategies, things that are no functions."""
    with pytest.raises(UsageError, match="no strategy 'best'"):
        harness.explore(Counter, [add, add], strategy="best", seeds=None)
    with pytest.raises(UsageError, match="decorates a function"):
        harness.explore(3)
