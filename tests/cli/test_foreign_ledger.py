"""A ledger that nobody here wrote: its own names, states, units and exceptions, and an adapter."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

BUGS = {
    "AJT-RUN-FROM-PENDING": ('if entry.phase != "QUEUED":', "if entry.left is not None:"),
    "AJT-RET-TTL": ("now - self.entries[n].left", "now - self.entries[n].entered"),
}


def test_the_book_is_sound(gate, book):
    """OK through its adapter; what it lacks is shown as skipped, not passed."""
    ending = gate("book.py:Book", "--adapter", "book.toml", "--json", "out.json")
    assert (0, "") == (ending.code, ending.err)
    assert "AJT-TAKE-REQUEST" in ending.out
    assert "take_request: no operation take_request" in ending.out
    outcome = json.loads(book.with_name("out.json").read_text())
    rows = {row["id"]: row for row in outcome["clauses"]}
    assert "SKIPPED" == rows["AJT-TAKE-REQUEST"]["verdict"]
    assert "take_request: no operation take_request" == rows["AJT-TAKE-REQUEST"]["reason"]
    assert {"OK"} == {
        rows[name]["verdict"] for name in (*BUGS, "AJT-WAIT-BUDGET", "AJT-RET-LRU", "AJT-UNKNOWN")
    }
    [stage] = outcome["stages"]
    assert {"take_request", "timeout"} <= {line.partition(":")[0] for line in stage["skipped"]}


@pytest.mark.stress
def test_the_book_is_sound_on_real_threads(harness, book):
    """All stages, the canary among them, work through an adapter."""
    words = ("--adapter", "book.toml", "--budget", "quick", "--duration", "0.3")
    assert 0 == harness("gate", "book.py:Book", *words).code


def test_without_its_adapter_it_is_told_what_is_missing(gate, book):
    """The sentence says what the class offers and where names are mapped."""
    ending = gate("book.py:Book")
    assert 2 == ending.code
    assert "Book has no submit and no finish and no snapshot" in ending.err
    assert "enqueue" in ending.err
    assert "pass it with --adapter" in ending.err


@pytest.mark.parametrize(
    ("clause", "bug"),
    [
        ("AJT-RUN-FROM-PENDING", BUGS["AJT-RUN-FROM-PENDING"]),
        pytest.param("AJT-RET-TTL", BUGS["AJT-RET-TTL"], marks=pytest.mark.stress),  # for its cost
    ],
)
def test_a_bug_in_it_comes_with_a_program_that_runs(gate, book, clause, bug):
    """The program in the JSON, pasted into a file, fails under pytest with the same clause."""
    sound = book.read_text()
    assert 1 == sound.count(bug[0])
    book.write_text(sound.replace(*bug))
    ending = gate("book.py:Book", "--adapter", "book.toml", "--json", "out.json")
    assert 1 == ending.code
    findings = json.loads(book.with_name("out.json").read_text())["findings"]
    [finding] = [one for one in findings if one["clause"] == clause]
    assert "--adapter book.toml" in finding["reproduce"]
    assert 'adapter="book.toml"' in finding["program"]
    book.with_name("test_pasted.py").write_text(finding["program"])
    pasted = pytest_on("test_pasted.py", book.parent)
    assert 1 == pasted.returncode
    assert (
        f"ContractBroken: {clause}: " in pasted.stdout
        or f"{clause}: {finding['message'][:20]}" in pasted.stdout
    )
    book.write_text(sound)
    assert 0 == pytest_on("test_pasted.py", book.parent).returncode


def pytest_on(name, folder):
    """Run a test file in a process and a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
