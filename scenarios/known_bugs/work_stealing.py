"""CHESS' work-stealing queues: the owner pushes and pops at the tail, thieves steal at the head.

The queue follows Frigo, Leiserson and Randall's protocol (PLDI 1998): each side publishes its claim
before it looks at the other's, and only when they meet does the owner take the lock that thieves always
hold. WSQ, IWSQ and SWSQ are one driver each; the bugs that go with them are three steps of that
protocol made wrong. "With state" is IWSQ's bug with the driver of two thieves.
"""

from __future__ import annotations

from functools import partial
from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["IWSQ", "IWSQ_WITH_STATE", "QUEUES", "SWSQ", "WSQ", "Item", "WorkQueue"]

ITEMS, ATTEMPTS = 4, 2


class Item:
    """Work that must be done once."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.done = 0


class WorkQueue:
    """A ring of items from `head` to `tail`; a thief's claim may put `head` one too far for a while."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.head = 0
        self.tail = 0
        self.mask = 1
        self.ring: list[Item | None] = [None, None]

    def push(self, item: Item) -> None:
        """Add at the tail. Owner only."""
        tail = self.tail
        if self._has_room(tail):
            self.ring[tail & self.mask] = item
            self.tail = tail + 1
        else:
            self._push_into_larger(item)

    def pop(self) -> Item | None:
        """Remove at the tail. Owner only."""
        tail = self.tail - 1
        self.tail = tail
        if self.head <= tail:
            return self.ring[tail & self.mask]
        self.tail = tail + 1
        return self._pop_under_lock()

    def steal(self) -> Item | None:
        """Remove at the head."""
        with self.lock:
            head = self.head
            self.head = head + 1
            if head < self.tail:
                return self.ring[head & self.mask]
            self.head = head
            return None

    def _has_room(self, tail: int) -> bool:
        """One place is left free: a thief may have claimed the oldest item, and not have read it yet."""
        return tail < self.head + self.mask

    def _push_into_larger(self, item: Item) -> None:
        with self.lock:
            head, count, mask = self.head, self.tail - self.head, self.mask
            if count >= mask:
                items = [self.ring[place & mask] for place in range(head, head + count)]
                self.mask = 2 * mask + 1
                self.ring = items + [None] * (self.mask + 1 - count)
                self.head = 0
                self.tail = count
            self.ring[self.tail & self.mask] = item
            self.tail += 1

    def _pop_under_lock(self) -> Item | None:
        with self.lock:
            tail = self.tail - 1
            if self.head > tail:
                return None
            self.tail = tail
            return self.ring[tail & self.mask]


class OverwritingQueue(WorkQueue):
    """Uses every place of the ring, also that of an item which a thief is about to read."""

    def _has_room(self, tail: int) -> bool:
        return tail <= self.head + self.mask


class EarlyLookQueue(WorkQueue):
    """The owner looks at the head before it publishes its claim."""

    def pop(self) -> Item | None:
        """As in the queue."""
        head = self.head
        tail = self.tail - 1
        self.tail = tail
        if head <= tail:
            return self.ring[tail & self.mask]
        self.tail = tail + 1
        return self._pop_under_lock()


class LateClaimQueue(WorkQueue):
    """A thief looks at the tail before it publishes its claim."""

    def steal(self) -> Item | None:
        """As in the queue."""
        with self.lock:
            head = self.head
            if head >= self.tail:
                return None
            self.head = head + 1
            return self.ring[head & self.mask]


QUEUES: dict[str, type[WorkQueue]] = {
    "correct": WorkQueue,
    "overwriting": OverwritingQueue,
    "early look": EarlyLookQueue,
    "late claim": LateClaimQueue,
}
"""By name, because a name means the same class in a private import of this module."""


class Work:
    """The items and the queue that they go through."""

    def __init__(self, queue: str) -> None:
        self.queue = QUEUES[queue]()
        self.items = [Item(number) for number in range(ITEMS)]


def _do(item: Item | None) -> None:
    if item is not None:
        item.done += 1


def own_by_pairs(work: Work) -> None:
    """Push two items and do one, until all are pushed; then do the rest."""
    for number in range(0, ITEMS, 2):
        work.queue.push(work.items[number])
        work.queue.push(work.items[number + 1])
        _do(work.queue.pop())
    for _ in range(ITEMS // 2):
        _do(work.queue.pop())


def own_at_once(work: Work) -> None:
    """Push all items; then do all that are left."""
    for item in work.items:
        work.queue.push(item)
    for _ in range(ITEMS):
        _do(work.queue.pop())


def steal_twice(work: Work) -> None:
    """Try twice to do an item of the owner's."""
    for _ in range(ATTEMPTS):
        _do(work.queue.steal())


def check_done(work: Work) -> None:
    """Raises AssertionError for an item that was not done exactly once."""
    done = [item.done for item in work.items]
    assert done == [1] * ITEMS, f"not every item was done once: {done}"


def _work_stealing(name: str, about: str, queue: str, tasks: tuple[str, ...]) -> KnownBug:
    roles = {"pairs": own_by_pairs, "at once": own_at_once, "thief": steal_twice}
    played = tuple(roles[task] for task in tasks)
    return KnownBug(
        name=name,
        source="CHESS",
        about=about,
        finding="invariant",
        message="not every item was done once",
        buggy=Program(name, partial(Work, queue), played, check_done),
        repaired=Program(f"{name}_ok", partial(Work, "correct"), played, check_done),
    )


WSQ = _work_stealing(
    "wsq",
    "A push overwrites the item that a thief has claimed and not yet read.",
    "overwriting",
    ("pairs", "thief"),
)
IWSQ = _work_stealing(
    "iwsq",
    "The owner looks at the head before it publishes its claim, and a thief takes the same item.",
    "early look",
    ("pairs", "thief"),
)
SWSQ = _work_stealing(
    "swsq",
    "A thief looks at the tail before it publishes its claim, and the owner takes the same item.",
    "late claim",
    ("at once", "thief", "thief"),
)
IWSQ_WITH_STATE = _work_stealing(
    "iwsq_with_state",
    "As iwsq, with all items pushed first and two thieves.",
    "early look",
    ("at once", "thief", "thief"),
)
