"""Sequential models that histories are checked against.

A model says what follows from a state by one operation with this response. States are immutable and
canonical: two that behave alike are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

__all__ = [
    "MODELS",
    "BoundedQueue",
    "CasRegister",
    "Counter",
    "FifoQueue",
    "KeyValue",
    "Lock",
    "Model",
    "Register",
]

State = Any


class Model(Protocol):
    """What users write: four short methods, of which the last two have sensible defaults in `Sequential`."""

    def initial(self) -> Sequence[State]:
        """The states in which a history may begin."""

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """The states after an operation with this response; none if the response is not legal here."""

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """The states after an operation whose response nobody saw; none if it would block here."""

    def partition(self, operation: str, arguments: tuple[Any, ...]) -> Hashable:
        """The part of the system that an operation is about; parts are checked one by one."""


class Sequential:
    """Defaults: one part, and no operation blocks without an effect.

    `operations` are the names of all operations, if a history with others is to be refused; `looks` those
    that change no state, whatever they answer.
    """

    operations: frozenset[str] = frozenset()
    looks: frozenset[str] = frozenset()

    def partition(self, operation: str, arguments: tuple[Any, ...]) -> Hashable:
        """Everything is one part."""
        return None

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """No effect: right for operations that only look."""
        return (state,)


class Register(Sequential):
    """`read() -> value`, `write(value)`; None at first."""

    operations = frozenset({"read", "write"})
    looks = frozenset({"read"})

    def initial(self) -> Sequence[State]:
        """Nothing was written."""
        return (None,)

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """A read answers what was written last."""
        if operation == "write":
            return (arguments[0],)
        return (state,) if _same(state, response) else ()

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """A write may have happened."""
        return (arguments[0],) if operation == "write" else (state,)


class CasRegister(Register):
    """A register with `cas(expected, new) -> whether it was expected`."""

    operations = Register.operations | {"cas"}

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """A compare-and-set stores if the value is the expected one."""
        if operation != "cas":
            return super().step(state, operation, arguments, response)
        hit = _same(state, arguments[0])
        if hit is not response:
            return ()
        return (arguments[1],) if hit else (state,)

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """A compare-and-set may have stored."""
        if operation == "cas":
            return (arguments[1],) if _same(state, arguments[0]) else (state,)
        return super().effects(state, operation, arguments)


class KeyValue(Register):
    """`get(key) -> value`, `put(key, value)`, `append(key, text)`; an absent key is ''. A part per key."""

    operations = frozenset({"get", "put", "append"})
    looks = frozenset({"get"})

    def initial(self) -> Sequence[State]:
        """Every key is absent."""
        return ("",)

    def partition(self, operation: str, arguments: tuple[Any, ...]) -> Hashable:
        """The key."""
        return arguments[0]  # type: ignore[no-any-return]

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """Of one key."""
        if operation == "get":
            return (state,) if _same(state, response) else ()
        return self.effects(state, operation, arguments)

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """A write may have happened."""
        if operation == "put":
            return (arguments[1],)
        return (state + arguments[1],) if operation == "append" else (state,)


class FifoQueue(Sequential):
    """`put(item)`, `get() -> item` which blocks while empty, `poll() -> item or None`."""

    operations = frozenset({"put", "get", "poll"})
    bound: int | None = None

    def initial(self) -> Sequence[State]:
        """Empty."""
        return ((),)

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """First in, first out."""
        if operation == "put":
            return () if self._full(state) else ((*state, arguments[0]),)
        if operation == "offer":
            if self._full(state) is response:
                return ()
            return ((*state, arguments[0]),) if response else (state,)
        if operation == "poll" and not state:
            return (state,) if response is None else ()
        return (state[1:],) if state and _same(state[0], response) else ()

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """An item may have come or gone; a get of nothing and a put without room block."""
        if operation in ("put", "offer"):
            if self._full(state):
                return () if operation == "put" else (state,)
            return ((*state, arguments[0]),)
        if not state:
            return () if operation == "get" else (state,)
        return (state[1:],)

    def _full(self, state: State) -> bool:
        return self.bound is not None and len(state) >= self.bound


class BoundedQueue(FifoQueue):
    """A queue with room for `bound` items: `put` blocks, `offer(item) -> whether there was room`."""

    operations = FifoQueue.operations | {"offer"}

    def __init__(self, bound: int = 1) -> None:
        self.bound = bound


class Lock(Sequential):
    """`acquire()` which blocks, `try_acquire() -> bool`, `release()`, without an owner."""

    operations = frozenset({"acquire", "try_acquire", "release"})

    def initial(self) -> Sequence[State]:
        """Free."""
        return (False,)

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """Held or not."""
        if operation == "try_acquire":
            return (True,) if response is not state and response in (True, False) else ()
        return self.effects(state, operation, arguments)

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """An acquire of a held lock blocks, a release of a free one is no legal operation."""
        if operation == "try_acquire":
            return (True,)
        wanted = operation == "acquire"
        return () if state is wanted else (wanted,)


class Counter(Sequential):
    """`increment() -> the value before`, `read() -> value`; 0 at first."""

    operations = frozenset({"increment", "read"})
    looks = frozenset({"read"})

    def initial(self) -> Sequence[State]:
        """Zero."""
        return (0,)

    def step(
        self, state: State, operation: str, arguments: tuple[Any, ...], response: Any
    ) -> Sequence[State]:
        """One more, or the same."""
        if not _same(state, response):
            return ()
        return (state + 1,) if operation == "increment" else (state,)

    def effects(self, state: State, operation: str, arguments: tuple[Any, ...]) -> Sequence[State]:
        """An increment may have happened."""
        return (state + 1,) if operation == "increment" else (state,)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


MODELS: dict[str, type[Any]] = {
    "register": Register,
    "cas-register": CasRegister,
    "kv": KeyValue,
    "queue": FifoQueue,
    "bounded-queue": BoundedQueue,
    "lock": Lock,
    "counter": Counter,
}
"""By the name that `harness check-history --model` takes."""
