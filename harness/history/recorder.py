"""Recording operations on real threads, cheaply: one tuple per operation, one list per client."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Recorded", "Recorder"]


class Recorded(NamedTuple):
    """One operation of one client. Times are nanoseconds of one monotonic clock.

    `returned` is None, and `response` meaningless, while the operation is pending.
    """

    client: str
    operation: str
    arguments: tuple[Any, ...]
    response: Any
    called: int
    returned: int | None


class Recorder:
    """The operations of one client, in the order it made them."""

    def __init__(self, client: str, now: Callable[[], int] | None = None) -> None:
        self.client = client
        self._now = now if now is not None else time.perf_counter_ns
        self._done: list[tuple[str, tuple[Any, ...], Any, int, int]] = []
        self._open: tuple[str, tuple[Any, ...], int] | None = None
        self._counted = 0

    def __len__(self) -> int:
        return len(self._done) + self._counted

    def wrap(self, operation: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, recorded."""
        append, now = self._done.append, self._now

        def recorded(*arguments: Any) -> Any:
            called = now()
            self._open = (operation, arguments, called)
            response = call(*arguments)
            append((operation, arguments, response, called, now()))
            self._open = None
            return response

        return recorded

    def count(self, operation: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, counted and not recorded."""

        def counted(*arguments: Any) -> Any:
            response = call(*arguments)
            self._counted += 1
            return response

        return counted

    def pending(self) -> Recorded | None:
        """The recorded operation in progress, if any; may be asked from another thread."""
        opened = self._open
        if opened is None:
            return None
        operation, arguments, called = opened
        return Recorded(self.client, operation, arguments, None, called, None)

    def operations(self) -> list[Recorded]:
        """What was recorded; the operation in progress, if any, comes last and is pending."""
        client = self.client
        done = [Recorded(client, *operation) for operation in self._done]
        pending = self.pending()
        return [*done, pending] if pending else done
