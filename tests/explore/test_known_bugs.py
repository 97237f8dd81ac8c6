"""A sample of known bugs and their repaired twins, whatever the start and the number of executions."""

from __future__ import annotations

import pytest

from benchmarks.programs.ledger_variants import VARIANTS
from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.findings import Verdict
from scenarios.known_bugs import KNOWN_BUGS

SAMPLE = ("account", "carter01", "deadlock01", "stringbuffer", "sync01", "token_ring", "wronglock", "wsq")
BUGS = {bug.name: bug for bug in KNOWN_BUGS}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_known_bug_shows_its_kind_and_its_message(name):
    """Found within a thousand executions under a seed of its own, shrunk, and shown again every time."""
    bug = BUGS[name]
    outcome = explored(bug.buggy, Effort(executions=1_000, seed=23))
    assert outcome.verdict is Verdict.VIOLATION
    assert bug.finding == outcome.found.failure.kind.value
    assert bug.message in outcome.found.failure.message
    assert outcome.found.replayed == outcome.found.replays


@pytest.mark.parametrize("name", SAMPLE)
def test_a_twin_is_clean_in_two_hundred_executions(name):
    """The repaired program shows nothing, and it was interleaved."""
    outcome = explored(BUGS[name].repaired, Effort(executions=200, seed=23))
    assert (Verdict.OK, None) == (outcome.verdict, outcome.found)
    assert outcome.distinct > 1


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_ledger_with_one_bug_shows_it(variant):
    """The default strategy shows each with its message, and nothing in the twin."""
    found = explored(variant.natural, Effort(executions=1_000, seed=23)).found
    assert variant.finding == found.failure.kind.value
    assert variant.message in found.failure.message
    assert explored(variant.natural_repaired, Effort(executions=200, seed=23)).found is None
