"""CS/reorder: setters write two fields one after the other, and one checker may look in between.

The more setters, the less likely it is that none has finished when the checker looks: the hardest
of the family have twenty and a hundred tasks. (The Java port of reorder_20 has ten checkers.)
"""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["REORDER"]

SIZES = (3, 4, 5, 10, 20, 100)


class Fields:
    """Two fields that belong together; the lock is the repaired twin's."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.a = 0
        self.b = 0


def set_fields(fields: Fields) -> None:
    """Write the fields one after the other."""
    fields.a = 1
    fields.b = -1


def check_fields(fields: Fields) -> None:
    """Both or none of the fields must have been set."""
    assert (fields.a == 0 and fields.b == 0) or (fields.a == 1 and fields.b == -1), "only one field is set"


def set_together(fields: Fields) -> None:
    """Write the fields under the lock."""
    with fields.lock:
        set_fields(fields)


def check_together(fields: Fields) -> None:
    """Look at the fields under the lock."""
    with fields.lock:
        check_fields(fields)


def _reorder(tasks: int) -> KnownBug:
    return KnownBug(
        name=f"reorder_{tasks}",
        source="CS",
        about=f"The checker looks between the two writes of the first of {tasks - 1} setters.",
        finding="exception",
        message="only one field is set",
        buggy=Program(f"reorder_{tasks}", Fields, (*[set_fields] * (tasks - 1), check_fields)),
        repaired=Program(f"reorder_{tasks}_ok", Fields, (*[set_together] * (tasks - 1), check_together)),
    )


REORDER = tuple(_reorder(tasks) for tasks in SIZES)
