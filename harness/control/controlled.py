"""The controlled world: private modules whose threads are tasks and whose accesses are announced.

The standard library's own state (thread counters, the table of active threads, the executors' shutdown
flag) is put back after each execution, so that every execution finds what the first one found.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.control.compiler import AccessCompiler
from harness.control.runtime import Runtime
from harness.control.stored_names import NOTHING, Mutable
from harness.control.threads import thread_module, time_module
from harness.control.world import World

__all__ = ["ControlledWorld"]

_COUNT = type(itertools.count().__next__)


class ControlledWorld(World):
    """A world on a runtime. `restore` is called after each execution."""

    def __init__(
        self,
        runtime: Runtime,
        prefixes: Sequence[str] = (),
        roots: Sequence[Path] = (),
        mutable: Mutable = NOTHING,
        accesses: bool = True,
    ) -> None:
        self.compiler = AccessCompiler(runtime, mutable, accesses)
        supplied = {"time": time_module(runtime), "_thread": thread_module(runtime)}
        super().__init__(supplied, prefixes, roots, self.compiler)
        self._restorers: list[Callable[[], None]] | None = None
        self._watched = 0
        runtime.at_exit = self._leave

    def remember(self) -> None:
        """Take the present state of the standard modules as what each execution is to find."""
        if self._restorers is None or self._watched != len(self.modules):
            self._watched = len(self.modules)
            self._restorers = [
                restorer
                for name, module in self.modules.items()
                if name.partition(".")[0] in ("threading", "concurrent")
                for restorer in _restorers(module)
            ]
            main = getattr(self.modules.get("threading"), "_main_thread", None)
            if main is not None:
                attributes, saved = vars(main), dict(vars(main))
                self._restorers.append(lambda: _refill(attributes, saved))

    def restore(self) -> None:
        """Put the remembered state back."""
        for restorer in self._restorers or ():
            restorer()

    def _leave(self) -> None:
        """What an interpreter does before it waits for the last threads: executors let theirs go."""
        threading = self.modules.get("threading")
        for call in reversed(getattr(threading, "_threading_atexits", ())):
            call()
        main = getattr(threading, "_main_thread", None)
        handle, sentinel = getattr(main, "_handle", None), getattr(main, "_tstate_lock", None)
        if handle is not None:  # 3.13 and newer
            handle._set_done()  # noqa: SLF001
        elif sentinel is not None and sentinel.locked():
            sentinel.release()
            main._stop()  # type: ignore[union-attr]  # noqa: SLF001


def _restorers(module: ModuleType) -> list[Callable[[], None]]:
    """What puts a module's plain state back: flags, containers and counters, its classes' too."""
    found: list[Callable[[], None]] = []
    places: list[Any] = [module]
    places += [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    for place in places:
        for name, value in list(vars(place).items()):
            if name.startswith("__"):
                continue
            restorer = _restorer(place, name, value)
            if restorer is not None:
                found.append(restorer)
    return found


def _restorer(place: Any, name: str, value: Any) -> Callable[[], None] | None:
    if isinstance(value, bool):
        return lambda: setattr(place, name, value) if getattr(place, name) is not value else None
    if type(value) in (dict, list, set):
        saved = copy.copy(value)
        return lambda: _refill(value, saved)
    counter = getattr(value, "__self__", None) if type(value) is _COUNT else None
    if isinstance(counter, itertools.count):
        start = int(repr(counter).removeprefix("count(").removesuffix(")"))
        return lambda: setattr(place, name, itertools.count(start).__next__)
    return None


def _refill(container: Any, saved: Any) -> None:
    if container == saved:
        return
    container.clear()
    if isinstance(container, list):
        container.extend(saved)
    else:
        container.update(saved)
