"""Access points from the syntax tree: shared accesses announce themselves, and nothing else changes.

Announced are attributes (those that are ever stored after construction, and not while their object is
still its constructor's own), items, what builtins do to
containers, and the names that functions share. Locals never are, async functions are left alone, and so are
annotations. Positions in the source are kept, so tracebacks read as before.

Known limits, all to the side of fewer points: containers that an operator (`+`, `==`), formatting or a C
extension looks at, unless a display stands next to it; names and attributes stored by `exec`, C code or a
metaclass. A class attribute read through an instance counts as the instance's. A call that reads one
container and changes another comes to two points in a row, so that the read seems earlier than it is.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

from harness.control.instrument_contents import ContentInstrumenter
from harness.control.stored_names import EVERYTHING, Mutable

__all__ = ["compile_instrumented", "instrument"]

_DEPTH = 20_000


def compile_instrumented(
    source: bytes | str,
    filename: str,
    mutable: Mutable = EVERYTHING,
    only: Mapping[str, str] | None = None,
    optimize: int = -1,
) -> CodeType:
    """The code of a module, instrumented; raises SyntaxError as compiling does."""
    tree = ast.parse(source, filename)
    instrument(tree, mutable, only)
    return compile(tree, filename, "exec", dont_inherit=True, optimize=optimize)


def instrument(
    tree: ast.Module, mutable: Mutable = EVERYTHING, only: Mapping[str, str] | None = None
) -> None:
    """Rewrite a module in place.

    `mutable`: the attribute names worth announcing. With `only` (name to "read" or "write"), nothing but
    attributes of these names is announced, a loading access as what the mapping says.
    """
    with _deep_recursion():
        _Instrumenter(tree, mutable, only).visit(tree)
        ast.fix_missing_locations(tree)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Python compiles a sum of a thousand terms; walking it in Python takes several frames for each."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class _Instrumenter(ContentInstrumenter, ast.NodeTransformer):
    """Scopes, and the statements that bind names by themselves."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        self._visit_defaults(node.args)
        with self._scopes.inside(node):
            node.body = self._statements(node.body)
        return [*self._before([node.name], node), node]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._visit_defaults(node.args)
        with self._scopes.inside(node):
            node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        node.bases = [self.visit(item) for item in node.bases]
        node.keywords = [self.visit(item) for item in node.keywords]
        with self._scopes.inside(node):
            node.body = self._statements(node.body)
        return [*self._before([node.name], node), node]

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node  # an annotation under a name

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(item) for item in arguments.defaults]
        arguments.kw_defaults = [item and self.visit(item) for item in arguments.kw_defaults]

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            done.extend(result if isinstance(result, list) else [result])
        return done

    def visit_Import(self, node: ast.Import) -> Any:
        return [*self._before(_imported(node), node), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        return [*self._before(_imported(node), node), node]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.type = node.type and self.visit(node.type)
        body = self._statements(node.body)
        node.body = [*self._before([node.name] if node.name else [], node.body[0]), *body]
        return node

    def visit_withitem(self, node: ast.withitem) -> ast.AST:
        node.context_expr = self.visit(node.context_expr)
        if node.optional_vars is not None:
            node.context_expr = self._before_store(node.optional_vars, node.context_expr)
            node.optional_vars = self.visit(node.optional_vars)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self._tested(node.guard)
        captured = [
            getattr(item, "name", None) or getattr(item, "rest", None) for item in ast.walk(node.pattern)
        ]
        body = self._statements(node.body)
        node.body = [*self._before([name for name in captured if name], node.body[0]), *body]
        return node  # patterns name values in a syntax of their own


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [(item.asname or item.name).partition(".")[0] for item in node.names]
