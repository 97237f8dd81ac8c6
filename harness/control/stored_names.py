"""Which attributes are ever stored after construction: only those can race.

A read of an attribute that no code stores outside of a constructor (before `self` could have escaped from it)
sees the same value whenever it happens, so it is no scheduling point. The names are collected over all
modules of a world; where code stores under computed names, every name counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from harness.control.construction import Construction

__all__ = ["EVERYTHING", "NOTHING", "Mutable", "stored_names"]

_STORING = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_CHANGING = frozenset({"clear", "pop", "popitem", "setdefault", "update"})
_LOOKING = frozenset({"copy", "get", "items", "keys", "values"})
_LOOKERS = frozenset({"dict", "frozenset", "iter", "len", "list", "repr", "set", "sorted", "str", "tuple"})


@dataclass(frozen=True)
class Mutable:
    """Attribute names that may be stored at any time; `everything` if that cannot be known."""

    names: frozenset[str] = frozenset()
    everything: bool = False

    def __contains__(self, name: str) -> bool:
        return self.everything or name in self.names

    def __or__(self, other: Mutable) -> Mutable:
        return Mutable(self.names | other.names, self.everything or other.everything)

    def covers(self, other: Mutable) -> bool:
        """Whether all of the other's names are among these."""
        return self.everything or (not other.everything and other.names <= self.names)


EVERYTHING = Mutable(everything=True)
NOTHING = Mutable()


def stored_names(tree: ast.Module) -> Mutable:
    """The names that a module stores outside of construction."""
    construction = Construction(tree)
    constants = _constants(tree)
    harmless = set(_harmless_dictionaries(tree))
    names: set[str] = set()
    for node in ast.walk(tree):
        if node in construction.stores:
            continue
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            names.add(node.attr)
        elif isinstance(node, ast.Call):
            stored = _stored_by_call(node, constants)
            if stored is None:
                return EVERYTHING
            names.update(stored)
        elif isinstance(node, ast.FunctionDef):
            if node.name == "__setstate__":
                return EVERYTHING
            names.update(node.name for item in node.decorator_list if _is_cached(item))
        if _is_dictionary_of_object(node) and node not in harmless:
            return EVERYTHING
    return Mutable(frozenset(names))


def _constants(tree: ast.Module) -> dict[str, str]:
    """Module-level names of strings."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _stored_by_call(node: ast.Call, constants: dict[str, str]) -> tuple[str, ...] | None:
    """Names stored by `setattr` and the like; None if they cannot be known."""
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name not in _STORING:
        return ()
    for argument in node.args[:2]:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return (argument.value,)
        if isinstance(argument, ast.Name) and argument.id in constants:
            return (constants[argument.id],)
    return None


def _is_cached(decorator: ast.expr) -> bool:
    """Whether the first read of what is decorated stores it: `cached_property`."""
    return "cached_property" in (getattr(decorator, "attr", ""), getattr(decorator, "id", ""))


def _is_dictionary_of_object(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "vars" and bool(node.args)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _harmless_dictionaries(tree: ast.Module) -> Iterator[ast.AST]:
    """Uses of objects' dictionaries that only look: read at once, and not kept."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)) or (
            isinstance(node, ast.Attribute) and node.attr in _LOOKING
        ):
            yield node.value
        elif isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield node.iter
        elif isinstance(node, (ast.Starred, ast.FormattedValue)):
            yield node.value
        elif isinstance(node, ast.Dict):
            yield from (value for key, value in zip(node.keys, node.values, strict=True) if key is None)
        elif isinstance(node, ast.Call):
            yield from (item.value for item in node.keywords if item.arg is None)
            if isinstance(node.func, ast.Name) and node.func.id in _LOOKERS:
                yield from node.args
            if getattr(node.func, "attr", "") in _CHANGING - {"clear"}:
                yield from node.args  # `other.update(vars(x))`
