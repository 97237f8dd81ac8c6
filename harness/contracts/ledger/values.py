"""The ledger's values: what the model speaks, and how an implementation's plain answers become it.

Implementations need not import us. Ids may be strings or integers; states strings or enum members
in any case; records may be objects, mappings or tuples. Whatever cannot be read raises `Malformed`,
which a runner turns into a finding against the implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from harness.contracts.adapter import plain_word
from harness.contracts.records import Malformed

__all__ = [
    "ABSENT",
    "EMPTY",
    "MISSING",
    "JobId",
    "JobState",
    "ResultView",
    "Snapshot",
    "Submission",
    "TakenRequest",
]


_LONGEST_SHOWN = 120


class _Mark(Enum):
    ABSENT = "ABSENT"
    EMPTY = "EMPTY"
    MISSING = "MISSING"

    def __repr__(self) -> str:
        return self.value


ABSENT = _Mark.ABSENT
"""The answer for an unknown or evicted id."""
EMPTY = _Mark.EMPTY
"""A payload that was taken before."""
MISSING = _Mark.MISSING
"""A field that the implementation does not show."""


JobId = str | int | UUID
"""What a job may be called."""


class JobState(Enum):
    """The five states of a job. `rank` orders them: a job's rank never falls."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"

    def __repr__(self) -> str:
        return self.value

    @property
    def terminal(self) -> bool:
        """Whether the state absorbs."""
        return self.rank == 2

    @property
    def rank(self) -> int:
        """0 for PENDING, 1 for RUNNING, 2 for the terminal states."""
        return _RANK[self.value]


_RANK = {"PENDING": 0, "RUNNING": 1, "DONE": 2, "FAILED": 2, "TIMEOUT": 2}


class Submission(NamedTuple):
    """Answer of submit. `job_id` is None when there is none.

    As a plain tuple: (accepted, job_id), where a status word may stand for `accepted`.
    """

    accepted: bool
    job_id: JobId | None


class Snapshot(NamedTuple):
    """A job at one instant. Times are in the implementation's own unit, 0 meaning not yet.

    As a plain tuple: (state, error, submitted_at, completed_at); what is left off at the end is missing.
    """

    state: JobState
    error: Any
    submitted_at: Any
    completed_at: Any


class TakenRequest(NamedTuple):
    """Answer of take_request; `payload` is EMPTY once it was taken.

    As a plain tuple: (request_id, payload), with None in the payload's place once it was taken.
    """

    request_id: Any
    payload: Any


class ResultView(NamedTuple):
    """Answer of take_result: status NOT_FOUND, NOT_DONE (with the state) or READY (with the result).

    As a plain tuple of four: (status, state, result, request_id), with None for what does not apply.
    Shorter ones hold what applies: (NOT_FOUND,), (NOT_DONE, state), (READY, result) and
    (READY, result, request_id). A tuple of three is always read in this short way.
    """

    status: str
    state: Any = MISSING
    result: Any = MISSING
    request_id: Any = MISSING


def read_field(record: Any, names: tuple[str, ...], position: int | None = None) -> Any:
    """The first of `names` that a mapping or object has; `position` for plain tuples; else MISSING."""
    if not names:
        return MISSING
    if isinstance(record, Mapping):
        for name in names:
            if name in record:
                return record[name]
        return MISSING
    for name in names:
        value = getattr(record, name, MISSING)
        if value is not MISSING:
            return value
    if position is not None and isinstance(record, (tuple, list)) and len(record) > position:
        return record[position]
    return MISSING


def word(value: Any) -> str:
    """A status or state as an upper-case word: enum members by name, strings as they are."""
    if isinstance(value, Enum):
        value = value.name
    if not isinstance(value, str):
        raise Malformed(f"expected a word or an enum member, got {shown(value)}")
    return plain_word(value.rsplit(".", 1)[-1])


def shown(value: Any) -> str:
    """A foreign value for a message; its repr may do anything, and its failure is worth showing."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<repr raised {type(error).__name__}>"
    text = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} ..."
    return f"{text} ({type(value).__name__})"


def read_state(value: Any, names: Mapping[str, str]) -> JobState:
    """A job state from a string or enum member; `names` maps foreign words (upper case) to ours."""
    spoken = word(value)
    try:
        return JobState(names.get(spoken, spoken))
    except ValueError:
        known = ", ".join(state.value for state in JobState)
        raise Malformed(
            f"state {shown(value)} is none of {known}", "map it under [states] of an adapter"
        ) from None
