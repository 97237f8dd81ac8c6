"""Numbers for objects, in order of first sight, that keep nobody alive who could die."""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["Numbers"]


class Numbers:
    """The same object has the same number until `clear`; no two objects share one.

    Objects are only referred to weakly where their type allows it: an execution that is looked at must see
    the same deaths, and their destructors at the same steps, as one that is not.
    """

    __slots__ = ("_kept", "_next", "_numbers")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin anew, from 0."""
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._next = 0

    def of(self, thing: Any) -> int:
        """The object's number."""
        number = self._numbers.get(id(thing))
        if number is None:
            number = self._next
            self._next += 1
            self._remember(thing, number)
        return number

    def _remember(self, thing: Any, number: int) -> None:
        numbers, identity = self._numbers, id(thing)
        numbers[identity] = number

        def forget(_: object) -> None:
            if numbers.get(identity) == number:
                del numbers[identity]

        try:
            self._kept.append(weakref.ref(thing, forget))
        except TypeError:
            self._kept.append(thing)
