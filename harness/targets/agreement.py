"""Whether an adapter and an implementation speak of the same names.

A slip in an adapter would otherwise show as a skipped clause, and those are easily overlooked: what
is mapped must be there, on both sides. An empty name says that there is none, and is never looked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from harness.contracts.adapter import Adapter
from harness.contracts.records import Codec, Contract, Malformed, Raised
from harness.control.virtual import WouldBlock
from harness.findings import UsageError

__all__ = ["check_fields", "check_ours", "mapped_in_vain", "near", "no_such_bound"]

__tracebackhide__ = True  # what is wrong with a target is said in one sentence


def near(name: str, known: Collection[str]) -> str:
    """The end of a sentence on an unknown name: the known one that was probably meant, if any."""
    found = difflib.get_close_matches(name, sorted(known), 1)
    return f"; did you mean {found[0]}?" if found else ""


def check_ours(contract: Contract, codec: Codec, adapter: Adapter, configure: str) -> None:
    """Our side of an adapter's mappings must name something; raises UsageError."""
    operations = frozenset(operation.name for operation in contract.operations)
    vocabulary = codec.vocabulary()
    ours = {
        "operations": (frozenset(adapter.operations), operations | {configure}),
        "arguments": (frozenset(adapter.arguments), operations),
        "configuration": (frozenset(adapter.configuration), frozenset(contract.configuration)),
        "fields": (frozenset(adapter.fields), vocabulary["fields"]),
        "states": (frozenset(adapter.states.values()), vocabulary["states"]),
    }
    for table, (used, known) in ours.items():
        unknown = sorted(used - known)
        if not unknown:
            continue
        there_are = ", ".join(sorted(known))
        hint = _if_reversed(table, getattr(adapter, table), unknown[0], known) or near(unknown[0], known)
        raise adapter.mistake(f"[{table}] has no {unknown[0]!r} to map; there are: {there_are}{hint}")


def _if_reversed(table: str, mapping: Mapping[str, Any], unknown: str, known: Collection[str]) -> str:
    """The end of a sentence on a line whose sides are exchanged; empty if they are not."""
    if table == "states":
        theirs = next((theirs for theirs, ours in mapping.items() if ours == unknown), "")
        if theirs in known:
            return f'; the direction is theirs = ours: {unknown} = "{theirs}"'
    elif isinstance(mapping.get(unknown), str) and mapping[unknown] in known:
        return f'; the direction is ours = theirs: {mapping[unknown]} = "{unknown}"'
    return ""


def no_such_bound(adapter: Adapter, name: str, takes: Collection[str], configure: str) -> UsageError:
    """The error for a bound that is mapped to a keyword which nobody takes."""
    theirs = adapter.configuration[name]
    listed = ", ".join(sorted(takes)) or "nothing"
    return adapter.mistake(
        f"[configuration] {name} = {theirs!r}, and neither the factory nor {configure} takes that "
        f"but {listed}{near(theirs, takes)}"
    )


def check_fields(
    contract: Contract, codec: Codec, adapter: Adapter, create: Callable[[Callable[[Any], None]], Any]
) -> None:
    """Their side of [fields] must be in what is returned; raises UsageError.

    A field may be shown in some situations only, so a whole tour is looked at. `create` makes the
    instance for it. Where the tour cannot be made nothing is said: that is for the stages to find.
    """
    mapped = {name: theirs for name, theirs in adapter.fields.items() if theirs}
    answers = _tour(contract, create) if mapped else {}
    for name, theirs in mapped.items():
        shown_by = sorted(codec.shown_by(name) & answers.keys())
        records = [record for operation in shown_by for record in answers[operation]]
        if records and not any(_has(record, theirs) for record in records):
            raise adapter.mistake(_no_such_field(name, theirs, shown_by, records))


def mapped_in_vain(codec: Codec, adapter: Adapter, operation: str, answer: Any) -> str:
    """The mapped field that an unreadable answer lacks, in a sentence; empty if it has all of them."""
    for name, theirs in adapter.fields.items():
        if theirs and operation in codec.shown_by(name) and not _has(answer, theirs):
            return _no_such_field(name, theirs, [operation], [answer])
    return ""


def _no_such_field(name: str, theirs: str, shown_by: list[str], records: list[Any]) -> str:
    there = {field for record in records for field in _fields(record)}
    listed = f"no such field but {', '.join(sorted(there))}" if there else "no fields with names"
    return (
        f"[fields] {name} = {theirs!r}, and what {' or '.join(shown_by)} returns has "
        f"{listed}{near(theirs, there)}"
    )


def _tour(contract: Contract, create: Callable[[Callable[[Any], None]], Any]) -> dict[str, list[Any]]:
    """The raw answers of the contract's tour by operation; none if it could not be made to its end."""
    kept: list[Any] = []
    answers: dict[str, list[Any]] = {}
    subject = create(kept.append)
    ids: list[Any] = []
    for number, (name, *job) in enumerate(contract.tour):
        if name not in subject.calls:
            continue
        kept.clear()
        try:
            answer = subject.call(name, _arguments(contract, name, number, [ids[index] for index in job]))
        except (Malformed, WouldBlock):
            return {}
        if isinstance(answer, Raised) or not kept:
            return {}
        if name == contract.creates:
            ids.append(contract.job_of(answer))
            if ids[-1] is None:
                return {}
        if kept[-1] is not None:
            answers.setdefault(name, []).append(kept[-1])
    return answers


def _arguments(contract: Contract, name: str, number: int, jobs: list[Any]) -> tuple[Any, ...]:
    return tuple(
        jobs[0] if parameter.domain.kind == "job" else f"{parameter.domain.prefix}-{number}"
        for parameter in contract.operation(name).parameters
    )


def _has(record: Any, name: str) -> bool:
    if isinstance(record, Mapping):
        return name in record
    try:
        return hasattr(record, name)
    except Exception:  # a property of theirs that fails is there all the same
        return True


def _fields(record: Any) -> list[str]:
    """The names under which a record shows something."""
    if isinstance(record, Mapping):
        return [name for name in record if isinstance(name, str)]
    if isinstance(record, (str, bytes, int, float)):
        return []
    plain = set(dir(tuple)) | set(dir(list))
    return [name for name in dir(record) if not name.startswith("_") and name not in plain]
