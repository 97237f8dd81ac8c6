"""Numbers for values: equal by value and by type, recursively, so that `True`, `1` and `1.0` are three."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

__all__ = ["Interner", "key_of"]

_PLAIN = (str, bytes, type(None))


def key_of(value: Any) -> Hashable:
    """A hashable that two values share if and only if they are equal and of the same types throughout.

    Containers, dataclasses and enumerations are looked into; any other object counts by itself.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value  # type: ignore[no-any-return]
    if kind in (bool, int):
        return kind, value
    if kind is float or kind is complex:
        return kind, repr(value)  # not-a-number is itself, and minus zero is not zero
    if isinstance(value, Enum):
        return kind, value.name
    if isinstance(value, (tuple, list)):
        return kind, tuple(map(key_of, value))
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(map(key_of, value))
    if isinstance(value, dict):
        return kind, frozenset((key_of(key), key_of(item)) for key, item in value.items())
    if is_dataclass(value):
        return kind, tuple(key_of(getattr(value, field.name)) for field in fields(value))
    try:
        hash(value)
    except TypeError:
        return kind, id(value)
    return kind, value


class Interner:
    """Gives each distinct value a number, and the value back for a number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Any) -> int:
        """The same for values that are the same."""
        key = key_of(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.values)
            self.values.append(value)
        return number
