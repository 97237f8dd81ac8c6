"""Pieces of syntax trees: what the instrumenter asks of nodes, and the nodes that it makes."""

from __future__ import annotations

import ast

__all__ = [
    "again",
    "are_simple",
    "as_value",
    "calling",
    "constant",
    "is_readable_twice",
    "is_simple",
    "is_simple_slice",
    "is_view",
]

VIEWS = ("items", "keys", "values")


def is_view(node: ast.Call) -> bool:
    """Whether a call is `obj.items()`, `obj.keys()` or `obj.values()`."""
    return getattr(node.func, "attr", "") in VIEWS and not node.args and not node.keywords


def calling(function: str, *arguments: ast.expr) -> ast.expr:
    """A call of one of the announcing functions, placed where its first argument is."""
    node = ast.Call(ast.Name(function, ast.Load()), list(arguments), [])
    return ast.copy_location(node, arguments[0]) if arguments and hasattr(arguments[0], "lineno") else node


def constant(value: str) -> ast.Constant:
    """A literal."""
    return ast.Constant(value)


def again(node: ast.expr) -> ast.expr:
    """A simple operand once more."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    assert isinstance(node, ast.Constant)
    copied = ast.Constant(node.value)
    return ast.copy_location(copied, node) if hasattr(node, "lineno") else copied


def is_simple(node: ast.expr) -> bool:
    """Whether an operand can be evaluated twice without anybody noticing."""
    return isinstance(node, (ast.Name, ast.Constant))


def is_readable_twice(node: ast.Subscript) -> bool:
    """Whether owner and key of an item are simple."""
    return is_simple(node.value) and is_simple(node.slice)


def are_simple(call: ast.Call) -> bool:
    """Whether evaluating a call's arguments announces nothing."""
    return all(map(is_simple, call.args)) and all(is_simple(keyword.value) for keyword in call.keywords)


def is_simple_slice(node: ast.expr) -> bool:
    """Whether a slice has simple bounds."""
    return isinstance(node, ast.Slice) and all(
        part is None or is_simple(part) for part in (node.lower, node.upper, node.step)
    )


def as_value(node: ast.expr) -> ast.expr:
    """A subscript as an argument: slices become `slice(...)`."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), parts, []), node)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([as_value(item) for item in node.elts], ast.Load()), node)
    return node
