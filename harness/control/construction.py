"""What constructors store before anybody else can hold the object."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["Construction"]

_CONSTRUCTORS = frozenset({"__init__", "__post_init__"})
_STORES = frozenset({"setattr", "__setattr__"})
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While)


class Construction:
    """`stores`: the nodes of a module that store attributes of objects still under construction.

    `unseen` are those among them that nobody else can see happen: no base's constructor comes before, no
    `__new__` may return what others hold already.

    The object escapes when `self` is used as a value, by itself or bound in a method, also inside of a method
    of the class that is called on it, and when a method that cannot be seen here is called on it.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.stores: set[ast.AST] = set()
        self.unseen: set[ast.AST] = set()
        for owner in ast.walk(tree):
            if not isinstance(owner, ast.ClassDef):
                continue
            methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
            fields = set(_fields(owner))
            alone = "__new__" not in methods and not owner.keywords and all(map(_is_plain, owner.bases))
            for name in _CONSTRUCTORS & methods.keys():
                stores = set(self._stores(methods[name], methods, fields))
                self.stores |= stores
                if alone:
                    self.unseen |= stores

    def _stores(
        self, function: ast.FunctionDef, methods: dict[str, ast.FunctionDef], fields: set[str]
    ) -> Iterator[ast.AST]:
        own = _self_of(function)
        escape = min(_escapes(function, methods, fields, set()), default=None)
        for node in _nodes_in_place(function):
            if _stores_attribute(node, own) and (escape is None or _end(node) < escape):
                yield node


def _is_plain(base: ast.expr) -> bool:
    """Whether a base has no constructor worth mentioning."""
    base = base.value if isinstance(base, ast.Subscript) else base
    return isinstance(base, ast.Name) and base.id in ("object", "Generic", "Protocol")


def _end(node: ast.AST) -> int:
    return getattr(node, "end_lineno", 0) or 0


def _self_of(function: ast.FunctionDef) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def _is_own(node: ast.AST, own: str) -> bool:
    return isinstance(node, ast.Name) and node.id == own


def _fields(owner: ast.ClassDef) -> Iterator[str]:
    """Names of data: whatever the class stores or declares."""
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr
    for statement in owner.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        yield from (target.id for target in targets if isinstance(target, ast.Name))
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id


def _nodes_in_place(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes that run when the function does, not those of functions that it makes."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _INNER):
            todo.extend(ast.iter_child_nodes(node))


def _stores_attribute(node: ast.AST, own: str) -> bool:
    """`self.name = ...`, or `setattr(self, ...)` in whatever form."""
    if isinstance(node, ast.Attribute):
        return not isinstance(node.ctx, ast.Load) and _is_own(node.value, own)
    return isinstance(node, ast.Call) and _is_setting(node) and _is_own(node.args[0], own)


def _is_setting(node: ast.Call) -> bool:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    return name in _STORES and len(node.args) == 3


def _escapes(
    function: ast.FunctionDef, methods: dict[str, ast.FunctionDef], fields: set[str], seen: set[str]
) -> Iterator[int]:
    """Lines from which on others may hold the object: where it escapes, or the loop around begins."""
    seen.add(function.name)
    own = _self_of(function)
    loops = [(node.lineno, _end(node)) for node in ast.walk(function) if isinstance(node, _LOOPS)]
    harmless: set[ast.AST] = set()
    for node in ast.walk(function):
        line: int = getattr(node, "lineno", 0)
        if isinstance(node, _INNER) and node is not function:
            escaped = any(_is_own(inner, own) for inner in ast.walk(node))
        elif isinstance(node, ast.Call):
            harmless.add(node.func)
            if _is_setting(node):
                harmless.add(node.args[0])
            escaped = _called_leaks(node.func, own, methods, fields, seen)
        elif isinstance(node, ast.Attribute) and _is_own(node.value, own):
            harmless.add(node.value)
            is_bound = isinstance(node.ctx, ast.Load) and node.attr not in fields
            escaped = is_bound and node not in harmless and not node.attr.startswith("__")
        else:
            escaped = _is_own(node, own) and node not in harmless
        if escaped:
            yield min([start for start, end in loops if start <= line <= end], default=line)


def _called_leaks(
    function: ast.expr, own: str, methods: dict[str, ast.FunctionDef], fields: set[str], seen: set[str]
) -> bool:
    """Whether a method called on the object may hand it on. A base's constructor is taken not to."""
    if not isinstance(function, ast.Attribute) or not _is_own(function.value, own):
        return False
    name = function.attr
    if name in seen or name in fields:
        return False  # what is stored under a name does not get the object
    return name not in methods or any(True for _ in _escapes(methods[name], methods, fields, seen))
