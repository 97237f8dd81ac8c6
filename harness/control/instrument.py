"""Access points from the syntax tree: shared accesses announce themselves, and nothing else changes.

Attributes (those that are ever stored after construction), items, methods of builtin containers,
iteration over them, globals and nonlocals that functions rebind. An augmented assignment is a read, and
a write with a point between. Locals never announce; async functions are left alone. Positions in the
source are kept, so tracebacks read as before.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CodeType
from typing import Any, TypeVar

from harness.control.announce import METHODS_THAT_READ, METHODS_THAT_WRITE
from harness.control.scopes import ScopeStack
from harness.control.stored_names import EVERYTHING, Mutable
from harness.control.syntax import (
    again,
    are_simple,
    as_value,
    calling,
    constant,
    is_readable_twice,
    is_simple,
    is_simple_slice,
    is_view,
)

__all__ = ["compile_instrumented", "instrument"]

_READERS = frozenset(
    [
        "all",
        "any",
        "dict",
        "enumerate",
        "filter",
        "frozenset",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "reversed",
        "set",
        "sorted",
        "sum",
        "tuple",
        "zip",
    ]
)
_HEAP = frozenset(
    [
        "heapify",
        "heappop",
        "heappush",
        "heappushpop",
        "heapreplace",
        "insort",
        "insort_left",
        "insort_right",
        "shuffle",
    ]
)
_FRESH = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Node = TypeVar("Node", bound=ast.AST)


def compile_instrumented(
    source: bytes | str,
    filename: str,
    mutable: Mutable = EVERYTHING,
    only: Mapping[str, str] | None = None,
) -> CodeType:
    """The code of a module, instrumented; raises SyntaxError as compiling does."""
    tree = ast.parse(source, filename)
    instrument(tree, mutable, only)
    return compile(tree, filename, "exec", dont_inherit=True)


def instrument(
    tree: ast.Module, mutable: Mutable = EVERYTHING, only: Mapping[str, str] | None = None
) -> None:
    """Rewrite a module in place.

    `mutable`: the attribute names worth announcing. With `only` (name to "read" or "write"), nothing but
    attributes of these names is announced, a loading access as what the mapping says.
    """
    _Instrumenter(tree, mutable, only).visit(tree)
    ast.fix_missing_locations(tree)


class _Instrumenter(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, mutable: Mutable, only: Mapping[str, str] | None) -> None:
        self._mutable = mutable
        self._only = only
        self._scopes = ScopeStack(tree)
        self._temporaries = 0

    # ------------------------------------------------------------------ scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        self._visit_defaults(node.args)
        with self._scopes.inside(node):
            node.body = self._statements(node.body)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._visit_defaults(node.args)
        with self._scopes.inside(node):
            node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        node.bases = [self.visit(item) for item in node.bases]
        node.keywords = [self.visit(item) for item in node.keywords]
        with self._scopes.inside(node):
            node.body = self._statements(node.body)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(item) for item in arguments.defaults]
        arguments.kw_defaults = [item and self.visit(item) for item in arguments.kw_defaults]

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            done.extend(result if isinstance(result, list) else [result])
        return done

    # ------------------------------------------------------------------ attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.value = self.visit(node.value)
        self._announce_attribute(node)
        return node

    def _announce_attribute(self, node: ast.Attribute) -> None:
        if not self._is_shared(node):
            return
        writes = not isinstance(node.ctx, ast.Load) or (self._only or {}).get(node.attr) == "write"
        node.value = calling("to__" if writes else "at__", node.value, constant(self._mangled(node.attr)))

    def _is_shared(self, node: ast.Attribute) -> bool:
        if node.attr.startswith("__") and node.attr.endswith("__"):
            return False
        return node.attr in self._only if self._only is not None else node.attr in self._mutable

    def _mangled(self, name: str) -> str:
        owner = self._scopes.class_name.lstrip("_")
        if name.startswith("__") and not name.endswith("__") and owner:
            return f"_{owner}{name}"
        return name

    # ------------------------------------------------------------------ items

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if self._only is not None:
            return self.generic_visit(node)
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        if isinstance(node.ctx, ast.Load):
            if is_simple(node.value) and is_simple(node.slice):
                node.value = calling("item__", node.value, again(node.slice))
            elif is_simple_slice(node.slice):
                node.value = calling("look__", node.value)
            else:
                return ast.copy_location(calling("get__", node.value, as_value(node.slice)), node)
        elif is_simple(node.value) and is_simple(node.slice):
            node.value = calling("put__", node.value, again(node.slice))
        else:
            node.value = calling("change__", node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        alone = self._only is None and len(node.targets) == 1
        if alone and isinstance(target, ast.Subscript) and not is_readable_twice(target):
            value, owner, key = self.visit(node.value), self.visit(target.value), self.visit(target.slice)
            stored = calling("set__", value, owner, as_value(key))
            return ast.copy_location(ast.Expr(ast.copy_location(stored, target)), node)
        node.value = self.visit(node.value)
        node.targets = [self.visit(item) for item in node.targets]
        if len(node.targets) == 1:
            node.value = self._before_store(node.targets[0], node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        node.value = self.visit(node.value)
        node.target = self.visit(node.target)
        node.value = self._before_store(node.target, node.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        node.value = self._before_store(node.target, self.visit(node.value))
        return node

    def _before_store(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """The value, announced if it goes to a global or nonlocal that functions share."""
        key = self._shared_name(target)
        return calling("then_name__", value, calling("globals__"), constant(key)) if key else value

    # ------------------------------------------------------------------ augmented assignment

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        before: list[ast.stmt] = []
        temporaries: list[ast.expr] = []
        if isinstance(target, ast.Name):
            key = self._shared_name(target)
            node.value = self.visit(node.value)
            if key:
                read = ast.copy_location(
                    ast.Expr(calling("name__", calling("globals__"), constant(key))), node
                )
                node.value = calling("then_name__", node.value, calling("globals__"), constant(key))
                return [read, node]
            return node
        if isinstance(target, ast.Attribute):
            if not self._is_shared(target):
                target.value = self.visit(target.value)
                node.value = self.visit(node.value)
                return node
            target.value = self._held(target.value, before, temporaries, node)
            name = constant(self._mangled(target.attr))
            node.value = calling("then__", self.visit(node.value), again(target.value), name)
            target.value = calling("at__", target.value, again(name))
        elif self._only is None:
            target.value = self._held(target.value, before, temporaries, node)
            target.slice = self._held(as_value(target.slice), before, temporaries, node)
            key_again = again(target.slice)
            node.value = calling("then_item__", self.visit(node.value), again(target.value), key_again)
            target.value = calling("item__", target.value, again(target.slice))
        else:
            return self.generic_visit(node)
        after = [ast.copy_location(ast.Delete(temporaries), node)] if temporaries else []
        return [*before, node, *after]

    def _held(
        self, part: ast.expr, before: list[ast.stmt], temporaries: list[ast.expr], node: ast.stmt
    ) -> ast.expr:
        """A part of a target that can be read more than once."""
        if is_simple(part):
            return part
        self._temporaries += 1
        name = f"part{self._temporaries}__"
        assigned = ast.Assign([ast.Name(name, ast.Store())], self.visit(part))
        before.append(ast.copy_location(assigned, node))
        temporaries.append(ast.Name(name, ast.Del()))
        return ast.copy_location(ast.Name(name, ast.Load()), part)

    # ------------------------------------------------------------------ names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not isinstance(node.ctx, ast.Load):
            return node
        key = self._shared_name(node)
        if not key:
            return node
        announced = calling("name__", calling("globals__"), constant(key))
        return ast.copy_location(ast.BoolOp(ast.Or(), [announced, node]), node)

    def _shared_name(self, node: ast.expr) -> str:
        if self._only is not None or not isinstance(node, ast.Name):
            return ""
        return self._scopes.shared_key(node.id)

    # ------------------------------------------------------------------ calls, iteration, tests

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(item) for item in node.args]
        node.keywords = [self.visit(item) for item in node.keywords]
        function = node.func
        if self._only is not None:
            node.func = self.visit(function)
            return node
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if node.args and not isinstance(node.args[0], ast.Starred):
            if name in _HEAP:
                node.args[0] = calling("change__", node.args[0])
            elif isinstance(function, ast.Name) and name in _READERS:
                place = 1 if name in ("map", "filter") and len(node.args) > 1 else 0
                node.args[place] = self._looked_at(node.args[place])
        if isinstance(function, ast.Attribute):
            node.func = self._method(function, node)
        else:
            node.func = self.visit(function)
        return node

    def _method(self, function: ast.Attribute, call: ast.Call) -> ast.expr:
        """The function part of a method call."""
        is_super = isinstance(function.value, ast.Call) and getattr(function.value.func, "id", "") == "super"
        function.value = self.visit(function.value)
        name = function.attr
        if is_super:
            return function
        if name in METHODS_THAT_WRITE | METHODS_THAT_READ and not are_simple(call):
            return ast.copy_location(calling("method__", function.value, constant(name)), function)
        if name in METHODS_THAT_WRITE:
            function.value = calling("writes__", function.value, constant(name))
        elif name in METHODS_THAT_READ:
            function.value = calling("reads__", function.value, constant(name))
        elif self._is_shared(function):
            function.value = calling("calls__", function.value, constant(self._mangled(name)))
        return function

    def _looked_at(self, node: ast.expr) -> ast.expr:
        """An operand whose contents are read next, if it may be a container that others reach."""
        if self._only is None and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.BoolOp)):
            return calling("look__", node)
        return node

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self._iterated(node.iter)
        node.target = self.visit(node.target)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = self._iterated(node.iter) if not node.is_async else self.visit(node.iter)
        node.target = self.visit(node.target)
        node.ifs = [self._tested(item) for item in node.ifs]
        return node

    def _iterated(self, node: ast.expr) -> ast.expr:
        if self._only is not None or isinstance(node, _FRESH):
            return self.visit(node)  # type: ignore[no-any-return]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_view(node):
            return calling("view__", self.visit(node.func.value), constant(node.func.attr))
        visited = self.visit(node)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return calling("iter__", visited)
        return visited  # type: ignore[no-any-return]

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        node.comparators = [
            self._looked_at(item) if isinstance(how, (ast.In, ast.NotIn)) else item
            for how, item in zip(node.ops, node.comparators, strict=True)
        ]
        return node

    def _tested(self, node: ast.expr) -> ast.expr:
        return self._looked_at(self.visit(node))

    def visit_If(self, node: ast.If) -> Any:
        node.test = self._tested(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Any:
        node.test = self._tested(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        node.test = self._tested(node.test)
        node.body = self.visit(node.body)
        node.orelse = self.visit(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = self._tested(node.test)
        node.msg = node.msg and self.visit(node.msg)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            node.operand = self._looked_at(node.operand)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self._tested(node.guard)
        node.body = self._statements(node.body)
        return node  # patterns name values in a syntax of their own

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node  # annotations are not run as accesses
