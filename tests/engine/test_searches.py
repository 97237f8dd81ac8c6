"""The strategies against known bugs, and the searches against brute force."""

from __future__ import annotations

from math import comb
from random import SystemRandom

import pytest

from harness.explore.exploration import Coverage, Effort
from harness.explore.explorer import explored
from harness.findings import Verdict
from harness.strategies.bounded import BoundedSearch
from harness.strategies.dpor import DPOR
from scenarios.known_bugs import KNOWN_BUGS

benchmarks = pytest.importorskip("benchmarks", reason="the wheel has no benchmarks")
from benchmarks.programs.ledger_variants import VARIANTS  # noqa: E402
from benchmarks.programs.tiny import Playground  # noqa: E402
from benchmarks.reduction import mismatches_in  # noqa: E402
from benchmarks.sctbench import is_found  # noqa: E402

SMALL = [bug for bug in KNOWN_BUGS if bug.name not in {"safestack", "reorder_100", "twostage_100", "fsbench"}]


@pytest.mark.parametrize("bug", SMALL, ids=lambda bug: bug.name)
def test_a_known_bug_is_found_by_kind_and_message(bug):
    """The default portfolio shows each bug, and not just anything, within a thousand executions."""
    outcome = explored(bug.buggy, Effort(executions=1_000, seed=1, shrink=False))
    assert is_found(bug, outcome)


@pytest.mark.parametrize("bug", SMALL, ids=lambda bug: bug.name)
def test_its_repaired_twin_is_clean(bug):
    """The same exploration of the repaired program finds nothing."""
    outcome = explored(bug.repaired, Effort(executions=100, seed=1))
    assert outcome.found is None
    assert outcome.verdict is Verdict.OK


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_dpor_decides_the_natural_variants(variant):
    """Exhaustive search finds each bug, and is through with each twin without a finding."""
    effort = Effort(executions=20_000, strategy="dpor", shrink=False)
    broken = explored(variant.natural, effort)
    assert broken.found is not None
    assert broken.found.failure.kind.value == variant.finding
    twin = explored(variant.natural_repaired, effort)
    assert twin.coverage is Coverage.EXHAUSTED
    assert twin.found is None


def test_reductions_lose_no_outcome():
    """Bounded search and DPOR reach what brute force reaches, on programs from a fresh printed seed."""
    seed = SystemRandom().randrange(1_000_000)
    assert mismatches_in(15, seed)["mismatches"] == 0, f"seed {seed}"


LITMUS = [
    (
        "lock order is reversed",
        ((("with", 0, (("write", 0, 1),)),), (("with", 0, (("read", 0, 0),)),)),
        {(((), (0,)), (1, 0), ()), (((), (1,)), (1, 0), ())},
    ),
    (
        "a timeout races a set",
        ((("timed wait event", 0, 0),), (("set", 0, 0),)),
        {(((True,), ()), (0, 0), ()), (((False,), ()), (0, 0), ())},
    ),
    (
        "a try sees the lock taken or free",
        ((("try", 0, (("read", 0, 0),)),), (("with", 0, (("write", 0, 1),)),)),
        {
            (((0,), ()), (1, 0), ()),
            (((1,), ()), (1, 0), ()),
            ((("taken",), ()), (1, 0), ()),
        },
    ),
    (
        "two increments",
        ((("add", 0, 0),), (("add", 0, 0),)),
        {(((), ()), (1, 0), ()), (((), ()), (2, 0), ())},
    ),
]


@pytest.mark.parametrize("search", [DPOR, BoundedSearch], ids=lambda search: search.__name__)
@pytest.mark.parametrize(("name", "program", "expected"), LITMUS, ids=[name for name, _, _ in LITMUS])
def test_a_litmus_has_exactly_these_outcomes(search, name, program, expected):
    """Tiny programs with their complete sets of outcomes."""
    assert expected == Playground().outcomes(program, search())


def test_the_number_of_interleavings_is_the_binomial():
    """Without reduction, two tasks of two and one shared accesses and an end each have 10 orders."""
    program = ((("read", 0, 0), ("read", 0, 0)), (("read", 0, 0),))
    playground = Playground()
    playground.outcomes(program, BoundedSearch(bound=1 << 20))
    starts_and_ends = 2  # each task has a start and an end besides its accesses
    first, second = 2 + starts_and_ends, 1 + starts_and_ends
    assert playground.executions == comb(first + second, second)
