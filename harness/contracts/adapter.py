"""The declarative adapter: how a foreign vocabulary maps to a contract's.

An adapter is data, not code: a TOML file beside the implementation, or an `Adapter` record. It
renames; it does not repair. Whatever it leaves out keeps the contract's own name.

    [operations]        # ours = theirs; "" says that there is none, here and in the next tables
    submit = "enqueue"
    [arguments]         # the order in which a foreign method takes our parameters
    submit = ["payload"]
    [configuration]     # ours = theirs, of the factory or of `configure`
    max_queue = "capacity"
    [fields]            # ours = theirs, of records that are returned
    completed_at = "finished_at"
    [states]            # theirs = ours
    COMPLETED = "DONE"
    [exceptions]        # names of exception classes that stand for an answer
    rejected = ["QueueFull"]
    absent = ["KeyError"]
    [units]
    time = "s"          # durations handed to the implementation: "ms" (default) or "s"
    [values]
    kind = "text"       # payloads and results handed over: "record" (default) or "text"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from harness.findings import UsageError

__all__ = ["Adapter", "plain_word"]

_FLAT = {"exceptions": ("rejected", "absent"), "units": ("time",), "values": ("kind",)}


@dataclass(frozen=True)
class Adapter:
    """A mapping of foreign names; see the module's text for each table.

    `source` is the file that it was read from, empty if there is none; mistakes are told with it.
    """

    operations: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    time: str = "ms"
    kind: str = "record"
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.time not in ("ms", "s"):
            raise UsageError(f'adapter: units.time is "ms" or "s", not {self.time!r}')
        if self.kind not in ("record", "text"):
            raise UsageError(f'adapter: values.kind is "record" or "text", not {self.kind!r}')
        words = {plain_word(theirs): plain_word(ours) for theirs, ours in self.states.items()}
        object.__setattr__(self, "states", words)  # spelt one way, wherever the adapter comes from

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a TOML adapter; raises UsageError naming the file and what is wrong with it."""
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"adapter {path}: {error.strerror or error}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"adapter {path}: not TOML: {error}") from None
        return cls.from_tables(tables, str(path))

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any], source: str = "") -> Self:
        """Build an adapter from parsed tables; raises UsageError on an unknown table or wrong value."""
        try:
            return cls(**_flattened(tables), source=source)
        except UsageError as error:
            if not source:
                raise
            raise UsageError(f"adapter {source}: {str(error).removeprefix('adapter: ')}") from None

    def mistake(self, said: str) -> UsageError:
        """The error that tells of a mistake in this adapter, and of its file."""
        return UsageError(f"adapter {self.source}: {said}" if self.source else f"adapter: {said}")

    def to_tables(self) -> dict[str, Any]:
        """Plain tables, such that `from_tables` gives an equal adapter."""
        tables: dict[str, Any] = {name: dict(getattr(self, name)) for name in _MAPPINGS}
        tables["arguments"] = {name: list(order) for name, order in self.arguments.items()}
        for table, names in _FLAT.items():
            tables[table] = {
                name: list(value) if isinstance(value := getattr(self, name), tuple) else value
                for name in names
            }
        return tables

    def foreign_operation(self, name: str) -> str:
        """Their name for one of our operations; empty if declared missing."""
        return self.operations.get(name, name)

    def field_names(self, *names: str) -> tuple[str, ...]:
        """Their name for a field first, then ours and its usual synonyms; none if declared missing."""
        if self.fields.get(names[0]) == "":
            return ()
        return tuple(dict.fromkeys((self.fields.get(names[0], names[0]), *names)))


_MAPPINGS = tuple(
    item.name
    for item in fields(Adapter)
    if item.name not in {"source", *(name for group in _FLAT.values() for name in group)}
)


def _flattened(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Parsed tables as the record's fields, or UsageError."""
    flat: dict[str, Any] = {}
    for table, content in tables.items():
        if not isinstance(content, dict):
            raise UsageError(f"adapter: [{table}] is no table")
        if table in _FLAT:
            unknown = sorted(set(content) - set(_FLAT[table]))
            if unknown:
                raise UsageError(f"adapter: [{table}] knows no {unknown[0]!r}")
            flat.update(content)
        elif table in _MAPPINGS:
            flat[table] = content
        else:
            known = ", ".join(sorted(set(_MAPPINGS) | set(_FLAT)))
            raise UsageError(f"adapter: unknown table [{table}]; the tables are {known}")
    return {name: _checked(name, value) for name, value in flat.items()}


def plain_word(text: str) -> str:
    """A name in the one spelling in which foreign words and ours are compared."""
    return text.upper().replace("-", "_").replace(" ", "_")


def _checked(name: str, value: Any) -> Any:
    """A table's value in the type the record wants, or UsageError."""
    if name in ("time", "kind"):
        return value
    if name in ("rejected", "absent"):
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
            raise UsageError(f"adapter: exceptions.{name} is a list of class names")
        return tuple(names)
    if name == "arguments":
        for order in value.values():
            if not isinstance(order, list) or not all(isinstance(item, str) for item in order):
                raise UsageError("adapter: [arguments] maps an operation to a list of our parameter names")
        return {key: tuple(order) for key, order in value.items()}
    wrong = [key for key, item in value.items() if not isinstance(item, str)]
    if wrong:
        raise UsageError(f"adapter: {name}.{wrong[0]} is a string, not {value[wrong[0]]!r}")
    return value
