"""Which names functions share: globals and nonlocals that change while functions run.

A global counts if some function rebinds it (or, being a plain variable, other modules store it as an
attribute). A function's local counts if an inner function rebinds it, or sees it and the function itself
may bind it again afterwards, as `for` does under a lambda. Every other name is bound before anybody else
could see it, so that its reads cannot race.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["ScopeStack"]

_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)  # run after they were made
_FUNCTIONS = _LATER[:3]
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_Position = tuple[int, int]


class Scope:
    """One module, class, function or comprehension.

    `bound`: where its names are bound; infinitely late if in a loop. `variables`: those of them bound by
    assignment, not by `def`, `class` or `import`. `shared` is the result.
    """

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.path = ""
        if parent is not None:
            name = getattr(node, "name", "<lambda>")
            self.path = (
                parent.path if isinstance(node, _COMPREHENSIONS) else f"{parent.path}.{name}".lstrip(".")
            )
        self.loops = 0
        self.bound: dict[str, _Position] = {}
        self.variables: set[str] = set()
        self.foreign: dict[str, str] = {}  # declared: "global" or "nonlocal"
        self.loaded: set[str] = set()
        self.stored: set[str] = set()
        self.shared: set[str] = set()

    @property
    def is_function(self) -> bool:
        """Whether its code runs when called."""
        return isinstance(self.node, _FUNCTIONS)

    def definer(self, name: str) -> Scope:
        """The scope that a name belongs to; the module's if nobody else binds it."""
        scope = self
        while scope.parent is not None:
            if scope is self or not isinstance(scope.node, ast.ClassDef):
                declared = scope.foreign.get(name)
                if declared == "global":
                    break
                if name in scope.bound and declared is None:
                    return scope
            scope = scope.parent
        return scope.module()

    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def made_at(self, owner: Scope) -> _Position | None:
        """Where an owner's code makes the function that this is, or is in; None if it runs in place."""
        scope, made = self, None
        while scope is not owner and scope.parent is not None:
            if isinstance(scope.node, _LATER):
                made = (scope.node.lineno, scope.node.col_offset)
            scope = scope.parent
        return made


class ScopeStack:
    """The scopes around the node that is being visited. `stored_elsewhere`: names of attributes."""

    def __init__(self, tree: ast.Module, stored_elsewhere: Container[str] = ()) -> None:
        reader = _Reader(tree)
        reader.generic_visit(tree)
        self._scopes = reader.scopes
        self._stack = [self._scopes[tree]]
        module = self._stack[0]
        module.shared.update(name for name in module.variables if name in stored_elsewhere)
        for scope in self._scopes.values():
            _find_shared(scope)

    @property
    def is_module(self) -> bool:
        """Whether the code runs once, at import."""
        return not any(scope.is_function for scope in self._stack)

    @property
    def is_namespace(self) -> bool:
        """Whether names bound here can be seen as those of a module or class."""
        return self.is_module or isinstance(self._stack[-1].node, ast.ClassDef)

    @property
    def class_name(self) -> str:
        """The innermost class around, whose name mangles private names."""
        return next((s.node.name for s in reversed(self._stack) if isinstance(s.node, ast.ClassDef)), "")

    @property
    def own_name(self) -> str:
        """The first argument of the method around, `self` as a rule; empty if there is none."""
        functions = [s for s in self._stack if isinstance(s.node, (ast.FunctionDef, ast.ClassDef))]
        if not functions or not isinstance(functions[-1].node, ast.FunctionDef):
            return ""
        arguments = functions[-1].node.args
        return next((item.arg for item in (*arguments.posonlyargs, *arguments.args)), "")

    @contextmanager
    def inside(self, node: ast.AST) -> Iterator[None]:
        """Go into a function, class or comprehension."""
        self._stack.append(self._scopes[node])
        try:
            yield
        finally:
            self._stack.pop()

    def shared(self, name: str) -> str | None:
        """What a shared name is called among all of the module; None if it is not shared."""
        if self.is_module:
            return None
        owner = self._stack[-1].definer(name)
        if name not in owner.shared:
            return None
        return f"{owner.path}.{name}" if owner.path else name


def _find_shared(scope: Scope) -> None:
    """What this scope does to the names of others, or sees of them before they are bound again."""
    for name in scope.stored | scope.loaded:
        owner = scope.definer(name)
        if owner is scope or isinstance(owner.node, (ast.ClassDef, *_COMPREHENSIONS)):
            continue
        made = scope.made_at(owner)
        if owner.parent is None:
            if name in scope.stored and scope.foreign.get(name) == "global":
                owner.shared.add(name)
        elif made is not None and (name in scope.stored or owner.bound[name] > made):
            owner.shared.add(name)


class _Reader(ast.NodeVisitor):
    """Collects the scopes of a module, with what they bind and see."""

    def __init__(self, tree: ast.Module) -> None:
        self.scopes: dict[ast.AST, Scope] = {tree: Scope(tree, None)}
        self._scope = self.scopes[tree]

    def _bind(self, name: str, node: Any, variable: bool = True) -> None:
        scope = self._scope
        if isinstance(node, ast.NamedExpr):
            while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
                scope = scope.parent
        again = scope.loops or (scope is not self._scope)
        position = (1 << 30, 0) if again else (node.lineno, node.col_offset)
        scope.bound[name] = max(scope.bound.get(name, position), position)
        scope.stored.add(name)
        if variable:
            scope.variables.add(name)

    @contextmanager
    def _inside(self, node: ast.AST) -> Iterator[None]:
        outer = self._scope
        self._scope = self.scopes[node] = Scope(node, outer)
        try:
            yield
        finally:
            self._scope = outer

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._scope.loaded.add(node.id)
        else:
            self._bind(node.id, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target.id, node)

    def visit_Global(self, node: ast.Global) -> None:
        self._scope.foreign.update(dict.fromkeys(node.names, "global"))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.foreign.update(dict.fromkeys(node.names, "nonlocal"))

    def visit_alias(self, node: ast.alias) -> None:
        self._bind((node.asname or node.name).partition(".")[0], node, variable=False)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self._bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name, node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self._bind(node.rest, node)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self._loop(node)

    def visit_While(self, node: ast.While) -> None:
        self._loop(node)

    def _loop(self, node: ast.stmt) -> None:
        self._scope.loops += 1
        self.generic_visit(node)
        self._scope.loops -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, node, variable=False)
        for item in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(item)
        with self._inside(node):
            self._arguments(node.args)
            for statement in node.body:
                self.visit(statement)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for item in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(item)
        with self._inside(node):
            self._arguments(node.args)
            self.visit(node.body)

    def _arguments(self, arguments: ast.arguments) -> None:
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for item in (*named, arguments.vararg, arguments.kwarg):
            if item is not None:
                self._bind(item.arg, item)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name, node, variable=False)
        for item in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(item)
        with self._inside(node):
            for statement in node.body:
                self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        """Comprehensions: all but the first iterable is inside."""
        if not isinstance(node, _COMPREHENSIONS):
            super().generic_visit(node)
            return
        first = node.generators[0]
        self.visit(first.iter)
        with self._inside(node):
            self._scope.loops = 1
            for part in ast.iter_child_nodes(node):
                for inner in ast.iter_child_nodes(part) if part is first else (part,):
                    if inner is not first.iter:
                        self.visit(inner)
