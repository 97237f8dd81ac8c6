"""A guard around what the controlled world cannot see: real locks, blocking calls, endless computation.

A real thread watches whether points are passed. When none is for a second and the exploring thread
uses no processor, it is blocked in something real; a signal then makes it raise a HarnessError that
names the place. Wall-clock time decides only that the harness gives up, never that code is wrong.
"""

from __future__ import annotations

import linecache
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from harness.control.where import innermost, shown
from harness.findings import HarnessError

if TYPE_CHECKING:
    from harness.control.runtime import Runtime

__all__ = ["Guard", "Watchdog"]

_LOOK_S = 0.2
_BLOCKED_LOOKS = 4  # without a point, and without using the processor
_BUSY_LOOKS = 100  # without a point, computing
_IDLE_S = 0.02
_SIGNAL = getattr(signal, "SIGURG", None)  # ignored by default, so a late one harms nobody


class Guard:
    """Watches whether `beats` changes while the block lasts; `stuck` is called in the watched thread if not.

    `blocked_looks` and `busy_looks`: after how many looks without a beat, 0.2 s apart, a thread that uses no
    processor, or one that does, counts as stuck. Does nothing where signals cannot reach the thread.
    """

    def __init__(
        self,
        beats: Callable[[], int],
        stuck: Callable[[FrameType | None, bool], None],
        blocked_looks: int,
        busy_looks: int,
    ) -> None:
        self._beats, self._stuck = beats, stuck
        self._blocked_looks, self._busy_looks = blocked_looks, busy_looks
        self._over = threading.Event()
        self._ident = threading.get_ident()
        self._blocked: bool | None = None
        self._before: Any = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if _SIGNAL is not None and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(_SIGNAL, self._interrupted)
            self._thread = threading.Thread(target=self._watch, name="harness watchdog", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            signal.signal(_SIGNAL, self._before)  # type: ignore[arg-type]

    def _watch(self) -> None:
        clock = time.pthread_getcpuclockid(self._ident)
        seen, spent, still, busy = -1, 0.0, 0, 0
        while not self._over.wait(_LOOK_S):
            progress = self._beats()
            now = time.clock_gettime(clock)
            if progress != seen:
                seen, still, busy = progress, 0, 0
            elif now - spent < _IDLE_S:
                still += 1
            else:
                busy += 1
            spent = now
            if still >= self._blocked_looks or busy >= self._busy_looks:
                self._blocked = still >= self._blocked_looks
                with suppress(ProcessLookupError):
                    signal.pthread_kill(self._ident, _SIGNAL)  # type: ignore[arg-type]
                still = busy = 0

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        blocked, self._blocked = self._blocked, None
        if blocked is not None:
            self._stuck(frame, blocked)


class Watchdog(Guard):
    """Watches one runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._idle = 0
        super().__init__(self._beat, self._end, _BLOCKED_LOOKS, _BUSY_LOOKS)

    def _beat(self) -> int:
        if not self._runtime.executing:  # nothing to watch between executions
            self._idle -= 1
            return self._idle
        return self._runtime.beats

    def _end(self, frame: FrameType | None, blocked: bool) -> None:
        if self._runtime.executing:
            self._runtime.interrupt(HarnessError(_told(self._runtime, frame, blocked)))


def _ordinary_package(frame: FrameType | None) -> str:
    """The top-level package that a frame's code belongs to, if everybody shares it; else ''."""
    name = frame.f_globals.get("__name__", "") if frame is not None else ""
    module = sys.modules.get(name)
    shared = frame is not None and module is not None and vars(module) is frame.f_globals
    top = str(name).partition(".")[0]
    return top if shared and top != "__main__" else ""


def _told(runtime: Runtime, frame: FrameType | None, blocked: bool) -> str:
    user = innermost(frame)
    where = "an unknown place"
    if user is not None:
        line = linecache.getline(user.f_code.co_filename, user.f_lineno).strip()
        where = f"{shown(user.f_code, user.f_lineno)}: {line}"
    task = runtime.running.name
    if blocked:
        package = _ordinary_package(user)
        hint = (
            f"; {package} is not imported privately: if it is under test, name it with instrument "
            f"(--instrument {package})"
            if package
            else "; if that object is made by a module of yours that is not imported privately, name its "
            "package with instrument (--instrument)"
        )
        return (
            f"task {task} is blocked outside of the controlled world, at {where}. It waits for a real lock, "
            f"queue, socket or process{hint}"
        )
    return (
        f"task {task} computes for {_BUSY_LOOKS * _LOOK_S:.0f} s without reaching a scheduling point, "
        f"at {where}: a loop on local variables that nothing ends, or work that is too heavy to be explored"
    )
