"""What an answer that looks wrong may mean where an adapter has not said enough.

A hint never excuses anything: the finding stands. It is added to what is expected, because a person
who meets a foreign vocabulary for the first time mends the adapter first.
"""

from __future__ import annotations

from harness.contracts.ledger.model import LedgerState
from harness.contracts.records import Raised

__all__ = ["if_absent", "if_forever", "if_in_other_units", "if_rejected"]


def if_rejected(raised: Raised) -> str:
    """For an exception of submit: it may be how this implementation rejects."""
    return f"; if this is how it rejects, name {raised.type} under [exceptions] rejected of an adapter"


def if_absent(raised: Raised) -> str:
    """For an exception about a job that is not there: it may be how this implementation says so."""
    return (
        f"; if this is how it says that there is no such job, name {raised.type} under [exceptions] absent "
        "of an adapter"
    )


def if_forever(state: LedgerState, why: str) -> str:
    """For a job that stays although the time to live is 0: that may have been taken for "no limit"."""
    zero = state.configuration.job_ttl_ms == 0 and why.startswith("ttl")
    return (
        "; job_ttl_ms=0 is a time to live that is over in the next millisecond, not none (A15)"
        if zero
        else ""
    )


def if_in_other_units(budget_ms: int, elapsed_ms: int) -> str:
    """For a wait that took exactly a thousand times too long, or too short: it may count otherwise."""
    if elapsed_ms == budget_ms * 1000:
        return ', a thousand times as long; if it takes seconds, an adapter says so: [units] time = "s"'
    if elapsed_ms and elapsed_ms * 1000 == budget_ms:
        return ', a thousandth of it; if it takes milliseconds, the adapter has [units] time = "ms"'
    return ""
