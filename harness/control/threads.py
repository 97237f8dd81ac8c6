"""The controlled `_thread` and `time` modules, on which the pure-Python standard library runs unmodified.

3.11 and 3.12 join a thread through the sentinel lock that `_set_sentinel` makes, 3.13 and newer through
the handle that `start_joinable_thread` fills; both are here, and the interpreter's own `threading`
decides which it asks for.
"""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from harness.control.local import local_class
from harness.control.locks import deadline_of, lock_class, refuse_subclasses, rlock_class
from harness.control.task import Resource, Task

if TYPE_CHECKING:
    from harness.control.runtime import Runtime

__all__ = ["thread_module", "time_module"]

_WALL_OFFSET_NS = 1_800_000_000 * 1_000_000_000
_FREE_READS = 100  # clock readings without a wait in between, after which time is let pass for spinners
_SPIN_NS = 1_000_000


_UNBORN = Task(-1, "a thread that never started", None)


class Sleep(Resource):
    """What sleepers wait for: nothing but their deadline."""

    __slots__ = ()
    noun = "sleep"

    def __init__(self, clock: Task) -> None:
        self.owner = clock
        self.waiters = []


def thread_module(runtime: Runtime) -> ModuleType:
    """A stand-in for `_thread`."""

    def get_ident() -> int:
        runtime.threading_used = True
        return runtime.running.ident

    lock, rlock = lock_class(runtime), rlock_class(runtime)
    module = ModuleType("_thread", _thread.__doc__)
    module.__dict__.update(vars(_thread))
    module.__dict__.update(
        allocate_lock=lock,
        allocate=lock,
        lock=lock,
        LockType=lock,
        RLock=rlock,
        get_ident=get_ident,
        get_native_id=get_ident,
        _get_main_thread_ident=lambda: 1,
        _count=lambda: sum(not task.finished for task in runtime.tasks),
        _excepthook=_excepthook(runtime),
        _shutdown=lambda: None,
        start_new_thread=_starter(runtime),
        start_new=_starter(runtime),
        _local=local_class(runtime),
        set_name=lambda name: None,
    )
    if hasattr(_thread, "_set_sentinel"):
        module.__dict__["_set_sentinel"] = _sentinel(runtime, lock)
    refuse_subclasses(lock)
    if hasattr(_thread, "start_joinable_thread"):
        module.__dict__.update(_joinable(runtime))
    return module


def _starter(runtime: Runtime) -> Callable[..., int]:
    def start_new_thread(function: Any, args: tuple[Any, ...], kwargs: Any = None) -> int:
        if not callable(function):
            raise TypeError("first arg must be callable")
        if not isinstance(args, tuple):
            raise TypeError("2nd arg must be a tuple")
        if kwargs is not None and not isinstance(kwargs, dict):
            raise TypeError("optional 3rd arg must be a dictionary")
        thread = getattr(function, "__self__", None)
        daemon = getattr(thread, "_daemonic", True)  # a bare thread is nobody's to wait for
        return runtime.spawn(lambda: function(*args, **(kwargs or {})), daemon=daemon).ident

    return start_new_thread


def _excepthook(runtime: Runtime) -> Callable[[Any], None]:
    def excepthook(args: Any) -> None:
        """An exception that ended a thread is what the execution showed."""
        if not isinstance(args.exc_value, SystemExit):
            runtime.exception_in_thread(args.exc_value)

    return excepthook


def _sentinel(runtime: Runtime, lock: type) -> Callable[[], Any]:
    class Sentinel(lock):  # type: ignore[misc]
        """Released by the end of a thread. `threading` keeps them in a set, and looks which are free."""

        __slots__ = ("number",)

        def __init__(self) -> None:
            super().__init__()
            self.number = runtime.running.id

        def __hash__(self) -> int:  # by address, a rerun would walk the set in another order
            return self.number

        def locked(self) -> bool:
            return self.owner is not None

    def _set_sentinel() -> Any:
        sentinel = runtime.running.sentinel = Sentinel()
        return sentinel

    return _set_sentinel


def _joinable(runtime: Runtime) -> dict[str, Any]:
    """What 3.13 and newer start and join threads with."""

    class Handle(Resource):
        """The end of a thread, to wait for."""

        __slots__ = ("ident",)
        noun = "the end of a thread"

        def __init__(self) -> None:
            self.waiters = []
            self.owner: Task | None = _UNBORN
            self.ident: int | None = None
            if not runtime.executing:
                runtime.made_outside.append(self)

        def join(self, timeout: float | None = None) -> None:
            if timeout == 0:
                return
            timed = timeout is not None and timeout > 0
            deadline = deadline_of(runtime, timeout or 0) if timed else None
            runtime.left -= 1
            if runtime.left < 0 and not runtime.acquire_point(self, deadline):
                return
            if self.owner is not None:
                runtime.block(self, deadline)

        def is_done(self) -> bool:
            runtime.left -= 1
            if runtime.left < 0:
                runtime.point("try", self, None)
            return self.owner is None

        def finish(self, task: Task | None = None) -> None:
            """The thread is over."""
            self.owner = None
            if self.waiters:
                runtime.woken(self)

        _set_done = finish

        def holder(self) -> Task | None:
            return self.owner

        def state(self) -> Any:
            """What `restore` puts back."""
            return self.owner

        def restore(self, state: Any) -> None:
            """As it was when `state` was taken, nobody waiting."""
            self.owner = state
            self.waiters.clear()

    def start_joinable_thread(function: Any, handle: Any = None, daemon: bool = True) -> Any:
        handle = handle if handle is not None else Handle()
        task = runtime.spawn(function, daemon=daemon)
        task.sentinel = handle
        handle.ident, handle.owner = task.ident, task
        return handle

    def _make_thread_handle(ident: int) -> Any:
        handle = Handle()
        handle.ident = ident
        return handle

    return {
        "_ThreadHandle": Handle,
        "start_joinable_thread": start_joinable_thread,
        "_make_thread_handle": _make_thread_handle,
    }


def time_module(runtime: Runtime) -> ModuleType:
    """A stand-in for `time` on the runtime's virtual clock."""
    module = ModuleType("time", time.__doc__)
    module.__dict__.update(vars(time))

    def read() -> int:
        runtime.left -= 1
        if runtime.left < 0:
            runtime.point("time", runtime.clock, None)
        task = runtime.running
        task.clock_reads += 1
        if task.clock_reads > _FREE_READS:  # somebody spins until a time: let it come
            runtime.now_ns += _SPIN_NS * (task.clock_reads - _FREE_READS)
        return runtime.now_ns

    def sleep(seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if not runtime.executing:
            runtime.now_ns += round(seconds * 1_000_000_000)
        elif seconds == 0:
            runtime.left -= 1  # whoever yields wants to be asked, whatever the lease
            runtime.point("yield", runtime.running, None)
        else:
            runtime.block(Sleep(runtime.clock), deadline_of(runtime, seconds))

    for name, since in (("monotonic", 0), ("perf_counter", 0), ("time", _WALL_OFFSET_NS)):
        module.__dict__[f"{name}_ns"] = lambda since=since: read() + since
        module.__dict__[name] = lambda since=since: (read() + since) / 1_000_000_000
    module.__dict__["sleep"] = sleep
    return module
