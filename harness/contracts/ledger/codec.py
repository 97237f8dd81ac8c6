"""Between the ledger's model and an implementation: arguments out, answers in.

The model speaks in tokens (`result-3`); implementations get values worth aliasing or copying: a
record that holds the token, and an empty one for an empty token, because falsy results are results.
After a result was read, the copy that we were given is spoilt on purpose, so that an implementation
which hands out its own object is seen on the next read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import Enum
from typing import Any
from uuid import UUID

from harness.contracts.adapter import Adapter
from harness.contracts.ledger.values import (
    ABSENT,
    EMPTY,
    MISSING,
    JobId,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
    read_field,
    read_state,
    shown,
    word,
)
from harness.contracts.records import Malformed

__all__ = ["LedgerCodec"]

_ACCEPTED = frozenset({"ACCEPTED", "OK", "ADMITTED", "QUEUED", "PENDING", "SUCCESS"})
_REJECTED = frozenset({"QUEUE_FULL", "REJECTED", "FULL", "BUSY", "OVERLOADED"})
_TOKEN = "value"
_READS, _TAKES = frozenset({"snapshot", "wait"}), frozenset({"take_request", "take_result"})
_SHOWN_BY = {
    "job_id": frozenset({"submit"}),
    "accepted": frozenset({"submit"}),
    "state": _READS | {"take_result"},
    "status": frozenset({"take_result"}),
    "error": _READS,
    "submitted_at": _READS,
    "completed_at": _READS,
    "request_id": _TAKES,
    "payload": frozenset({"take_request"}),
    "result": frozenset({"take_result"}),
}


class LedgerCodec:
    """Encodes arguments for, and decodes answers of, one implementation.

    `record` makes the mutable mapping that carries payload and result tokens; the stress stage
    passes one whose copying yields the processor.
    """

    def __init__(self, adapter: Adapter, record: Callable[[dict[str, Any]], Any] = dict) -> None:
        self._adapter = adapter
        self._record = record
        self._unit = 1 if adapter.time == "ms" else 1000
        self._spoken: dict[JobState, Any] = {}  # each state as this implementation shows it
        self._silent: frozenset[str] = frozenset()
        self._fields = {
            name: adapter.field_names(name, *synonyms)
            for name, synonyms in {
                "job_id": ("id",),
                "accepted": ("status",),
                "state": ("status",),
                "status": (),
                "error": (),
                "submitted_at": (),
                "completed_at": (),
                "request_id": ("task_id",),
                "payload": (),
                "result": ("value",),
            }.items()
        }
        self._decoders: dict[str, Callable[[Any], Any]] = {
            "submit": self._submission,
            "take_request": self._request,
            "snapshot": self._snapshot,
            "wait": self._snapshot,
            "take_result": self._result,
            "queue_depth": _integer,
        }

    def encode(self, parameter: str, value: Any) -> Any:
        """A model value as the implementation takes it."""
        if parameter in ("payload", "result"):
            if value == "":
                return value if self._adapter.kind == "text" else self._record({})
            return value if self._adapter.kind == "text" else self._record({_TOKEN: value, "marks": []})
        if parameter in ("timeout_ms", "job_ttl_ms") and self._unit != 1:
            return value / self._unit
        if isinstance(value, JobState):
            return self._foreign_state(value)
        return value

    def decoder(self, operation: str) -> Callable[[Any], Any]:
        """Reads this operation's answers; raises Malformed on one that no reading allows."""
        return self._decoders.get(operation, _boolean)

    def exceptional(self, operation: str, error: BaseException) -> tuple[Any, ...]:
        """The answer that an exception stands for according to the adapter, in a tuple of one."""
        names = {kind.__name__ for kind in type(error).__mro__}
        if operation == "queue_depth":
            return ()  # it names no job
        if operation == "submit" and names & set(self._adapter.rejected):
            return (Submission(False, None),)
        if operation != "submit" and names & set(self._adapter.absent):
            if operation == "take_result":
                return (ResultView("NOT_FOUND"),)
            return (None,) if operation in ("snapshot", "wait", "take_request") else (False,)
        return ()

    def missing(self, answer: Any) -> tuple[str, ...]:
        """Snapshot fields that the implementation does not show."""
        snapshot = self._snapshot(answer)
        if snapshot is None:
            return ()
        return tuple(f"snapshot.{name}" for name, value in snapshot._asdict().items() if value is MISSING)

    def vocabulary(self) -> dict[str, frozenset[str]]:
        """Our names that an adapter may map, by table."""
        return {"fields": frozenset(self._fields), "states": frozenset(state.value for state in JobState)}

    def shown_by(self, field: str) -> frozenset[str]:
        """The operations whose answers show a field."""
        return _SHOWN_BY[field]

    def silence(self, parameter: str) -> None:
        """Do not hold answers against a parameter that the implementation is never given."""
        self._silent |= {parameter}

    def _state(self, value: Any) -> JobState:
        """Read a state, and remember how it was spelt."""
        state = read_state(value, self._adapter.states)
        if state not in self._spoken:
            self._spoken[state] = value
            if isinstance(value, Enum):
                for member in type(value):
                    with suppress(Malformed):
                        self._spoken.setdefault(read_state(member, self._adapter.states), member)
        return state

    def _foreign_state(self, state: JobState) -> Any:
        """A state as the implementation shows it; in its style while it has not shown that one."""
        if state in self._spoken:
            return self._spoken[state]
        name = next(
            (theirs for theirs, ours in self._adapter.states.items() if ours == state.value), state.value
        )
        lower = any(isinstance(spoken, str) and spoken.islower() for spoken in self._spoken.values())
        return name.lower() if lower else name

    def _submission(self, answer: Any) -> Submission:
        if answer is None or answer is False or answer == "":
            return Submission(False, None)
        if isinstance(answer, (str, int, UUID)) and answer is not True:
            return Submission(True, answer)
        status = read_field(answer, self._fields["accepted"], 0)
        job_id = read_field(answer, self._fields["job_id"], 1)
        if job_id is MISSING and status is False:
            return Submission(False, None)  # a rejection has no id to show
        if job_id is MISSING or status is MISSING:
            raise Malformed(f"submit answered {shown(answer)}; expected an id, or a status with an id")
        accepted = status if isinstance(status, bool) else _accepts(status)
        return Submission(accepted, None if job_id == "" else _identity(job_id))

    def _snapshot(self, answer: Any) -> Snapshot | None:
        if answer is None:
            return None
        fields = self._fields
        state = read_field(answer, fields["state"], 0)
        if state is MISSING:
            raise Malformed(f"expected a snapshot with a state, or None, got {shown(answer)}")
        return Snapshot(
            self._state(state),
            _error_text(read_field(answer, fields["error"], 1)),
            _time(read_field(answer, fields["submitted_at"], 2)),
            _time(read_field(answer, fields["completed_at"], 3)),
        )

    def _request(self, answer: Any) -> TakenRequest | None:
        if answer is None or answer is ABSENT:
            return None
        request_id = read_field(answer, self._fields["request_id"], 0)
        payload = read_field(answer, self._fields["payload"], 1)
        if payload is MISSING:
            raise Malformed(f"take_request answered {shown(answer)}; expected request_id and payload")
        return TakenRequest(self._echo(request_id), self._token(payload, empty=EMPTY))

    def _result(self, answer: Any) -> ResultView:
        if answer is None:
            return ResultView("NOT_FOUND")
        status = read_field(answer, self._fields["status"], 0)
        if status is MISSING:
            raise Malformed(f"take_result answered {shown(answer)}; expected a record with a status")
        spoken = word(status)
        if spoken == "NOT_DONE":
            state = read_field(answer, self._fields["state"], 1)
            if state is status:
                state = MISSING
            return ResultView(spoken, state if state is MISSING else self._state(state))
        if spoken == "READY":
            skipped = isinstance(answer, (tuple, list)) and len(answer) == len(ResultView._fields)
            result = read_field(answer, self._fields["result"], 1 + skipped)
            request_id = read_field(answer, self._fields["request_id"], 2 + skipped)
            token = self._token(result, empty=MISSING if result is None or result is MISSING else "")
            _spoil(result)
            return ResultView(spoken, MISSING, token, self._echo(request_id))
        if spoken == "NOT_FOUND":
            return ResultView(spoken)
        raise Malformed(f"take_result status {status!r} is none of NOT_FOUND, NOT_DONE, READY")

    def _echo(self, request_id: Any) -> Any:
        """A request id that comes back; not looked at if the implementation was given none."""
        if request_id is MISSING or "request_id" in self._silent:
            return MISSING
        return request_id if isinstance(request_id, str) else f"something else: {shown(request_id)}"

    def _token(self, value: Any, empty: Any) -> Any:
        if (
            value is None
            or value is MISSING
            or (isinstance(value, (str, bytes, dict, list, tuple)) and not value)
        ):
            return empty
        if self._adapter.kind == "text" and isinstance(value, str):
            return value
        if not isinstance(value, Mapping) or not isinstance(value.get(_TOKEN), str):
            return f"something else: {shown(value)}"
        marks = value.get("marks")
        return value[_TOKEN] if not marks else f"{value[_TOKEN]}, changed after an earlier read"


