"""Which names functions share: globals and nonlocals that some function rebinds.

A name that no function rebinds is bound once, when its module or function runs, and its reads cannot
race. Locals of one function belong to one task.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ScopeStack"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scope:
    """One function or class: the names bound in it, and those it declares to be others'."""

    def __init__(self, node: ast.AST, path: str) -> None:
        self.node = node
        self.path = path
        self.is_function = isinstance(node, _FUNCTIONS)
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.rebound_inside: set[str] = set()
        for inner in _own_nodes(node):
            if isinstance(inner, ast.Global):
                self.globals.update(inner.names)
            elif isinstance(inner, ast.Nonlocal):
                self.nonlocals.update(inner.names)
            else:
                self.bound.update(_bound_by(inner))
        self.stored = set(self.bound)
        self.bound -= self.globals | self.nonlocals


class ScopeStack:
    """The scopes around the node that is being visited."""

    def __init__(self, tree: ast.Module) -> None:
        self._stack: list[Scope] = []
        self._shared_globals: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, _FUNCTIONS):
                scope = Scope(node, "")
                self._shared_globals |= scope.globals & scope.stored

    @property
    def class_name(self) -> str:
        """The innermost class around, whose name mangles private names."""
        for scope in reversed(self._stack):
            if isinstance(scope.node, ast.ClassDef):
                return scope.node.name
        return ""

    @contextmanager
    def inside(self, node: ast.AST) -> Iterator[None]:
        """Go into a function or class."""
        name = getattr(node, "name", "<lambda>")
        path = f"{self._stack[-1].path}.{name}" if self._stack else name
        scope = Scope(node, path)
        if scope.is_function:
            scope.rebound_inside = {
                name
                for inner in ast.walk(node)
                if inner is not node and isinstance(inner, _FUNCTIONS)
                for name in _rebinds(inner)
                if name in scope.bound
            }
        self._stack.append(scope)
        try:
            yield
        finally:
            self._stack.pop()

    def shared_key(self, name: str) -> str:
        """What to announce a name as; empty if it is nobody else's, or never rebound."""
        if not self._stack or not any(scope.is_function for scope in self._stack):
            return ""  # module level: runs once, at import
        for scope in reversed(self._stack):
            if name in scope.globals:
                return name if name in self._shared_globals else ""
            if not scope.is_function:
                if scope is self._stack[-1] and name in scope.bound:
                    return ""
                continue
            if name in scope.bound:
                return f"{scope.path}.{name}" if name in scope.rebound_inside else ""
        return name if name in self._shared_globals else ""


def _rebinds(function: ast.AST) -> set[str]:
    scope = Scope(function, "")
    return scope.nonlocals & scope.stored


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or class that are in its own scope."""
    todo: list[ast.AST] = []
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        todo += [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        todo += [item for item in (arguments.vararg, arguments.kwarg) if item is not None]
        todo += [node.body] if isinstance(node, ast.Lambda) else node.body
    elif isinstance(node, ast.ClassDef):
        todo += node.body
    while todo:
        inner = todo.pop()
        yield inner
        if isinstance(inner, (*_FUNCTIONS, ast.ClassDef)):
            continue
        todo.extend(ast.iter_child_nodes(inner))


def _bound_by(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return (node.id,)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (node.name,)
    if isinstance(node, ast.alias):
        return ((node.asname or node.name).partition(".")[0],)
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return (node.name,) if node.name else ()
    if isinstance(node, ast.MatchMapping):
        return (node.rest,) if node.rest else ()
    return ()
