"""What instrumented code calls: each function announces an access just before it happens.

An announcement counts the runtime's lease down and asks only when it is over. Most functions return
the object they were given, so that `obj.attr` becomes `at__(obj, 'attr').attr` and nothing else changes.
They are closures over the runtime, and repeat the countdown, because they run millions of times a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.control.announce_contents import Announced, Function, content_announcers
from harness.control.containers import Items, Methods, fills, place_of_attribute, place_of_item

__all__ = ["Announced", "Direct", "announcers"]


class Direct:
    """Lets everything pass, for code that is to run as it would alone."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 1 << 62

    def access(self, write: bool, owner: Any, key: Any) -> None:
        """Never asked in earnest: the lease outlasts any program."""


def announcers(runtime: Announced) -> dict[str, Function]:
    """The functions by the names that instrumented code uses.

    What they learn about types they keep to themselves, so that it goes when the runtime goes.
    """
    makers = (_attributes, _names, _items, content_announcers)
    functions = {function.__name__: function for make in makers for function in make(runtime)}
    return {**functions, "globals__": globals, "slice__": slice}  # code may have its own `globals`


def _attributes(runtime: Announced) -> tuple[Function, ...]:
    access, methods = runtime.access, Methods()

    def at__(owner: Any, name: str) -> Any:
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(False, place_of_attribute(owner), name)
        return owner

    def to__(owner: Any, name: str) -> Any:
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(True, place_of_attribute(owner), name)
        return owner

    def then__(value: Any, owner: Any, name: str) -> Any:
        """An attribute is written next, with what is computed from `value`."""
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(True, place_of_attribute(owner), name)
        return value

    def calls__(owner: Any, name: str) -> Any:
        """What is called next is shared data unless it is a method: a callback kept in the instance."""
        kind = type(owner)
        if name not in methods[kind] and not (issubclass(kind, type) and name in methods[owner]):
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(False, place_of_attribute(owner), name)
        return owner

    return at__, to__, then__, calls__


def _names(runtime: Announced) -> tuple[Function, ...]:
    access = runtime.access

    def name__(owner: Any, name: str) -> None:
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(False, owner, name)

    def then_name__(value: Any, owner: Any, name: str) -> Any:
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(True, owner, name)
        return value

    def each_name__(iterable: Iterable[Any], owner: Any, name: str) -> Iterator[Any]:
        """Iterate on behalf of a `for` whose target is a shared name."""
        return (then_name__(value, owner, name) for value in iterable)

    return name__, then_name__, each_name__


def _items(runtime: Announced) -> tuple[Function, ...]:
    access, loads, stores = runtime.access, Items("__getitem__"), Items("__setitem__")

    def item__(owner: Any, key: Any) -> Any:
        kind = loads[type(owner)]
        if kind:
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(fills(kind, owner, key), owner, place_of_item(kind, key))
        return owner

    def put__(owner: Any, key: Any) -> Any:
        kind = stores[type(owner)]
        if kind:
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(True, owner, place_of_item(kind, key))
        return owner

    def then_item__(value: Any, owner: Any, key: Any) -> Any:
        put__(owner, key)
        return value

    def get__(owner: Any, key: Any) -> Any:
        return item__(owner, key)[key]

    def set__(value: Any, owner: Any, key: Any) -> None:
        put__(owner, key)[key] = value

    def drop__(owner: Any, key: Any) -> None:
        del put__(owner, key)[key]

    return item__, put__, then_item__, get__, set__, drop__
