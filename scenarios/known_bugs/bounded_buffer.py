"""inspect/boundedBuffer: a ring with one condition for both sides, and two ways of getting it wrong.

One wakes up a single waiter, which may be of the side that cannot go on; the other
does not look again after waking up. The original's five producers and five consumers
of ten items each are cut down to what either needs.
"""

from __future__ import annotations

from functools import partial
from threading import Condition

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["BOUNDED_BUFFER", "BOUNDED_BUFFER_IF"]

ITEMS = 2


class Buffer:
    """At most `capacity` items, guarded by one condition."""

    def __init__(self, capacity: int) -> None:
        self.changed = Condition()
        self.capacity = capacity
        self.items: list[int] = []
        self.received = 0


def put_waking_one(buffer: Buffer) -> None:
    """Put the items, waking up one waiter of whichever side for each."""
    for item in range(ITEMS):
        with buffer.changed:
            while len(buffer.items) == buffer.capacity:
                buffer.changed.wait()
            buffer.items.append(item)
            buffer.changed.notify()


def get_waking_one(buffer: Buffer) -> None:
    """Get the items, waking up one waiter of whichever side for each."""
    for _ in range(ITEMS):
        with buffer.changed:
            while not buffer.items:
                buffer.changed.wait()
            buffer.items.pop()
            buffer.received += 1
            buffer.changed.notify()


def put(buffer: Buffer) -> None:
    """Put the items, waking up everybody for each."""
    for item in range(ITEMS):
        with buffer.changed:
            while len(buffer.items) == buffer.capacity:
                buffer.changed.wait()
            buffer.items.append(item)
            buffer.changed.notify_all()


def get(buffer: Buffer) -> None:
    """Get the items, waking up everybody for each."""
    for _ in range(ITEMS):
        with buffer.changed:
            while not buffer.items:
                buffer.changed.wait()
            buffer.items.pop()
            buffer.received += 1
            buffer.changed.notify_all()


def get_looking_once(buffer: Buffer) -> None:
    """Get one item, taking it for granted after having been woken up."""
    with buffer.changed:
        if not buffer.items:
            buffer.changed.wait()
        assert buffer.items, "woken up for an item that somebody else got"
        buffer.items.pop()
        buffer.received += 1


def get_looking_again(buffer: Buffer) -> None:
    """Get one item, looking again after having been woken up."""
    with buffer.changed:
        while not buffer.items:
            buffer.changed.wait()
        buffer.items.pop()
        buffer.received += 1


def check_received(buffer: Buffer) -> None:
    """Raises AssertionError when there are items that nobody got."""
    assert not buffer.items, f"{len(buffer.items)} items were left behind"


BOUNDED_BUFFER = KnownBug(
    name="bounded_buffer",
    source="inspect",
    about="A producer's single notification wakes up another producer, and everybody sleeps.",
    finding="deadlock",
    message="",
    buggy=Program(
        "bounded_buffer",
        partial(Buffer, 1),
        (put_waking_one, put_waking_one, get_waking_one, get_waking_one),
        check_received,
    ),
    repaired=Program("bounded_buffer_ok", partial(Buffer, 1), (put, put, get, get), check_received),
)

BOUNDED_BUFFER_IF = KnownBug(
    name="bounded_buffer_if",
    source="inspect",
    about="A consumer that was woken up does not look again, and somebody was faster.",
    finding="exception",
    message="somebody else got",
    buggy=Program("bounded_buffer_if", partial(Buffer, 3), (put, *[get_looking_once] * 2), check_received),
    repaired=Program(
        "bounded_buffer_if_ok",
        partial(Buffer, 3),
        (put, get_looking_again, get_looking_again),
        check_received,
    ),
)
