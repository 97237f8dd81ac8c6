"""The part of the instrumentation that deals with attributes, items and names."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from harness.control.construction import Construction
from harness.control.scopes import ScopeStack
from harness.control.stored_names import Mutable
from harness.control.syntax import as_value, call, copied, is_simple, text

__all__ = ["PlaceInstrumenter"]


class PlaceInstrumenter(ast.NodeTransformer):
    """Loads, stores and deletions; an augmented assignment is a read, and a write with a point between."""

    def __init__(self, tree: ast.Module, mutable: Mutable, only: Mapping[str, str] | None) -> None:
        self._mutable = mutable
        self._only = only
        self._scopes = ScopeStack(tree, mutable.names)
        self._temporaries = 0
        self._unseen = Construction(tree).unseen if only is None else frozenset()
        imports = (node.names for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
        self._imported = {(item.asname or item.name).partition(".")[0] for names in imports for item in names}

    # ------------------------------------------------------------------ attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`obj.attr` becomes `at__(obj, 'attr').attr`."""
        node.value = self.visit(node.value)
        if self._is_shared(node):
            writes = not isinstance(node.ctx, ast.Load) or (self._only or {}).get(node.attr) == "write"
            node.value = call("to__" if writes else "at__", node.value, self._mangled(node.attr))
        return node

    def _is_shared(self, node: ast.Attribute) -> bool:
        if node.attr.startswith("__") and node.attr.endswith("__"):
            return False
        if self._only is not None:
            return node.attr in self._only
        if node in self._unseen:
            return False
        if isinstance(node.value, ast.Name) and node.value.id in self._imported:
            return (
                node.attr in self._mutable.names
            )  # what modules and classes hold changes by name, or not at all
        return node.attr in self._mutable

    def _mangled(self, name: str) -> ast.expr:
        owner = self._scopes.class_name.lstrip("_")
        is_private = name.startswith("__") and not name.endswith("__")
        return text(f"_{owner}{name}" if is_private and owner else name)

    # ------------------------------------------------------------------ items

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`obj[key]` becomes `item__(obj, key)[key]`, or a call where that would evaluate twice."""
        if self._only is not None:
            return self.generic_visit(node)
        is_load = isinstance(node.ctx, ast.Load)
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        if is_simple(node.slice):
            node.value = call("item__" if is_load else "put__", node.value, copied(node.slice))
        elif is_load and not _is_simple_slice(node.slice):
            return ast.copy_location(call("get__", node.value, as_value(node.slice)), node)
        else:
            node.value = call("look__" if is_load else "change__", node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """The value is there when a store is announced."""
        target = node.targets[0]
        if self._only is None and len(node.targets) == 1 and isinstance(target, ast.Subscript):
            value, owner, key = self.visit(node.value), self.visit(target.value), self.visit(target.slice)
            if not is_simple(key):
                stored = ast.copy_location(call("set__", value, owner, as_value(key)), target)
                return ast.copy_location(ast.Expr(stored), node)
            target.value, target.slice, node.value = call("put__", owner, copied(key)), key, value
            return node
        unpacks = isinstance(target, (ast.Tuple, ast.List)) and len(node.targets) == 1
        node.value = self._seen(node.value) if unpacks else self.visit(node.value)
        for item in node.targets:
            node.value = self._before_store(item, node.value)
        node.targets = [self.visit(item) for item in node.targets]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """An assignment, if it has a value."""
        if node.value is not None:
            node.value = self._before_store(node.target, self.visit(node.value))
            node.target = self.visit(node.target)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """An assignment to a name."""
        node.value = self._before_store(node.target, self.visit(node.value))
        return node

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Each target by itself, in order."""
        statements: list[ast.stmt] = []
        for target in node.targets:
            statements += self._before([target.id] if isinstance(target, ast.Name) else [], node)
            statements.append(ast.copy_location(self._deletion(target), node))
        return statements

    def _deletion(self, target: ast.expr) -> ast.stmt:
        if self._only is None and isinstance(target, ast.Subscript):
            owner, key = self.visit(target.value), self.visit(target.slice)
            if not is_simple(key):
                return ast.Expr(ast.copy_location(call("drop__", owner, as_value(key)), target))
            target.value, target.slice = call("put__", owner, copied(key)), key
            return ast.Delete([target])
        return ast.Delete([self.visit(target)])

    # ------------------------------------------------------------------ augmented assignment

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """A read before the right side is evaluated, a write after it."""
        target = node.target
        if isinstance(target, ast.Name):
            return self._augmented_name(node, target)
        is_place = isinstance(target, ast.Attribute) and self._is_shared(target)
        if not is_place and (self._only is not None or isinstance(target, ast.Attribute)):
            target.value = self.visit(target.value)
            node.value = self.visit(node.value)
            return node
        parts = [target.value, target.slice] if isinstance(target, ast.Subscript) else [target.value]
        if self._scopes.is_namespace and not all(map(is_simple, parts)):  # temporaries could be seen there
            node.target = self.visit(target)
            node.value = self.visit(node.value)
            return node
        before: list[ast.stmt] = []
        held: list[str] = []
        if isinstance(target, ast.Attribute):
            key: ast.expr = self._mangled(target.attr)
            target.value = self._held(target.value, before, held, node)
            before_write, before_read = "then__", "at__"
        else:
            again = not is_simple(target.slice)
            target.value = self._held(target.value, before, held, node, again)
            target.slice = key = self._held(target.slice, before, held, node)
            before_write, before_read = "then_item__", "item__"
        node.value = call(before_write, self.visit(node.value), copied(target.value), copied(key))
        target.value = call(before_read, target.value, copied(key))
        if not held:
            return node
        names: list[ast.expr] = [ast.Name(name, ast.Del()) for name in held]
        return [*before, node, ast.copy_location(ast.Delete(names), node)]

    def _augmented_name(self, node: ast.AugAssign, target: ast.Name) -> Any:
        node.value = self._augmenting(node, self.visit(node.value))
        shared = self._shared_name(target)
        if shared is None:
            return node
        read = ast.Expr(call("name__", *shared))
        node.value = call("then_name__", node.value, call("globals__"), copied(shared[1]))
        return [ast.copy_location(read, node), node]

    def _augmenting(self, node: ast.AugAssign, value: ast.expr) -> ast.expr:
        raise NotImplementedError

    def _held(
        self, part: ast.expr, before: list[ast.stmt], held: list[str], node: ast.stmt, always: bool = False
    ) -> ast.expr:
        """A part of a target that can be read more than once; its first reading keeps its place."""
        is_shared = isinstance(part, ast.Name) and self._shared_name(part) is not None
        if is_simple(part) and not is_shared and not (always and isinstance(part, ast.Name)):
            return part
        self._temporaries += 1
        name = f"part{self._temporaries}__"
        assigned = ast.Assign([ast.Name(name, ast.Store())], as_value(self.visit(part)))
        before.append(ast.copy_location(assigned, node))
        held.append(name)
        return ast.copy_location(ast.Name(name, ast.Load()), part)

    # ------------------------------------------------------------------ names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """`name` becomes `name__(owner, 'name') or name`, if it is shared."""
        shared = self._shared_name(node) if isinstance(node.ctx, ast.Load) else None
        if shared is None:
            return node
        announced = ast.copy_location(call("name__", *shared), node)
        return ast.copy_location(ast.BoolOp(ast.Or(), [announced, node]), node)

    def _shared_name(self, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """What to announce a name with: its owner and itself; None if it is a function's own."""
        if self._only is not None or not isinstance(node, ast.Name):
            return None
        return self._shared(node.id)

    def _shared(self, name: str) -> tuple[ast.expr, ast.expr] | None:
        shared = self._scopes.shared(name) if self._only is None else None
        if shared is None:
            return None
        return call("globals__"), text(shared)

    def _before_store(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """The value, announced for each shared name that it, or a part of it, is stored under."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                shared = self._shared_name(node)
                if shared is not None:
                    value = call("then_name__", value, *shared)
        return value

    def _before(self, names: list[str], node: ast.AST) -> list[ast.stmt]:
        """Statements that announce stores under these names, of what a statement binds by itself."""
        found = [shared for shared in map(self._shared, names) if shared is not None]
        calls = (call("then_name__", ast.Constant(None), *shared) for shared in found)
        return [ast.copy_location(ast.Expr(item), node) for item in calls]

    def _seen(self, node: ast.expr) -> ast.expr:
        raise NotImplementedError


def _is_simple_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and all(
        part is None or is_simple(part) for part in (node.lower, node.upper, node.step)
    )
