"""`threading.local` per task: one dictionary per task, put in place before each access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from harness.control.runtime import Runtime
    from harness.control.task import Task

__all__ = ["local_class"]


def local_class(runtime: Runtime) -> type:
    """The class `_thread._local` of this runtime."""

    class local:  # noqa: N801  the name users see
        """Attributes that each task has for itself; a subclass's `__init__` runs once per task."""

        __slots__ = ("__dict__", "__weakref__", "_per_task")

        def __new__(cls, /, *args: Any, **kwargs: Any) -> Any:
            if (args or kwargs) and cls.__init__ is object.__init__:
                raise TypeError("Initialization arguments are not supported")
            self = object.__new__(cls)
            own: WeakKeyDictionary[Task, dict[str, Any]] = WeakKeyDictionary()
            own[runtime.running] = object.__getattribute__(self, "__dict__")
            object.__setattr__(self, "_per_task", (own, args, kwargs))
            return self

        def __getattribute__(self, name: str) -> Any:
            _turn_to(self, runtime.running)
            return object.__getattribute__(self, name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "__dict__":
                raise AttributeError(f"{type(self).__name__!r} object attribute '__dict__' is read-only")
            _turn_to(self, runtime.running)
            object.__setattr__(self, name, value)

        def __delattr__(self, name: str) -> None:
            if name == "__dict__":
                raise AttributeError(f"{type(self).__name__!r} object attribute '__dict__' is read-only")
            _turn_to(self, runtime.running)
            object.__delattr__(self, name)

    return local


def _turn_to(instance: Any, task: Task) -> None:
    own, args, kwargs = object.__getattribute__(instance, "_per_task")
    known = own.get(task)
    if known is None:
        own[task] = {}
        object.__setattr__(instance, "__dict__", own[task])
        type(instance).__init__(instance, *args, **kwargs)
    else:
        object.__setattr__(instance, "__dict__", known)
