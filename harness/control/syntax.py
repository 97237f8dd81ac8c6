"""Making and judging syntax nodes, for the instrumentation."""

from __future__ import annotations

import ast

__all__ = ["as_value", "call", "copied", "is_quiet", "is_simple", "may_be_shared", "text"]

_PRECISE = (ast.Name, ast.Attribute, ast.Subscript, ast.BoolOp, ast.IfExp, ast.NamedExpr)
_RUNNING = (ast.Call, ast.Yield, ast.YieldFrom, ast.Await)
_VIEWS = frozenset({"items", "keys", "values"})


def call(function: str, *arguments: ast.expr) -> ast.Call:
    """A call of one of our functions, standing where its first argument stands."""
    node = ast.Call(ast.Name(function, ast.Load()), list(arguments), [])
    if arguments and hasattr(arguments[0], "lineno"):
        ast.copy_location(node, arguments[0])
        ast.copy_location(node.func, arguments[0])
    return node


def text(value: str) -> ast.Constant:
    """A string."""
    return ast.Constant(value)


def is_simple(node: ast.expr) -> bool:
    """Whether evaluating it twice is the same as once, and costs nothing."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    return isinstance(node, (ast.Name, ast.Constant))


def copied(node: ast.expr) -> ast.expr:
    """A simple node to be loaded once more."""
    again: ast.expr
    if isinstance(node, ast.Name):
        again = ast.Name(node.id, ast.Load())
    elif isinstance(node, ast.UnaryOp):
        again = ast.UnaryOp(node.op, copied(node.operand))
    else:
        assert isinstance(node, ast.Constant)
        again = ast.Constant(node.value)
    return ast.copy_location(again, node) if hasattr(node, "lineno") else again


def as_value(node: ast.expr) -> ast.expr:
    """A subscript as an argument: slices become slice objects."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        made = ast.Call(ast.Name("slice__", ast.Load()), parts, [])
        return ast.copy_location(made, node)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([as_value(item) for item in node.elts], ast.Load()), node)
    return node


def is_quiet(node: ast.AST, computed: frozenset[str]) -> bool:
    """Whether evaluating an instrumented node comes to no point; `computed` attributes may run code."""
    if isinstance(node, _RUNNING) or (isinstance(node, ast.Attribute) and node.attr in computed):
        return False
    if isinstance(node, ast.Lambda):
        return all(is_quiet(item, computed) for item in ast.iter_child_nodes(node.args))
    return all(is_quiet(child, computed) for child in ast.iter_child_nodes(node))


def may_be_shared(node: ast.expr) -> bool:
    """Whether an expression may give a container that others reach too, or a view of one."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return False  # a copy
    return isinstance(node, _PRECISE)
