"""The ledger's operations: the protocol that implementations follow, and the same as data.

The protocol is documentation that a type checker can use; implementing it takes no import. Units:
`job_ttl_ms` and `timeout_ms` are milliseconds (the seed's); times in snapshots are in whatever unit
the implementation's monotonic clock has.
"""

from __future__ import annotations

from typing import Any, Protocol

from harness.contracts.ledger.values import JobState, ResultView, Snapshot, Submission, TakenRequest
from harness.contracts.records import Domain, Operation, Parameter

__all__ = ["CONFIGURATION", "CONFIGURATION_DOMAINS", "OPERATIONS", "LedgerProtocol"]


class LedgerProtocol(Protocol):
    """An asynchronous-job ledger: identity, admission, state machine, retention, wait and notify.

    The factory takes `max_queue`, `job_ttl_ms` and `max_completed` as keywords, or the ledger has
    a `configure` with them. Returned types may be any records with these fields (see `values`).
    """

    def submit(self, request_id: str, payload: Any) -> Submission:
        """Admit a job or reject it (a value, no exception). Sweeps first when it admits."""

    def transition_running(self, job_id: Any) -> bool:
        """PENDING to RUNNING; false from any other state and for an unknown id."""

    def finish(self, job_id: Any, result: Any) -> bool:
        """End a job as DONE with its result; false if it is terminal or unknown."""

    def fail(self, job_id: Any, error: str) -> bool:
        """End a job as FAILED with an error text; false if it is terminal or unknown."""

    def timeout(self, job_id: Any, error: str) -> bool:
        """End a job as TIMEOUT with an error text; false if it is terminal or unknown. Starts no timer."""

    def take_request(self, job_id: Any) -> TakenRequest | None:
        """The request id each time, the payload once; None for an unknown id."""

    def snapshot(self, job_id: Any) -> Snapshot | None:
        """State, error, submitted_at and completed_at at one instant; None for an unknown id."""

    def wait(self, job_id: Any, initial: JobState, timeout_ms: int) -> Snapshot | None:
        """Block until the state differs from `initial` or is terminal, at most timeout_ms if positive."""

    def take_result(self, job_id: Any) -> ResultView:
        """NOT_FOUND, NOT_DONE with the state, or READY with the result and the request id; repeatable."""

    def queue_depth(self) -> int:
        """Number of PENDING and RUNNING jobs. May be a property."""


_JOB = Parameter("job_id", Domain("job"))
_ERROR = Parameter("error", Domain("fresh", prefix="error"))
_REAL_STATES = tuple(JobState)

OPERATIONS = (
    Operation(
        "submit",
        (
            Parameter("request_id", Domain("fresh", prefix="request")),
            Parameter("payload", Domain("fresh", prefix="payload")),
        ),
        required=True,
        weight=4,
    ),
    Operation("transition_running", (_JOB,), weight=2),
    Operation(
        "finish", (_JOB, Parameter("result", Domain("fresh", prefix="result"))), required=True, weight=6
    ),
    Operation("fail", (_JOB, _ERROR), weight=2),
    Operation("timeout", (_JOB, _ERROR), weight=2),
    Operation("take_request", (_JOB,)),
    Operation("snapshot", (_JOB,), required=True, stable="AJT-SNAPSHOT"),
    Operation(
        "wait",
        (
            _JOB,
            Parameter("initial", Domain("choice", _REAL_STATES)),
            Parameter("timeout_ms", Domain("choice", (1, 5, 80, 30_000))),
        ),
        stable="AJT-SNAPSHOT",
        parks="AJT-NOTIFY-INSIDE",
        budget="timeout_ms",
    ),
    Operation("take_result", (_JOB,)),
    Operation("queue_depth", ()),
)

CONFIGURATION = {"max_queue": 16, "job_ttl_ms": 300_000, "max_completed": 100}
"""Defaults of the source, in its units."""

CONFIGURATION_DOMAINS = {
    "max_queue": (2, 1, 3, 4, 2, 3, 8, 4, 3, 2, 3, 0, -1),
    "job_ttl_ms": (80, 300_000, 5, 0),
    "max_completed": (2, 1, 0, 3, 100),
}
"""Small bounds make clauses collide; the first of each is the simplest for shrinking, repeats weigh."""