def _spoil(result: Any) -> None:
    if isinstance(result, Mapping) and isinstance(result.get("marks"), list):
        result["marks"].append("read")


def _error_text(error: Any) -> Any:
    if error is None:
        return ""
    if error is MISSING or isinstance(error, str):
        return error
    if isinstance(error, BaseException):
        return str(error)
    raise Malformed(f"an error is a string, an exception or None, got {shown(error)}")


def _time(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, datetime):
        return value.timestamp()
    if value is MISSING or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
    ):
        return value
    raise Malformed(f"a time is a number, a datetime or None, got {shown(value)}")


def _accepts(status: Any) -> bool:
    spoken = word(status)
    if spoken in _ACCEPTED:
        return True
    if spoken in _REJECTED:
        return False
    raise Malformed(f"submit status {status!r} is neither an acceptance nor a rejection")


def _identity(job_id: Any) -> JobId | None:
    if job_id is None or (isinstance(job_id, (str, int, UUID)) and not isinstance(job_id, bool)):
        return job_id
    raise Malformed(f"a job id is a string or an integer, got {shown(job_id)}")


def _boolean(answer: Any) -> bool:
    if isinstance(answer, bool):
        return answer
    raise Malformed(f"expected True or False, got {shown(answer)}")


def _integer(answer: Any) -> int:
    if isinstance(answer, int) and not isinstance(answer, bool):
        return answer
    raise Malformed(f"expected an integer, got {shown(answer)}")
