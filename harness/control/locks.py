"""Controlled locks: `Lock` and `RLock` as `_thread` offers them, one class each per runtime.

They are classes made in a closure over their runtime, because their methods are the hottest code of the
product: no lookup on the way to `left`, the runtime's countdown to the next question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.control.task import Resource, Task

if TYPE_CHECKING:
    from harness.control.runtime import Runtime

__all__ = ["deadline_of", "lock_class", "refuse_subclasses", "rlock_class"]

_LONGEST_S = 9_223_372_036.0


def deadline_of(runtime: Runtime, timeout: float) -> int:
    """The virtual time at which a wait of `timeout` seconds from now ends; raises as `_thread` does.

    Reading the clock for it is an operation of its own: whether the clock moved before matters.
    """
    _check_length(timeout)
    runtime.left -= 1
    if runtime.left < 0:
        runtime.point("timer", runtime.clock, None)
    return runtime.now_ns + max(0, round(timeout * 1_000_000_000))


def lock_class(runtime: Runtime) -> type:
    """`Lock` for this runtime."""
    made_outside: list[Any] = runtime.made_outside

    class Lock(Resource):
        """A lock that may be released by anybody. `scoped`: taken by a `with`, so only its taker frees it."""

        __slots__ = ("scoped",)
        noun = "Lock"

        def __init__(self) -> None:
            self.owner: Task | None = None
            self.calm = 0
            self.scoped = False
            self.waiters = []
            if not runtime.executing:
                made_outside.append(self)

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if timeout != -1 or blocking is not True:
                return self._acquire_otherwise(blocking, timeout)
            runtime.left -= 1
            if runtime.left < 0:
                runtime.acquire_point(self)
            if self.owner is None:
                self.scoped = False
                self.owner = runtime.running
                return True
            self._wait(None)
            self.scoped = False
            return True

        def __enter__(self) -> bool:
            runtime.left -= 1
            if runtime.left < 0:
                runtime.acquire_point(self)
            if self.owner is None:
                self.scoped = True
                self.owner = runtime.running
                return True
            taken = self._wait(None)
            self.scoped = True
            return taken

        def release(self) -> None:
            runtime.left -= 1
            if runtime.left < 0:
                runtime.point("release", self, None)
            if self.owner is None:
                if runtime.killing:
                    return
                raise RuntimeError("release unlocked lock")
            self.owner = None
            if self.waiters and self.calm != runtime.calm:
                runtime.woken(self)

        def __exit__(self, kind: object, error: object, trace: object) -> None:
            runtime.left -= 1
            if runtime.left < 0:
                runtime.point("release", self, None)
            if self.owner is None:
                if runtime.killing:
                    return
                raise RuntimeError("release unlocked lock")
            self.owner = None
            if self.waiters and self.calm != runtime.calm:
                runtime.woken(self)

        def _acquire_otherwise(self, blocking: bool, timeout: float) -> bool:
            _check_timeout(blocking, timeout)
            if blocking and timeout == -1:
                return self.acquire()
            patient = blocking and timeout != 0
            deadline = deadline_of(runtime, timeout) if patient else None
            runtime.left -= 1
            if runtime.left < 0:
                if not patient:
                    runtime.point("try", self, None)
                elif not runtime.acquire_point(self, deadline):
                    return False
            if self.owner is None:
                self.scoped = False
                self.owner = runtime.running
                return True
            return self._wait(deadline) if patient else False

        def _wait(self, deadline: int | None) -> bool:
            if not runtime.block(self, deadline):
                return False
            self.owner = runtime.running
            return True

        def locked(self) -> bool:
            runtime.left -= 1
            if runtime.left < 0:
                runtime.point("try", self, None)
            return self.owner is not None

        def finish(self, task: Task) -> None:
            """Released by the end of the thread whose sentinel this is."""
            self.owner = None
            if self.waiters and self.calm != runtime.calm:
                runtime.woken(self)

        def holder(self) -> Task | None:
            return self.owner if self.scoped else None

        def state(self) -> Any:
            """What `restore` puts back."""
            return self.owner, self.scoped

        def restore(self, state: Any) -> None:
            """As it was when `state` was taken, nobody waiting."""
            self.owner, self.scoped = state
            self.waiters.clear()

        def _at_fork_reinit(self) -> None:
            self.restore((None, False))

        acquire_lock, release_lock, locked_lock = acquire, release, locked
        __reduce_ex__ = _not_pickled("lock")

        def __repr__(self) -> str:
            held = f"locked by {self.owner.name}" if self.owner is not None else "unlocked"
            return f"<{held} controlled lock>"

    return Lock


def rlock_class(runtime: Runtime) -> type:
    """`RLock` for this runtime."""
    made_outside: list[Any] = runtime.made_outside

    class RLock(Resource):
        """A lock that its owner may take again, and only its owner frees."""

        __slots__ = ("count",)
        noun = "RLock"

        def __init__(self) -> None:
            self.owner: Task | None = None
            self.calm = 0
            self.count = 0
            self.waiters = []
            if not runtime.executing:
                made_outside.append(self)

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if timeout != -1 or blocking is not True:
                _check_timeout(blocking, timeout)
                _check_length(timeout)
            if self.owner is runtime.running:
                self.count += 1
                return True
            return self._acquire(bool(blocking), timeout, 1)

        __enter__ = acquire

        def _acquire(self, blocking: bool, timeout: float, count: int) -> bool:
            patient = blocking and timeout != 0
            deadline = deadline_of(runtime, timeout) if patient and timeout > 0 else None
            runtime.left -= 1
            if runtime.left < 0:
                if not patient:
                    runtime.point("try", self, None)
                elif not runtime.acquire_point(self, deadline):
                    return False
            if self.owner is not None and not (patient and runtime.block(self, deadline)):
                return False
            self.owner = runtime.running
            self.count = count
            return True

        def release(self) -> None:
            if self.owner is not runtime.running:
                if runtime.killing:
                    return
                raise RuntimeError("cannot release un-acquired lock")
            if self.count > 1:
                self.count -= 1
                return
            self._release()

        def _release(self) -> None:
            runtime.left -= 1
            if runtime.left < 0:
                runtime.point("release", self, None)
            self.owner = None
            self.count = 0
            if self.waiters and self.calm != runtime.calm:
                runtime.woken(self)

        def __exit__(self, kind: object, error: object, trace: object) -> None:
            self.release()

        def locked(self) -> bool:
            return self.owner is not None

        # what `threading.Condition` asks of its lock
        def _is_owned(self) -> bool:
            return self.owner is runtime.running

        def _recursion_count(self) -> int:
            return self.count if self.owner is runtime.running else 0

        def _release_save(self) -> tuple[int, Task]:
            if self.owner is not runtime.running:
                raise RuntimeError("cannot release un-acquired lock")
            saved = self.count, self.owner
            self._release()
            return saved

        def _acquire_restore(self, saved: tuple[int, Task]) -> None:
            self._acquire(True, -1, saved[0])

        def holder(self) -> Task | None:
            return self.owner

        def state(self) -> Any:
            """What `restore` puts back."""
            return self.owner, self.count

        def restore(self, state: Any) -> None:
            """As it was when `state` was taken, nobody waiting."""
            self.owner, self.count = state
            self.waiters.clear()

        def _at_fork_reinit(self) -> None:
            self.restore((None, 0))

        __reduce_ex__ = _not_pickled("RLock")

        def __repr__(self) -> str:
            held = f"locked by {self.owner.name}" if self.owner is not None else "unlocked"
            return f"<{held} controlled RLock, count {self.count}>"

    return RLock


def refuse_subclasses(lock: type) -> None:
    """From now on, as `_thread.lock` does."""

    def refuse(cls: type, **options: Any) -> None:
        raise TypeError("type '_thread.lock' is not an acceptable base type")

    lock.__init_subclass__ = classmethod(refuse)  # type: ignore[assignment, arg-type]


def _not_pickled(name: str) -> Callable[..., Any]:
    def __reduce_ex__(self: Any, protocol: int) -> Any:  # noqa: N807
        raise TypeError(f"cannot pickle '_thread.{name}' object")

    return __reduce_ex__


def _check_length(timeout: float) -> None:
    if timeout > _LONGEST_S:
        raise OverflowError("timestamp too large to convert to C PyTime_t")


def _check_timeout(blocking: bool, timeout: float) -> None:
    if timeout is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer or float")
    if not blocking and timeout != -1:
        raise ValueError("can't specify a timeout for a non-blocking call")
    if timeout < 0 and timeout != -1:
        raise ValueError("timeout value must be a non-negative number")
