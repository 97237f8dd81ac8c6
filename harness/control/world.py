"""A private world of modules: the implementation's own code over a `time` and `_thread` of ours.

Modules under test, and the pure-Python standard modules below them, are imported a second time,
privately: from the same source, with an `__import__` that resolves in this world. Function-level
imports at run time resolve here too, so two copies of one class never meet. The interpreter's own
modules stay untouched and nothing global is patched. C extensions and everything outside the
prefixes pass through to the ordinary import.

Known limits: `importlib.import_module` called by the code under test, and clocks read inside C code
(`datetime.now`), are not redirected.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.control.virtual import Allocations, VirtualTime, solo_thread_module

__all__ = ["World", "solo_world"]

_STANDARD = frozenset({"threading", "_threading_local", "queue", "sched", "concurrent"})
_ABSENT = frozenset({"_queue"})  # its absence makes `queue` use the Python SimpleQueue


class World:
    """Private modules by name. `prefixes` are top-level names, `roots` folders, to import privately."""

    def __init__(
        self, supplied: Mapping[str, ModuleType], prefixes: Sequence[str], roots: Sequence[Path] = ()
    ) -> None:
        self.modules: dict[str, ModuleType] = dict(supplied)
        self._prefixes = frozenset(prefixes) - {"harness"}
        self._roots = tuple(root.resolve() for root in roots)
        self._under_roots: dict[str, bool] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def load(self, name: str) -> ModuleType:
        """Import a module privately by its absolute name; raises what its import raises."""
        if name in self.modules:
            return self.modules[name]
        parent_name, _, child = name.rpartition(".")
        parent = self.load(parent_name) if parent_name else None
        if name in self.modules:  # the parent's own import may have loaded it
            return self.modules[name]
        spec = self._find(name, parent)
        if spec is None or name in _ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return self._execute(name, spec, parent, child)

    def load_file(self, name: str, path: Path) -> ModuleType:
        """Import a source file privately under this name."""
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        return self._execute(name, spec, None, name)

    def _execute(self, name: str, spec: ModuleSpec, parent: ModuleType | None, child: str) -> ModuleType:
        get_code = getattr(spec.loader, "get_code", None)
        code = get_code(name) if get_code else None
        if code is None and not spec.submodule_search_locations:
            return importlib.import_module(name)  # an extension module passes through
        module = importlib.util.module_from_spec(spec)
        module.__dict__["__builtins__"] = self._builtins
        self.modules[name] = module
        if parent is not None:
            setattr(parent, child, module)  # before the body runs, so that circular imports resolve here
        if code is not None:
            try:
                exec(code, module.__dict__)  # noqa: S102  importing is executing
            except BaseException:
                del self.modules[name]
                raise
        return module

    def _find(self, name: str, parent: ModuleType | None) -> ModuleSpec | None:
        path = getattr(parent, "__path__", None) if parent is not None else None
        if parent is not None and path is None:
            return None
        for finder in (*sys.meta_path, PathFinder):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path) if find else None
            if isinstance(spec, ModuleSpec):
                return spec
        return None

    def _is_private(self, name: str) -> bool:
        top = name.partition(".")[0]
        if top in self.modules or top in self._prefixes or top in _STANDARD or top in _ABSENT:
            return True
        if top not in self._under_roots:
            self._under_roots[top] = bool(self._roots) and self._lies_under_roots(top)
        return self._under_roots[top]

    def _lies_under_roots(self, top: str) -> bool:
        if top in sys.builtin_module_names or top in sys.stdlib_module_names or top == "harness":
            return False
        spec = self._find(top, None)
        origin = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
        return bool(origin) and any(Path(str(origin)).resolve().is_relative_to(root) for root in self._roots)

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002  the signature of __import__
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level:
            package = (globals or {}).get("__package__") or ""
            name = importlib.util.resolve_name("." * level + name, package)
        if not self._is_private(name):
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        module = self.load(name)
        if not fromlist:
            return self.modules.get(name.partition(".")[0], module)
        if hasattr(module, "__path__"):
            for item in fromlist:
                if item != "*" and not hasattr(module, item):
                    self._try_submodule(f"{name}.{item}")
        return module

    def _try_submodule(self, name: str) -> None:
        try:
            self.load(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise


def solo_world(prefixes: Sequence[str], roots: Sequence[Path] = ()) -> tuple[World, VirtualTime, Allocations]:
    """A world for programs with a single strand: virtual time, locks that nobody else can hold."""
    clock = VirtualTime()
    allocations = Allocations()
    supplied = {"time": clock.module(), "_thread": solo_thread_module(clock, allocations)}
    return World(supplied, prefixes, roots), clock, allocations
