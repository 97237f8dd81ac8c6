"""A private world of modules: the implementation's own code over a `time` and `_thread` of ours.

Modules under test, and the pure-Python standard modules below them, are imported a second time,
privately: from the same source, with an `__import__` that resolves in this world. Function-level
imports at run time resolve here too, so two copies of one class never meet. The interpreter's own
modules stay untouched and nothing global is patched (a module under test is listed in `sys.modules`
while its body runs, no longer). C extensions and everything outside the
prefixes pass through to the ordinary import.

Known limits: `importlib.import_module` called by the code under test, and clocks read inside C code
(`datetime.now`), are not redirected.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Protocol

from harness.control.virtual import Allocations, VirtualTime, solo_thread_module

__all__ = ["Compiler", "World", "solo_world"]

_SITE = frozenset({"site-packages", "dist-packages"})
_STANDARD = frozenset({"threading", "_threading_local", "queue", "sched", "concurrent"})
_ABSENT = frozenset({"_queue"})  # its absence makes `queue` use the Python SimpleQueue


_INSTALLED = tuple(
    Path(path).resolve()
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")}
    if path
)


@contextmanager
def _listed(module: ModuleType | None) -> Iterator[None]:
    """List a private module in `sys.modules` meanwhile: dataclasses and namespace packages look there."""
    if module is None:
        yield
        return
    name = module.__name__
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before


@cache
def _os_without_fork_hooks() -> ModuleType:
    module = ModuleType("os", os.__doc__)
    module.__dict__.update(vars(os))
    module.__dict__["register_at_fork"] = lambda **hooks: None
    return module


def _shows_code(spec: ModuleSpec) -> bool:
    """Whether a loader can hand out code; pytest's, which rewrites assertions, executes only."""
    return spec.loader is None or hasattr(spec.loader, "get_code")


class Compiler(Protocol):
    """Compiles the source of private modules; `supplied` are the builtins that its code uses."""

    supplied: Mapping[str, Any]

    def compile(self, source: bytes, filename: str, module: str) -> CodeType | None:
        """The code of a module; None to compile it as usual."""


class World:
    """Private modules by name.

    Imported privately are the top-level names `prefixes`, what lies in the folders `roots`, and
    whatever else is the user's own, that is, neither installed nor part of Python.
    """

    def __init__(
        self,
        supplied: Mapping[str, ModuleType],
        prefixes: Sequence[str],
        roots: Sequence[Path] = (),
        compiler: Compiler | None = None,
    ) -> None:
        self.modules: dict[str, ModuleType] = dict(supplied)
        self.codes: dict[str, CodeType] = {}
        self._compiler = compiler
        self._prefixes = frozenset(prefixes) - {"harness"}
        self._roots = tuple(root.resolve() for root in roots)
        self._first_party: dict[str, bool] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}
        if compiler is not None:
            self._builtins.update(compiler.supplied)

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
        code = self._compiled(name, spec) or (get_code(name) if get_code else None)
        if code is None and not spec.submodule_search_locations:
            return importlib.import_module(name)  # an extension module passes through
        module = importlib.util.module_from_spec(spec)
        if spec.submodule_search_locations is not None:
            module.__path__ = list(spec.submodule_search_locations)
        module.__dict__["__builtins__"] = self._builtins
        self.modules[name] = module
        if parent is not None:
            setattr(parent, child, module)  # before the body runs, so that circular imports resolve here
        if code is not None:
            self.codes[name] = code
            try:
                with _listed(None if name.partition(".")[0] in _STANDARD else module):
                    exec(code, module.__dict__)  # noqa: S102  importing is executing
            except BaseException:
                del self.modules[name]
                if parent is not None and vars(parent).get(child) is module:
                    delattr(parent, child)
                raise
        return module

    def load_as(self, name: str, path: Path) -> ModuleType:
        """Import a module that has this name elsewhere: by name if that leads to this file, else the file."""
        parent = name.rpartition(".")[0]
        try:
            spec = self._find(name, self.load(parent) if parent else None)
        except ImportError:
            spec = None
        if spec is not None and spec.origin and Path(spec.origin).resolve() == path.resolve():
            return self.load(name)
        return self.load_file(name, path)

    def is_own(self, name: str, path: Path) -> bool:
        """Whether a module that lies in this file is imported privately."""
        top = name.partition(".")[0]
        return top in self.modules or top in self._prefixes or self._is_own_place(path)

    def _compiled(self, name: str, spec: ModuleSpec) -> CodeType | None:
        """The module's code, if it is this world's to compile; raises what compiling raises."""
        get_source = getattr(spec.loader, "get_data", None)
        if self._compiler is None or get_source is None or not spec.has_location:
            return None
        assert spec.origin is not None
        if not spec.origin.endswith(".py"):
            return None
        return self._compiler.compile(get_source(spec.origin), spec.origin, name)

    def _find(self, name: str, parent: ModuleType | None) -> ModuleSpec | None:
        path = getattr(parent, "__path__", None) if parent is not None else None
        if parent is not None and path is None:
            return None
        with _listed(parent):  # namespace packages ask for their parent there
            for finder in (*sys.meta_path, PathFinder):
                find = getattr(finder, "find_spec", None)
                spec = find(name, path) if find else None
                if isinstance(spec, ModuleSpec) and _shows_code(spec):
                    if spec.submodule_search_locations is not None:
                        spec.submodule_search_locations = list(spec.submodule_search_locations)
                    return spec
        return None

    def _is_private(self, name: str) -> bool:
        top = name.partition(".")[0]
        if top in self.modules or top in self._prefixes or top in _STANDARD or top in _ABSENT:
            return True
        if top not in self._first_party:
            self._first_party[top] = self._is_first_party(top)
        return self._first_party[top]

    def _is_first_party(self, top: str) -> bool:
        """Whether a module is the user's own: not installed, and neither ours nor the interpreter's."""
        if top in sys.builtin_module_names or top in sys.stdlib_module_names or top == "harness":
            return False
        spec = self._find(top, None)
        origin = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
        if not origin:
            return False
        return self._is_own_place(Path(str(origin)))

    def _is_own_place(self, path: Path) -> bool:
        place = path.resolve()
        for root in self._roots:
            if place.is_relative_to(root):  # where a virtual environment may lie, too
                return not _SITE & set(place.relative_to(root).parts)
        if _SITE & set(place.parts):
            return False
        return not any(place.is_relative_to(folder) for folder in _INSTALLED)

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
        if name == "os" and (globals or {}).get("__name__", "").partition(".")[0] in _STANDARD:
            return _os_without_fork_hooks()  # else each world would live for ever, and forks meet its locks
        if not self._is_private(name):
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        module = self.load(name)
        if not fromlist:
            return self.modules.get(name.partition(".")[0], module)
        if hasattr(module, "__path__"):
            names = getattr(module, "__all__", ()) if "*" in fromlist else fromlist
            for item in names:
                if not hasattr(module, item):
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
