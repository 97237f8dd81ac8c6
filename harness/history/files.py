"""Histories as files: JSON Lines, one operation per line.

    {"client": "c1", "operation": "write", "arguments": [3], "result": null, "called": 10, "returned": 17}

`called` and `returned` are integers of one clock; `returned` is null for an operation without a response,
which may have taken effect or not, and `"blocked": true` beside it says that it was still waiting when the
history ended. `"error": "text"` in place of `result` is a response, too. Empty lines, and lines that begin
with `#`, are comments. Reading is streaming: a file is never in memory as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from harness.findings import UsageError
from harness.history.automaton import BLOCKED
from harness.history.recorder import Recorded

__all__ = ["Failed", "read_history", "write_history"]

_NAMES = frozenset({"client", "operation", "arguments", "result", "error", "called", "returned", "blocked"})
_NEEDED = ("client", "operation", "called", "returned")


@dataclass(frozen=True, slots=True)
class Failed:
    """The response of an operation that raised, by its text."""

    error: str


def write_history(stream: TextIO, history: Iterable[Recorded]) -> int:
    """Write operations, one per line; the number written. Values that JSON lacks are written as text."""
    count = 0
    for item in history:
        line: dict[str, Any] = {
            "client": item.client,
            "operation": item.operation,
            "arguments": list(item.arguments),
        }
        if isinstance(item.response, Failed):
            line["error"] = item.response.error
        elif item.returned is not None:
            line["result"] = item.response
        elif item.response is BLOCKED:
            line["blocked"] = True
        line |= {"called": item.called, "returned": item.returned}
        stream.write(json.dumps(line, default=str, ensure_ascii=False) + "\n")
        count += 1
    return count


def read_history(path: Path) -> Iterator[Recorded]:
    """The operations of a file in its order; raises UsageError with the line and the reason.

    A client's operations must not overlap, and nothing returns before it was called.
    """
    busy: dict[str, tuple[int, int | None, int]] = {}
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                text = line.strip()
                if not text or text.startswith("#"):
                    continue
                try:
                    item = _operation(text, line.endswith("\n"))
                    _check_client(item, busy, number)
                except (TypeError, ValueError) as error:
                    raise UsageError(f"{path}:{number}: {error}") from None
                yield item
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def _operation(text: str, whole: bool) -> Recorded:
    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        cut = "" if whole else ": the file ends in the middle of a line; was its writer cut off?"
        raise ValueError(f"not JSON ({error.msg} at column {error.colno}){cut}") from None
    if not isinstance(line, dict):
        raise TypeError("a line is one object, with client, operation, arguments, result, called, returned")
    for name in _NEEDED:
        if name not in line:
            raise ValueError(f"no {name!r}")
    unknown = sorted(line.keys() - _NAMES)
    if unknown:
        raise ValueError(f"unknown {unknown[0]!r}; known are {', '.join(sorted(_NAMES))}")
    called, returned = line["called"], line["returned"]
    if type(called) is not int or type(returned) not in (int, type(None)):
        raise ValueError("'called' is an integer, and 'returned' an integer or null")
    if returned is not None and returned < called:
        raise ValueError(f"it returns at {returned}, before it is called at {called}")
    arguments = line.get("arguments", [])
    if not isinstance(arguments, list):
        raise TypeError("'arguments' is a list")
    return Recorded(
        str(line["client"]),
        str(line["operation"]),
        tuple(arguments),
        _response(line, returned),
        called,
        returned,
    )


def _response(line: dict[str, Any], returned: int | None) -> Any:
    if returned is None:
        if "error" in line or line.get("result") is not None:
            raise ValueError("it has a response, and did not return")
        return BLOCKED if line.get("blocked") else None
    if line.get("blocked"):
        raise ValueError("it is blocked, and returned")
    if "error" in line:
        if line.get("result") is not None:
            raise ValueError("it has a result and an error")
        return Failed(str(line["error"]))
    return line.get("result")


def _check_client(item: Recorded, busy: dict[str, tuple[int, int | None, int]], number: int) -> None:
    """Keeps each client's latest operation; a file in the order of responses has them in theirs."""
    before = busy.get(item.client)
    if before is not None:
        called, returned, line = before
        if item.called >= called and (returned is None or item.called < returned):
            ends = "never returns" if returned is None else f"returns at {returned}"
            raise ValueError(
                f"client {item.client} calls at {item.called}, and its operation of line {line} {ends}"
            )
    if before is None or item.called >= before[0]:
        busy[item.client] = item.called, item.returned, number
