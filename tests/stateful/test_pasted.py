"""Programs in people's own tests: what is wrong is said at once, at the line that is theirs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.findings import UsageError
from harness.testing import program

SOUND = "reference.ledger:Ledger"


def test_a_bound_that_the_contract_lacks_is_a_mistake():
    """The sentence has the bounds that there are, and the one that was meant."""
    with pytest.raises(
        UsageError,
        match=r"^ledger has no bound 'max_queu'; there are: max_queue, job_ttl_ms, max_completed; "
        r"did you mean max_queue\?$",
    ):
        program(SOUND, max_queu=3)


def test_an_operation_that_the_contract_lacks_is_told():
    """An AttributeError, as of any object, with the operations that there are."""
    with program(SOUND) as ledger:
        with pytest.raises(
            AttributeError,
            match=r"^ledger has no operation 'sumbit'; there are: submit, .*, queue_depth; "
            r"did you mean submit\?$",
        ):
            ledger.sumbit("request", "payload")
        with pytest.raises(AttributeError, match=r"^_repr_html_$"):
            _ = ledger._repr_html_


def test_a_block_that_is_left_by_an_error_makes_no_last_call():
    """Only a program that ended in peace is held to what must not return."""
    block = program(SOUND)
    ledger = block.__enter__()
    ledger.submit("request", "payload")
    block.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert not ledger.over
    with program(SOUND) as ledger:
        ledger.submit("request", "payload")
    assert ledger.over


PASTED = """
from harness.testing import program


def test_broken():
    with program("reference.mutants.ledger.lifecycle:LateEndIsTrue") as ledger:
        job1 = ledger.submit("request-1", "payload-1").job_id
        ledger.finish(job1, "result-1")
        ledger.finish(job1, "result-2")


def test_not_there():
    with program("reference.ledger:Legder") as ledger:
        ledger.submit("request-1", "payload-1")


def test_misspelt():
    with program("reference.ledger:Ledger", max_queu=1) as ledger:
        ledger.submit("request-1", "payload-1")
"""


def test_pytest_shows_the_lines_of_the_program_only(tmp_path):
    """No frame of ours, nor of the library between, stands between a test and what is said."""
    (tmp_path / "test_pasted.py").write_text(PASTED)
    ending = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_pasted.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 1 == ending.returncode
    assert "3 failed" in ending.stdout
    places = [line for line in ending.stdout.splitlines() if ".py:" in line and "::" not in line]
    assert 3 == len(places)
    assert [] == [place for place in places if not place.startswith("test_pasted.py:")]
