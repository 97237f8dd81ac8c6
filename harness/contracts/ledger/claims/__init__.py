"""What a ledger's concurrent history must satisfy, whatever the interleaving was.

Every claim is sound: it holds of each history that a conforming ledger can produce. It reasons with
what must have been true between the ends of closed intervals, never with how long things took. The
linearizability checker decides more; these decide at once, on any length, and name the clause.
"""

from __future__ import annotations

from harness.contracts.ledger.claims.admission import (
    bound_is_kept,
    depth_is_honest,
    ids_are_unique,
    rejections_are_due,
)
from harness.contracts.ledger.claims.data import payload_leaves_once, results_are_right, waits_are_right
from harness.contracts.ledger.claims.facts import Facts, facts_of
from harness.contracts.ledger.claims.lifecycle import (
    ends_once,
    nothing_is_lost,
    retention_is_bounded,
    starts_once,
    states_are_monotone,
    terminal_shows_payload,
)

__all__ = ["CLAIMS", "Facts", "facts_of"]

CLAIMS = (  # causes before what follows from them: a job that ends twice also frees two slots
    ids_are_unique,
    ends_once,
    starts_once,
    states_are_monotone,
    terminal_shows_payload,
    bound_is_kept,
    rejections_are_due,
    depth_is_honest,
    nothing_is_lost,
    payload_leaves_once,
    results_are_right,
    waits_are_right,
    retention_is_bounded,
)
