"""The contract of the asynchronous job ledger (AJT), sections 5.A to 5.D of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from harness.contracts.ledger.clauses import CLAUSES, RESOLUTIONS
from harness.contracts.ledger.codec import LedgerCodec
from harness.contracts.ledger.directed import DIRECTED
from harness.contracts.ledger.model import LedgerState
from harness.contracts.ledger.operations import CONFIGURATION, CONFIGURATION_DOMAINS, OPERATIONS
from harness.contracts.ledger.rulings import LedgerModel
from harness.contracts.ledger.saboteurs import SABOTEURS
from harness.contracts.ledger.values import JobId
from harness.contracts.records import Call, Contract

__all__ = ["LEDGER"]


def _time_steps(configuration: Mapping[str, int]) -> tuple[int, ...]:
    """Durations around the time to live, in milliseconds."""
    ttl = configuration["job_ttl_ms"]
    return 1, ttl + 1, max(ttl - 1, 1), max(ttl, 1)


def _last_calls(state: LedgerState) -> tuple[Call, ...]:
    """Unbounded waits on jobs that nobody will end."""
    return tuple(Call("wait", (job.id, job.state, 0)) for job in state.jobs if not job.state.terminal)


_TOUR = (
    ("submit",),
    ("submit",),
    ("submit",),
    ("take_request", 0),
    ("snapshot", 0),
    ("take_result", 0),
    ("transition_running", 0),
    ("snapshot", 0),
    ("finish", 0),
    ("snapshot", 0),
    ("take_result", 0),
    ("fail", 1),
    ("snapshot", 1),
    ("timeout", 2),
    ("snapshot", 2),
)


def _live(state: LedgerState) -> tuple[JobId, ...]:
    return tuple(job.id for job in state.jobs if not job.state.terminal)


LEDGER = Contract(
    name="ledger",
    title="asynchronous job ledger",
    clauses=CLAUSES,
    resolutions=RESOLUTIONS,
    operations=OPERATIONS,
    creates="submit",
    job_of=lambda submission: submission.job_id if submission.accepted else None,
    probe="snapshot",
    recovery="AJT-ADMIT-FAILSAFE",
    configuration=CONFIGURATION,
    configuration_domains=CONFIGURATION_DOMAINS,
    model=LedgerModel(),
    directed=DIRECTED,
    codec=LedgerCodec,
    timed_bounds=frozenset({"job_ttl_ms"}),
    time_steps=_time_steps,
    last_calls=_last_calls,
    saboteurs=SABOTEURS,
    live=_live,
    tour=_TOUR,
)
