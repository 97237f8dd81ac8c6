"""Which attributes are ever stored after construction: only those can race.

A read of an attribute that no code stores outside of `__init__` (before `self` could have escaped from it)
sees the same value whenever it happens, so it is no scheduling point. The names are collected over all
modules of a world; where code stores under computed names, every name counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["EVERYTHING", "NOTHING", "Mutable", "stored_names"]

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})


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
    names: set[str] = set()
    constructors: list[tuple[ast.ClassDef, ast.FunctionDef]] = []
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for function in node.body:
                if isinstance(function, ast.FunctionDef) and function.name in _CONSTRUCTORS:
                    constructors.append((node, function))
                    inside.update(_own_stores(function))
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if not isinstance(node.ctx, ast.Load) and node not in inside:
                names.add(node.attr)
        elif isinstance(node, ast.Call):
            stored = _stored_by_call(node, constants)
            if stored is None:
                return EVERYTHING
            names.update(stored)
        elif isinstance(node, ast.Subscript) and _is_stored_in_dictionary(node):
            return EVERYTHING
    for owner, function in constructors:
        names.update(_stored_after_escape(owner, function))
    return Mutable(frozenset(names))


def _self_of(function: ast.FunctionDef) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def _own_stores(function: ast.FunctionDef) -> Iterable[ast.Attribute]:
    own = _self_of(function)
    for node in ast.walk(function):
        if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
            continue
        if isinstance(node.value, ast.Name) and node.value.id == own:
            yield node


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
    """Names stored by `setattr`, or through an object's dictionary; None if they cannot be known."""
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name in ("setattr", "delattr", "__setattr__", "__delattr__"):
        for argument in node.args[:2]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                return (argument.value,)
            if isinstance(argument, ast.Name) and argument.id in constants:
                return (constants[argument.id],)
        return None
    if name in ("update", "setdefault", "pop", "clear") and isinstance(function, ast.Attribute):
        return None if _is_dictionary_of_object(function.value) else ()
    return ()


def _is_stored_in_dictionary(node: ast.Subscript) -> bool:
    return not isinstance(node.ctx, ast.Load) and _is_dictionary_of_object(node.value)


def _is_dictionary_of_object(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "vars" and bool(node.args)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _stored_after_escape(owner: ast.ClassDef, function: ast.FunctionDef) -> set[str]:
    """What a constructor stores once somebody else may hold the object."""
    own = _self_of(function)
    stores = (node for node in ast.walk(owner) if isinstance(node, ast.Attribute))
    fields = {node.attr for node in stores if not isinstance(node.ctx, ast.Load)}
    escape = min((line for line in _escapes(function, own, fields)), default=None)
    if escape is None:
        return set()
    return {node.attr for node in _own_stores(function) if node.lineno >= escape}


def _escapes(function: ast.FunctionDef, own: str, fields: set[str]) -> Iterable[int]:
    """Lines at which `self`, or a method bound to it, is used as a value."""
    harmless: set[ast.AST] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            harmless.add(node.func)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
            harmless.add(node.value)
            if isinstance(node.ctx, ast.Load) and node.attr not in fields and node not in harmless:
                yield node.lineno
        elif isinstance(node, ast.Name) and node.id == own and node not in harmless:
            yield node.lineno
