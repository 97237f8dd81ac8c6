"""Announcements of what builtins do to containers: look at them, change them, step through them.

Part of `harness.control.announce`. An operation that takes arguments is announced after they were evaluated,
because that may have come to other points: either nothing happens in between, or what is called is wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from harness.control.containers import KEYED_METHODS, Contents, Items, Steppers, place_of, place_of_item
from harness.control.task import ANY

__all__ = ["Announced", "Function", "content_announcers"]

Function = Callable[..., Any]


class Announced(Protocol):
    """What announcements are made to: the runtime."""

    left: int

    def access(self, write: bool, owner: Any, key: Any) -> None:
        """The lease is over: ask."""


def content_announcers(runtime: Announced) -> tuple[Function, ...]:
    """The functions that announce for containers; see `announcers`."""
    return (*_contents(runtime), *_calls(runtime), *_iteration(runtime))


def _contents(runtime: Announced) -> tuple[Function, ...]:
    """A container as a whole, or one key of it, that the builtin called next looks at or changes."""
    access, contents, keyed, steppers = runtime.access, Contents(), Items(""), Steppers()

    def look__(owner: Any) -> Any:
        kind = contents[type(owner)]
        if kind and (kind < 3 or contents[type(owner.__self__)]):
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(False, place_of(owner, kind), ANY)
        return owner

    def change__(owner: Any) -> Any:
        kind = contents[type(owner)]
        if kind and (kind < 3 or contents[type(owner.__self__)]):
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(True, place_of(owner, kind), ANY)
        return owner

    def then_change__(value: Any, owner: Any) -> Any:
        change__(owner)
        return value

    def look_for__(owner: Any, key: Any) -> Any:
        kind = contents[type(owner)]
        if kind:
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(False, place_of(owner, kind), place_of_item(keyed[type(owner)], key))
        return owner

    def change_at__(owner: Any, key: Any) -> Any:
        kind = contents[type(owner)]
        if kind:
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(True, place_of(owner, kind), place_of_item(keyed[type(owner)], key))
        return owner

    def step__(iterator: Any) -> Any:
        """A builtin iterator is advanced next: a counter, say, that tasks share."""
        if steppers[type(iterator)]:
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(True, iterator, ANY)
        return iterator

    return look__, change__, then_change__, look_for__, change_at__, step__


def _calls(runtime: Announced) -> tuple[Function, ...]:
    """Calls whose arguments come to points of their own: what is called announces, with all at hand."""
    access, contents, keyed = runtime.access, Contents(), Items("")

    def announcing(write: bool, owner: Any, name: str) -> Function:
        method: Function = getattr(owner, name)
        kind = contents[type(owner)]
        place = place_of(owner, kind) if kind else None
        if not contents[type(place)]:
            return method
        by_key = keyed[type(place)] if name in KEYED_METHODS else 0

        def announced(*arguments: Any, **named: Any) -> Any:
            runtime.left = left = runtime.left - 1
            if left < 0:
                access(write, place, place_of_item(by_key, arguments[0]) if arguments else ANY)
            return method(*arguments, **named)

        return announced

    def then_looks__(owner: Any, name: str) -> Function:
        return announcing(False, owner, name)

    def then_changes__(owner: Any, name: str) -> Function:
        return announcing(True, owner, name)

    def changing__(function: Function) -> Function:
        """A function like `heappush`, which changes its first argument."""

        def announced(*arguments: Any, **named: Any) -> Any:
            if arguments and contents[type(arguments[0])]:
                runtime.left = left = runtime.left - 1
                if left < 0:
                    access(True, arguments[0], ANY)
            return function(*arguments, **named)

        return announced

    return then_looks__, then_changes__, changing__


def _iteration(runtime: Announced) -> tuple[Function, ...]:
    """Each step of an iteration reads the container; the making of the iterator belongs to the first."""
    access, contents = runtime.access, Contents()

    def steps(owner: Any, kind: int, iterator: Iterator[Any]) -> Iterator[Any]:
        try:
            while True:
                yield next(iterator)
                runtime.left = left = runtime.left - 1
                if left < 0:
                    access(False, place_of(owner, kind), ANY)
        except StopIteration:
            return

    def iter__(owner: Any) -> Any:
        kind = contents[type(owner)]
        if not kind:
            return owner
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(False, place_of(owner, kind), ANY)
        return steps(owner, kind, iter(owner))

    def iter_later__(owner: Any) -> Any:
        """The first step comes some time after the iterator was made, which looks at the size."""
        return announced_first(owner, iter__(owner)) if contents[type(owner)] else owner

    def announced_first(owner: Any, iterator: Iterator[Any]) -> Iterator[Any]:
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(False, place_of(owner, contents[type(owner)]), ANY)
        yield from iterator

    def reversed__(function: Function, owner: Any) -> Any:
        kind = contents[type(owner)]
        if not kind:
            return function(owner)
        runtime.left = left = runtime.left - 1
        if left < 0:
            access(False, place_of(owner, kind), ANY)
        return steps(owner, kind, function(owner))

    return iter__, iter_later__, reversed__
