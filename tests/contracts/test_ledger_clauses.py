"""The ledger's clauses: the catalogue's ids, all of them, and a check behind each."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.contracts import CONTRACTS, contract_named
from harness.contracts.ledger import LEDGER
from harness.contracts.records import Level
from harness.findings import UsageError

CATALOGUE = {
    "5.A": """STATE-ATOMIC ATOMIC-PUBLISH NOTIFY-INSIDE ADMIT-CAS ADMIT-REJECT ADMIT-ZERO ADMIT-FAILSAFE
              DEPTH-SCOPE DEPTH-ONCE DEPTH-WHEN LOCK-ORDER""",
    "5.B": "RUN-FROM-PENDING TERM-ANY TERM-ABSORB TERM-ONCE-STRESS UNKNOWN ID-UNIQUE TIMES",
    "5.C": "TAKE-REQUEST TAKE-RESULT SNAPSHOT WAIT-COND WAIT-BUDGET WAIT-MANY WAIT-EVICT",
    "5.D": "RET-NONTERM RET-TTL RET-LAZY RET-LRU RET-ORDER-TTL-FIRST RET-SELF",
}
IDS = [f"AJT-{name}" for names in CATALOGUE.values() for name in names.split()]
CAPABILITIES = (
    {operation.name for operation in LEDGER.operations}
    | set(LEDGER.configuration)
    | {f"snapshot.{name}" for name in ("error", "submitted_at", "completed_at")}
    | {"request_id", "virtual time", "failing allocation"}
)


def test_every_clause_of_the_catalogue_is_there_once():
    """Sections 5.A to 5.D have 31 clauses, and each is in the contract exactly once, in their order."""
    assert [clause.id for clause in LEDGER.clauses] == IDS
    assert Counter(IDS).most_common(1)[0][1] == 1


@pytest.mark.parametrize("clause", LEDGER.clauses, ids=lambda clause: clause.id)
def test_a_clause_says_what_and_where(clause):
    """A clause has one sentence or two, known capabilities, and at least one stage that checks it."""
    assert clause.norm.endswith(".")
    assert "\n" not in clause.norm
    assert clause.needs <= CAPABILITIES
    assert clause.checked_by
    assert set(clause.checked_by) <= {"sequential", "interleavings", "stress"}


def test_sequential_clauses_have_directed_programs():
    """What the sequential stage is said to check has a program written for it, and nothing else has."""
    sequential = {clause.id for clause in LEDGER.clauses if "sequential" in clause.checked_by}
    assert sequential == {directed.clause for directed in LEDGER.directed}


def test_only_the_hardening_clause_is_advice():
    """The source itself does not keep AJT-ADMIT-FAILSAFE, so it alone is a SHOULD."""
    assert [clause.id for clause in LEDGER.clauses if clause.level is Level.SHOULD] == ["AJT-ADMIT-FAILSAFE"]


def test_resolutions_are_those_of_the_catalogue():
    """Each ambiguity of 7.A that concerns the ledger itself is settled once, with a rule."""
    expected = [
        f"A{number}" for number in range(1, 27) if number not in (22, 23, 26)
    ]  # HTTP, and the seed's text
    assert [resolution.id for resolution in LEDGER.resolutions] == expected
    assert all(resolution.question.endswith("?") and resolution.rule for resolution in LEDGER.resolutions)


@pytest.mark.parametrize("directed", LEDGER.directed, ids=lambda directed: directed.clause)
def test_directed_programs_name_what_exists(directed):
    """Steps are operations or pseudo-operations, with bounds that the contract has."""
    known = {operation.name for operation in LEDGER.operations}
    known |= {"advance", "step wall clock", "fail allocation", "audit"}
    assert set(LEDGER.configuration) == set(directed.configuration)
    assert {step[0] for step in directed.steps} <= known


def test_contracts_are_found_by_name():
    """A contract is found by its name, and an unknown name is told which there are."""
    assert LEDGER is contract_named("ledger") is CONTRACTS["ledger"]
    with pytest.raises(UsageError, match=r"no contract 'legder'; the contracts are: ledger$"):
        contract_named("legder")
    with pytest.raises(KeyError):
        LEDGER.clause("AJT-NONE")
    with pytest.raises(KeyError):
        LEDGER.operation("none")
