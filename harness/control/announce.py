"""What instrumented code calls: each function announces an access just before it happens.

An announcement counts the runtime's lease down and asks only when it is over. Most functions return
the object they were given, so that `obj.attr` becomes `at__(obj, 'attr').attr` and nothing else changes.
Containers are told by type, looked up once per type; the objects themselves are never asked.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from harness.control.task import ANY

__all__ = ["METHODS_THAT_READ", "METHODS_THAT_WRITE", "Announced", "announcers"]

METHODS_THAT_WRITE = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "intersection_update",
        "move_to_end",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "sort",
        "subtract",
        "symmetric_difference_update",
        "update",
    ]
)
METHODS_THAT_READ = frozenset(
    [
        "copy",
        "count",
        "difference",
        "elements",
        "get",
        "index",
        "intersection",
        "isdisjoint",
        "issubset",
        "issuperset",
        "items",
        "keys",
        "most_common",
        "symmetric_difference",
        "total",
        "union",
        "values",
    ]
)

_CONTAINERS = (list, dict, set, deque, bytearray, array)
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class Announced(Protocol):
    """What announcements are made to: the runtime."""

    left: int

    def access(self, write: bool, owner: Any, key: Any) -> None:
        """The lease is over: ask."""


class _Containers(dict[type, bool]):
    """Whether a type is one of the builtin mutable containers or derives from one."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = found = issubclass(kind, _CONTAINERS)
        return found


class _Slots(dict[tuple[type, str], bool]):
    """Whether a name is found on a type (a method, a property), and not on the instance alone."""

    def __missing__(self, key: tuple[type, str]) -> bool:
        kind, name = key
        self[key] = found = any(name in vars(base) for base in kind.__mro__)
        return found


def _item_key(owner: Any, key: Any) -> Any:
    """An item's key where it names one place for good; list positions shift, and hashes may run code."""
    kind = type(key)
    if (kind is str or kind is int) and isinstance(owner, dict):
        return key
    return ANY


_IS_CONTAINER = _Containers()
_ON_TYPE = _Slots()
Function = Callable[..., Any]


def announcers(runtime: Announced) -> dict[str, Function]:
    """The functions by the names that instrumented code uses; closures over the runtime, for speed."""
    makers = (_attribute_announcers, _item_announcers, _content_announcers, _iteration_announcers)
    functions = {function.__name__: function for make in makers for function in make(runtime)}
    return {**functions, "globals__": globals}  # under a name of ours, for code that has its own `globals`


def _attribute_announcers(runtime: Announced) -> tuple[Function, ...]:
    """Attributes and names."""
    access, on_type = runtime.access, _ON_TYPE

    def at__(owner: Any, name: str) -> Any:
        runtime.left -= 1
        if runtime.left < 0:
            access(False, owner, name)
        return owner

    def to__(owner: Any, name: str) -> Any:
        runtime.left -= 1
        if runtime.left < 0:
            access(True, owner, name)
        return owner

    def then__(value: Any, owner: Any, name: str) -> Any:
        """An attribute is written next, with what is computed from `value`."""
        runtime.left -= 1
        if runtime.left < 0:
            access(True, owner, name)
        return value

    def calls__(owner: Any, name: str) -> Any:
        """What is called next is shared data only if it is kept in the instance: a callback."""
        if not on_type[type(owner), name]:
            runtime.left -= 1
            if runtime.left < 0:
                access(False, owner, name)
        return owner

    def name__(owner: Any, name: str) -> None:
        runtime.left -= 1
        if runtime.left < 0:
            access(False, owner, name)

    def then_name__(value: Any, owner: Any, name: str) -> Any:
        runtime.left -= 1
        if runtime.left < 0:
            access(True, owner, name)
        return value

    return at__, to__, then__, calls__, name__, then_name__


def _item_announcers(runtime: Announced) -> tuple[Function, ...]:
    """Items by key."""
    access, containers = runtime.access, _IS_CONTAINER

    def item__(owner: Any, key: Any) -> Any:
        if containers[type(owner)]:
            runtime.left -= 1
            if runtime.left < 0:
                access(False, owner, _item_key(owner, key))
        return owner

    def put__(owner: Any, key: Any) -> Any:
        if containers[type(owner)]:
            runtime.left -= 1
            if runtime.left < 0:
                access(True, owner, _item_key(owner, key))
        return owner

    def then_item__(value: Any, owner: Any, key: Any) -> Any:
        put__(owner, key)
        return value

    def get__(owner: Any, key: Any) -> Any:
        return item__(owner, key)[key]

    def set__(value: Any, owner: Any, key: Any) -> None:
        put__(owner, key)[key] = value

    return item__, put__, then_item__, get__, set__


def _content_announcers(runtime: Announced) -> tuple[Function, ...]:
    """A container as a whole, and methods of it."""
    access, containers = runtime.access, _IS_CONTAINER

    def look__(owner: Any) -> Any:
        if containers[type(owner)]:
            runtime.left -= 1
            if runtime.left < 0:
                access(False, owner, ANY)
        return owner

    def change__(owner: Any) -> Any:
        if containers[type(owner)]:
            runtime.left -= 1
            if runtime.left < 0:
                access(True, owner, ANY)
        return owner

    def reads__(owner: Any, name: str) -> Any:
        """A method whose name is that of a container's reading method is called next."""
        if containers[type(owner)]:
            runtime.left -= 1
            if runtime.left < 0:
                access(False, owner, ANY)
        return owner

    def writes__(owner: Any, name: str) -> Any:
        if containers[type(owner)]:
            runtime.left -= 1
            if runtime.left < 0:
                access(True, owner, ANY)
        return owner

    def method__(owner: Any, name: str) -> Any:
        """A container's method that announces itself when it is called, once its arguments are there."""
        bound = getattr(owner, name)
        if not containers[type(owner)]:
            return bound
        write = name in METHODS_THAT_WRITE

        def announced(*arguments: Any, **keywords: Any) -> Any:
            runtime.left -= 1
            if runtime.left < 0:
                access(write, owner, ANY)
            return bound(*arguments, **keywords)

        return announced

    return look__, change__, reads__, writes__, method__


def _iteration_announcers(runtime: Announced) -> tuple[Function, ...]:
    """Iteration: each step reads the container."""
    access, containers = runtime.access, _IS_CONTAINER

    def steps(owner: Any, iterator: Iterator[Any]) -> Iterator[Any]:
        while True:
            runtime.left -= 1
            if runtime.left < 0:
                access(False, owner, ANY)
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item

    def iter__(owner: Any) -> Any:
        kind = type(owner)
        if containers[kind] or kind in _VIEWS:
            return steps(owner, iter(owner))
        return owner

    def view__(owner: Any, name: str) -> Any:
        """Iteration over `owner.items()` and the like."""
        view = getattr(owner, name)()
        return steps(owner, iter(view)) if containers[type(owner)] else iter__(view)

    return iter__, view__
