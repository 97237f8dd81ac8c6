"""When the order of two operations can matter.

Exact enough to reduce by, and never too small: two operations of different tasks whose order could
change what any task sees afterwards are dependent. An operation is (kind, owner, key); that of the
clock, `fire`, ends the wait for its owner and moves the clock, its key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.control.task import Operation

__all__ = ["dependent", "may_be_co_enabled"]

_ANY = "*"
_PURE = frozenset({"read", "time", "timer"})  # among themselves these commute
_LOCAL = frozenset({"start", "spawn", "yield", "expired"})


def dependent(one: Operation, other: Operation) -> bool:
    """Whether two operations of different tasks do not commute."""
    kind, owner, key = one
    kind2, owner2, key2 = other
    if kind == "fire":
        return owner2 in (owner, key)
    if kind2 == "fire":
        return owner in (owner2, key2)
    if (
        (owner is not owner2 and not (type(owner) is int and owner == owner2))
        or kind in _LOCAL
        or kind2 in _LOCAL
    ):
        return False
    if kind in _PURE and kind2 in _PURE:
        return False
    if kind == kind2 == "finish":
        return False
    return key == key2 or _ANY in (key, key2)


def may_be_co_enabled(one: Operation, other: Operation) -> bool:
    """Whether both could be possible in one state: a held lock is not acquired, a free one not released.

    Of two waits that may end, the clock ends the one with the earlier deadline.
    An acquisition that may time out is possible in front of a held lock: it may come there, and give up.
    """
    kinds = {one[0], other[0]}
    return kinds not in ({"acquire", "release"}, {"acquire", "finish"}, {"fire"})
