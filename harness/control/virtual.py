"""Virtual `time` and `_thread` for programs with a single strand.

With one strand there is nobody to wait for. A lock that is taken stays taken; so a timed wait moves
the clock to its deadline and gives up, and an untimed one would never return: `WouldBlock`. Nothing
sleeps, waits are exact, and a wait that re-polls is visible as clock moves that nobody asked for.

The clock counts integer nanoseconds and sits half a microsecond past every whole millisecond, so
that an implementation that truncates floating seconds to milliseconds reads the number we mean.
"""

from __future__ import annotations

import _thread
import time
from types import ModuleType
from typing import Any

__all__ = ["Allocations", "NeedsThreads", "VirtualTime", "WouldBlock", "solo_thread_module"]

_EPOCH_NS = 1_000 * 1_000_000_000 + 500
_OVERSHOOT_NS = (
    100  # every wait and step is a trifle late, as real ones are: truncated differences come out right
)
_YIELD_NS = 1_000
_MOST_MOVES = 10_000  # within one call; whoever needs more is polling for something that will not come
_WALL_OFFSET_NS = 1_800_000_000 * 1_000_000_000


class WouldBlock(BaseException):
    """The only strand waits, without a budget, for something that nobody can do any more.

    A BaseException so that an implementation's `except Exception` cannot swallow it.
    """


class NeedsThreads(BaseException):
    """The implementation uses real threads, which the single-strand world cannot run."""


class VirtualTime:
    """A clock that only moves when told, or when the only strand waits."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Back to the beginning."""
        self.now_ns = _EPOCH_NS
        self.wall_ns = _WALL_OFFSET_NS
        self.moves = 0  # how often a wait or sleep moved the clock
        self.allowed = _MOST_MOVES

    @property
    def now_ms(self) -> int:
        """Whole milliseconds of the monotonic clock."""
        return self.now_ns // 1_000_000

    def advance_ms(self, milliseconds: int) -> None:
        """Move the clock from outside; not counted as a wait."""
        self.now_ns += milliseconds * 1_000_000 + _OVERSHOOT_NS

    def begin_call(self) -> None:
        """Allow the coming call its number of moves."""
        self.allowed = self.moves + _MOST_MOVES

    def step_wall_ms(self, milliseconds: int) -> None:
        """Step the wall clock, as an administrator would, leaving monotonic time alone."""
        self.wall_ns += milliseconds * 1_000_000

    def wait(self, seconds: float) -> None:
        """Let a wait of this length run out; raises WouldBlock for a loop that waits without end."""
        self.moves += 1
        if self.moves > self.allowed:
            raise WouldBlock("polls for something that nobody will do")
        self.now_ns += round(seconds * 1_000_000_000) + _OVERSHOOT_NS

    def module(self) -> ModuleType:
        """A stand-in for the `time` module on this clock."""
        module = ModuleType("time", time.__doc__)
        module.__dict__.update(vars(time))
        for name, read in {
            "monotonic": lambda: self.now_ns,
            "perf_counter": lambda: self.now_ns,
            "time": lambda: self.now_ns + self.wall_ns,
        }.items():
            setattr(module, f"{name}_ns", read)
            setattr(module, name, lambda read=read: read() / 1_000_000_000)
        module.__dict__["sleep"] = self._sleep
        return module

    def _sleep(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.wait(seconds or _YIELD_NS / 1_000_000_000)


class Allocations:
    """Fails a lock allocation on demand: `fail_at` counts down to the one that raises."""

    def __init__(self) -> None:
        self.fail_at = 0
        self.failed = False

    def count(self) -> None:
        """Account for one allocation; raises MemoryError if it is the one to fail."""
        if self.fail_at:
            self.fail_at -= 1
            if not self.fail_at:
                self.failed = True
                raise MemoryError("allocation failed (injected by the harness)")


class _SoloLock:
    """A lock for the only strand. Subclassed per world: from 3.13 on, `threading.Lock` is the class."""

    _clock: VirtualTime
    _allocations: Allocations

    def __init__(self) -> None:
        self._allocations.count()
        self._held = False
        self._strand = _thread.get_ident()

    def acquire(self, blocking: bool = True, timeout: float | None = -1) -> bool:
        if _thread.get_ident() != self._strand:
            raise NeedsThreads("a lock made in the single-strand world was used from another thread")
        if timeout is None:
            raise TypeError("a timeout is a number")
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if not self._held:
            self._held = True
            return True
        if not blocking:
            return False
        if timeout == -1:
            raise WouldBlock("blocked for ever on a lock that nobody will release")
        self._clock.wait(timeout)
        return False

    def release(self) -> None:
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self) -> bool:
        return self._held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    # threading registers these for forks
    def _at_fork_reinit(self) -> None:
        self._held = False


def solo_thread_module(clock: VirtualTime, allocations: Allocations) -> ModuleType:
    """A stand-in for `_thread`: the pure-Python `threading` runs on it unmodified.

    `RLock` is absent, so `threading` uses its own; starting a thread raises NeedsThreads.
    """
    lock = type("lock", (_SoloLock,), {"_clock": clock, "_allocations": allocations})
    module = ModuleType("_thread", _thread.__doc__)
    module.__dict__.update(vars(_thread))
    module.__dict__.update(allocate_lock=lock, allocate=lock, lock=lock, LockType=lock, RLock=None)
    if hasattr(_thread, "_set_sentinel"):  # before 3.13: the real one would take over this thread's own
        module.__dict__["_set_sentinel"] = lock
    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        if hasattr(_thread, name):
            module.__dict__[name] = _refuse_thread
    return module


def _refuse_thread(*_args: Any, **_kwargs: Any) -> Any:
    raise NeedsThreads("the implementation starts a thread")
