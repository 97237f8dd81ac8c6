"""Do kept seeds replay? In new processes, on every Python that is there, and after edits of the code.

For each of several known bugs a schedule is found and shrunk once; then the program's source is copied
and edited (a comment, an unrelated statement, a renamed local), and the seed is replayed on each copy by a
new process of each interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.seeds.store import SeedStore

__all__ = ["measure"]

_SOURCE = """\
import threading

import harness


class Account:
    def __init__(self):
        self.balance = 10
        self.closed = False
        self.lock = threading.Lock()
        self.other = threading.Lock()
        self.changed = threading.Condition()
        self.log = []

    def withdraw(self, amount):
        seen = self.balance
        if seen >= amount:
            self.balance = seen - amount
            return True
        return False

    def transfer(self):
        with self.lock:
            with self.other:
                self.log.append("transfer")

    def audit(self):
        with self.other:
            with self.lock:
                self.log.append("audit")

    def close(self):
        with self.changed:
            self.changed.notify_all()
        self.closed = True

    def await_closed(self):
        with self.changed:
            if not self.closed:
                self.changed.wait()


def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@harness.explore(executions=5000)
def test_overdrawn():
    account = Account()
    paid = []
    run(lambda: paid.append(account.withdraw(6)), lambda: paid.append(account.withdraw(6)))
    assert sorted(paid) == [False, True]


@harness.explore(executions=5000)
def test_deadlock():
    account = Account()
    run(account.transfer, account.audit)


@harness.explore(executions=5000)
def test_lost_wakeup():
    account = Account()
    run(account.close, account.await_closed)


@harness.explore(executions=5000)
def test_timeout_beats_set():
    done = threading.Event()
    seen = []
    run(lambda: seen.append(done.wait(1)), done.set)
    assert seen == [True]
"""
_TESTS = ("test_overdrawn", "test_deadlock", "test_lost_wakeup", "test_timeout_beats_set")
_EDITS = {
    "as it was": lambda source: source,
    "a comment": lambda source: source.replace(
        "        seen = self", "        # look first\n        seen = self"
    ),
    "an unrelated statement": lambda source: source.replace(
        "        self.log = []\n", '        self.log = []\n        self.created = len("now")\n'
    ),
    "a renamed local": lambda source: source.replace("seen", "noticed"),
}


def measure(quick: bool) -> dict[str, float]:
    """Replays that showed the same failure, of how many, over edits and interpreters."""
    times = 1 if quick else 7
    replayed = tried = 0
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        seeds = _seeds(Path(folder))
        for python in _interpreters():
            hits = wanted = 0
            for edit in _EDITS.values():
                (Path(folder) / "test_account.py").write_text(edit(_SOURCE), encoding="utf-8")
                for _ in range(times):
                    hits += _replayed(python, Path(folder), seeds)
                    wanted += len(seeds)
            name = _version(python)
            figures[f"python_{name}_replayed"] = hits
            figures[f"python_{name}_of"] = wanted
            replayed += hits
            tried += wanted
    return {**figures, "seeds": len(seeds), "replayed": replayed, "of": tried}


def _seeds(folder: Path) -> list[Path]:
    """Find each bug once, from the unedited source, and keep its seed."""
    path = folder / "test_account.py"
    path.write_text(_SOURCE, encoding="utf-8")
    script = (
        "import test_account\n"
        "from harness.explore.entry import Violated\n"
        f"for name in {_TESTS!r}:\n"
        "    try:\n"
        "        getattr(test_account, name)()\n"
        "    except Violated:\n"
        "        continue\n"
        "    raise SystemExit(name + ' was not found')\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=folder, env=_environment(folder), check=True)
    return [path for path, _ in SeedStore(folder / ".harness" / "seeds")]


def _replayed(python: str, folder: Path, seeds: list[Path]) -> int:
    """How many seeds show their failure in a new process."""
    hits = 0
    for seed in seeds:
        words = [python, "-m", "harness", "replay", str(seed)]
        ended = subprocess.run(words, cwd=folder, env=_environment(folder), capture_output=True, check=False)
        hits += ended.returncode == 1 and b"no longer applies" not in ended.stdout
    return hits


def _environment(folder: Path) -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), root])}


def _interpreters() -> Iterator[str]:
    """This Python, and those named in HARNESS_PYTHONS that can import what the harness needs."""
    yield sys.executable
    for python in os.environ.get("HARNESS_PYTHONS", "").split(os.pathsep):
        if (
            python
            and subprocess.run([python, "-c", "import greenlet, click, rich"], check=False).returncode == 0
        ):
            yield python


def _version(python: str) -> str:
    words = [python, "-c", "import sys, json; print(json.dumps(sys.version_info[:2]))"]
    major, minor = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return f"{major}_{minor}"
