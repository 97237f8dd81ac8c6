"""Every public module says what it is for and what it offers. Runs against an installed wheel too."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

PACKAGES = ("harness", "reference", "scenarios")
# Mutants are collected by their mark, not by name.
COLLECTED = "reference.mutants.ledger."


def public_modules():
    """Every module that can be imported by a name without a leading underscore."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, name + "."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                yield importlib.import_module(found.name)


def binds_names(module):
    """Whether a module has public names of its own: an otherwise empty package needs no `__all__`."""
    return any(
        not name.startswith("_") and getattr(value, "__module__", module.__name__) == module.__name__
        for name, value in vars(module).items()
        if name != "annotations" and not inspect.ismodule(value)
    )


def undescribed(module):
    """What a module leaves unsaid about itself and its exports."""
    name = module.__name__
    if not (module.__doc__ or "").strip():
        yield f"{name} has no docstring"
    exports = getattr(module, "__all__", None)
    if exports is None:
        if binds_names(module) and not name.startswith(COLLECTED):
            yield f"{name} has no __all__"
        return
    for export in exports:
        if not hasattr(module, export):
            yield f"{name}.__all__ names {export}, which is not there"
            continue
        value = getattr(module, export)
        if getattr(value, "__module__", None) != name or not (
            inspect.isclass(value) or inspect.isroutine(value)
        ):
            continue
        if not inspect.getdoc(value):
            yield f"{name}.{export} has no docstring"
        if inspect.isclass(value):
            yield from (f"{name}.{export}.{method} has no docstring" for method in silent_methods(value))


def silent_methods(cls):
    """Public methods and properties of a class without a docstring, their own or inherited."""
    for name, value in vars(cls).items():
        # A field's default may be a function, and is no method.
        if name.startswith("_") or name in inspect.get_annotations(cls):
            continue
        speaks = isinstance(value, (property, staticmethod, classmethod)) or inspect.isfunction(value)
        heard = (vars(base)[name].__doc__ for base in cls.__mro__ if name in vars(base))
        if speaks and not any(heard):
            yield name


def test_every_public_module_describes_itself():
    """Docstrings, and an `__all__` whose names exist."""
    modules = list(public_modules())
    assert len(PACKAGES) < len(modules)
    assert [wrong for module in modules for wrong in undescribed(module)] == []


PLANTED = '''
def said():
    """Said."""

def unsaid(): ...

class Told:
    """Told."""

    def heard(self):
        """Heard."""

    def unheard(self): ...

    @property
    def unseen(self): ...

class Heir(Told):
    """Inherits what is said of `heard`."""

    given: object = lambda: None

    def heard(self): ...
'''


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("__doc__ = ''\n__all__ = []", ["planted has no docstring"]),
        ("", ["planted has no __all__"]),
        ("__all__ = ['said', 'gone']", ["planted.__all__ names gone, which is not there"]),
        ("__all__ = ['unsaid']", ["planted.unsaid has no docstring"]),
        ("__all__ = ['Told']", [f"planted.Told.{name} has no docstring" for name in ("unheard", "unseen")]),
        ("__all__ = ['Heir', 'said']", []),
    ],
)
def test_a_planted_silence_is_heard(tail, expected):
    """The checker sees each kind of thing left unsaid, and nothing else."""
    module = ModuleType("planted", "Planted.")
    exec(PLANTED + tail, vars(module))  # noqa: S102
    assert expected == list(undescribed(module))


def test_an_empty_package_needs_no_exports():
    """A package that only says what is in it has nothing to list."""
    assert list(undescribed(ModuleType("planted", "Planted."))) == []
