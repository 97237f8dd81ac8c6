"""What implementations must do: contracts as data, one package each.

A contract holds operations, numbered clauses, a pure sequential model and the checks that clauses
ask for. Runners read it; it runs nothing itself.
"""

from __future__ import annotations

from harness.contracts.ledger import LEDGER
from harness.contracts.records import Contract
from harness.findings import UsageError

__all__ = ["CONTRACTS", "contract_named"]

CONTRACTS = {contract.name: contract for contract in (LEDGER,)}


def contract_named(name: str) -> Contract:
    """The contract of this name; raises UsageError listing those there are."""
    try:
        return CONTRACTS[name]
    except KeyError:
        known = ", ".join(sorted(CONTRACTS))
        raise UsageError(f"there is no contract {name!r}; the contracts are: {known}") from None
