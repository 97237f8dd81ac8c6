"""Telling whether a thread is parked, without luck.

A thread that sleeps through two looks, a pause apart, without a single context switch in between is
blocked on something that nobody released: had it merely waited for the interpreter lock, which is
free while we pause, it would have switched; had it starved, it would show as runnable.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["are_parked", "parking_is_visible"]

_PAUSE_S = 0.002


def parking_is_visible() -> bool:
    """Whether this system shows the states of threads."""
    return Path("/proc/self/task").is_dir()


def are_parked(native_ids: Sequence[int]) -> bool:
    """Whether all these threads of ours are blocked; takes two looks. False if it cannot be known."""
    first = [_look(native_id) for native_id in native_ids]
    if not all(look is not None and look[0] == "S" for look in first):
        return False
    time.sleep(_PAUSE_S)
    return [_look(native_id) for native_id in native_ids] == first


def _look(native_id: int) -> tuple[str, str, str] | None:
    """State and context switch counts of a thread, None if it has gone or nothing is shown."""
    try:
        text = Path(f"/proc/self/task/{native_id}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    state = fields.get("State", "?").strip()[:1]
    return (
        state,
        fields.get("voluntary_ctxt_switches", "").strip(),
        fields.get("nonvoluntary_ctxt_switches", "").strip(),
    )
