"""From a target's text to its factory: `package.module:factory` or `path/to/file.py:factory`.

Whatever can be wrong with a target is the user's to mend, so every failure is a UsageError that
says what happened, where, and what usually helps.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, Self

from harness.findings import HarnessError, UsageError

__all__ = ["Importer", "OrdinaryImporter", "Target", "check_packages"]

__tracebackhide__ = True  # what is wrong with a target is said in one sentence


class Importer(Protocol):
    """What `Target.factory` needs: ordinary imports, or those of a private world."""

    def load(self, name: str) -> ModuleType:
        """Import a module by its absolute name."""

    def load_file(self, name: str, path: Path) -> ModuleType:
        """Import a source file under a name."""


class OrdinaryImporter:
    """The interpreter's own imports."""

    def load(self, name: str) -> ModuleType:
        """Import a module by its absolute name."""
        return importlib.import_module(name)

    def load_file(self, name: str, path: Path) -> ModuleType:
        """Import a source file under a name."""
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module


@dataclass(frozen=True, slots=True)
class Target:
    """Where an implementation is: `module` (or `path`, for a file) and the attribute that makes it."""

    text: str
    module: str
    attribute: str
    path: Path | None = None
    folder: str = ""
    instrument: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, folder: str = "", instrument: Sequence[str] = ()) -> Self:
        """Read a target, seen from a folder or from here; raises UsageError if it has no known form.

        The code under test may change the working directory, so whoever parses twice says from where.
        `instrument` names packages that are under test too, wherever they are installed.
        """
        packages = tuple(instrument)
        place, colon, attribute = text.rpartition(":")
        if not colon or not place or not attribute:
            raise UsageError(
                f"target {text!r} has neither of the forms package.module:factory and path/to/file.py:factory"
            )
        if place.endswith(".py"):
            path = Path(folder, place).resolve()
            if not path.is_file():
                raise UsageError(f"target {text!r}: there is no file {place}")
            return cls(text, f"harness_target_{path.stem}", attribute, path, folder, packages)
        if not all(part.isidentifier() for part in place.split(".")):
            hint = "; a file must end in .py" if "/" in place else ""
            raise UsageError(f"target {text!r}: {place!r} is not a module name{hint}")
        return cls(text, place, attribute, None, folder, packages)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Top-level names of the code under test."""
        return self.instrument if self.path else (self.module.partition(".")[0], *self.instrument)

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders whose modules are the code under test."""
        return (self.path.parent,) if self.path else ()

    def places(self) -> list[Path]:
        """Files and folders of the code under test, once it is imported."""
        if self.path:
            return [self.path.parent]
        top = sys.modules.get(self.module.partition(".")[0])
        if top is None:
            return []
        folders = [Path(folder) for folder in getattr(top, "__path__", ())]
        return folders or ([Path(top.__file__)] if top.__file__ else [])

    def prepare_path(self) -> None:
        """Make the target importable: the working directory, or the file's folder, comes first."""
        folder = str(self.path.parent if self.path else self.folder or Path.cwd())
        if folder not in sys.path:
            sys.path.insert(0, folder)

    def factory(self, importer: Importer) -> Callable[..., Any]:
        """Import the target and return its factory; raises UsageError."""
        self.prepare_path()
        try:
            module = importer.load_file(self.module, self.path) if self.path else importer.load(self.module)
        except ModuleNotFoundError as error:
            raise UsageError(self._not_found(error)) from error
        except HarnessError:  # the world that imports it cannot run it; that is nobody's mistake
            raise
        except (Exception, SystemExit) as error:
            raise UsageError(f"target {self.text!r}: importing it raised {told(error)}") from error
        value: Any = module
        for part in self.attribute.split("."):
            value = getattr(value, part, None)
            if value is None:
                raise UsageError(self._no_attribute(module))
        if not callable(value):
            raise UsageError(
                f"target {self.text!r}: {self.attribute} is {type(value).__name__}, which cannot be called; "
                "name a class or a function that makes an implementation"
            )
        return value  # type: ignore[no-any-return]

    def _not_found(self, error: ModuleNotFoundError) -> str:
        if error.name and (self.module == error.name or self.module.startswith(error.name + ".")):
            return (
                f"target {self.text!r}: no module named {error.name!r}; "
                "is it installed in this environment, or below the working directory?"
            )
        return f"target {self.text!r}: importing it raised {told(error)}"

    def _no_attribute(self, module: ModuleType) -> str:
        near = difflib.get_close_matches(self.attribute, vars(module), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"target {self.text!r}: {self.path or self.module} has no {self.attribute}{hint}"


def check_packages(names: Iterable[str], folder: Path | None = None) -> None:
    """Raise UsageError if one of the packages to instrument is not found, from a folder or from here."""
    path = [str(folder or Path.cwd()), *sys.path]
    for name in names:
        top = name.partition(".")[0]
        if top in sys.modules or PathFinder.find_spec(top, path) is not None:
            continue
        raise UsageError(
            f"instrument (--instrument): there is no package {name!r}; is it installed in this environment? "
            "It is named as in an import"
        )


_LONGEST = 200
_OURS = str(Path(__file__).resolve().parents[1])


def innermost_line(error: BaseException) -> str:
    """Where an exception was raised, as `file:line in function`; the innermost line that is not ours."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith((_OURS, "<frozen importlib"))]
    if not theirs:
        return "no line of yours"
    last = theirs[-1]
    return f"{last.filename}:{last.lineno} in {last.name}"


def told(error: BaseException) -> str:
    """An exception in one sentence: type, the beginning of its text, and where."""
    try:
        text = " ".join(str(error).split())
    except Exception as failure:  # an exception's own text may raise
        text = f"<its text raised {type(failure).__name__}>"
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
    return f"{type(error).__name__}: {text} ({innermost_line(error)})"
