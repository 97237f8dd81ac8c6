"""CS/token_ring: three atomic copies in a ring, right in one order only."""

from __future__ import annotations

from threading import Event, Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["TOKEN_RING"]


class Ring:
    """Three values; the events of the repaired twin say which are up to date."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.first = 1
        self.second = 2
        self.third = 1
        self.first_done = Event()
        self.second_done = Event()
        self.third_done = Event()


def advance_first(ring: Ring) -> None:
    """The first value is the third's successor."""
    with ring.lock:
        ring.first = (ring.third + 1) % 4
    ring.first_done.set()


def copy_to_second(ring: Ring) -> None:
    """The second value is the first, of whatever time."""
    with ring.lock:
        ring.second = ring.first
    ring.second_done.set()


def copy_to_third(ring: Ring) -> None:
    """The third value is the second, of whatever time."""
    with ring.lock:
        ring.third = ring.second
    ring.third_done.set()


def copy_to_second_after(ring: Ring) -> None:
    """The second value is the first, once that is up to date."""
    ring.first_done.wait()
    copy_to_second(ring)


def copy_to_third_after(ring: Ring) -> None:
    """The third value is the second, once that is up to date."""
    ring.second_done.wait()
    copy_to_third(ring)


def compare(ring: Ring) -> None:
    """When all copies were made, all values must be equal."""
    if ring.first_done.is_set() and ring.second_done.is_set() and ring.third_done.is_set():
        with ring.lock:
            values = (ring.first, ring.second, ring.third)
        assert len(set(values)) == 1, f"the ring holds {values}"


TOKEN_RING = KnownBug(
    name="token_ring",
    source="CS",
    about="The copies are made in another order than that of the ring.",
    finding="exception",
    message="the ring holds",
    buggy=Program("token_ring", Ring, (advance_first, copy_to_second, copy_to_third, compare)),
    repaired=Program(
        "token_ring_ok", Ring, (advance_first, copy_to_second_after, copy_to_third_after, compare)
    ),
)
