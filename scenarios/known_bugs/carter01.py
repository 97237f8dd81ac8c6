"""CS/carter01: a room that is handed from group to group, with one lock for the counters of both."""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["CARTER01"]


class Room:
    """`taken` is held by whichever group is inside: its first member takes it, its last one releases it."""

    def __init__(self) -> None:
        self.counting = Lock()
        self.counting_second = Lock()
        self.taken = Lock()
        self.first = 0
        self.second = 0


def visit_first(room: Room) -> None:
    """A member of the first group goes in and out."""
    with room.counting:
        room.first += 1
        if room.first == 1:
            room.taken.acquire()
    with room.counting:
        room.first -= 1
        if room.first == 0:
            room.taken.release()


def visit_second(room: Room) -> None:
    """A member of the second group goes in and out, counted under the first group's lock."""
    with room.counting:
        room.second += 1
        if room.second == 1:
            room.taken.acquire()
    with room.counting:
        room.second -= 1
        if room.second == 0:
            room.taken.release()


def visit_second_apart(room: Room) -> None:
    """A member of the second group goes in and out, counted under a lock of its group."""
    with room.counting_second:
        room.second += 1
        if room.second == 1:
            room.taken.acquire()
    with room.counting_second:
        room.second -= 1
        if room.second == 0:
            room.taken.release()


def stay_away(room: Room) -> None:
    """The original declares two more tasks and leaves them empty."""


def check_empty(room: Room) -> None:
    """Raises AssertionError when somebody is still inside."""
    assert room.first == room.second == 0, "somebody is still inside"
    assert not room.taken.locked(), "the room is taken, and nobody is inside"


IDLE = (stay_away, stay_away)

CARTER01 = KnownBug(
    name="carter01",
    source="CS",
    about="Who waits for the room holds the lock that those inside need to leave it.",
    finding="deadlock",
    message="",
    buggy=Program("carter01", Room, (visit_first, visit_second, stay_away, stay_away), check_empty),
    repaired=Program(
        "carter01_ok", Room, (visit_first, visit_second_apart, stay_away, stay_away), check_empty
    ),
)
