"""The part of the instrumentation that deals with what builtins do to containers.

Methods, builtin functions, iteration, membership and truth. Whether an object is a container is decided
when the code runs; here only the form of the code counts.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from harness.control.containers import KEYED_METHODS, METHODS_THAT_READ, METHODS_THAT_WRITE
from harness.control.instrument_places import PlaceInstrumenter
from harness.control.stored_names import Mutable
from harness.control.syntax import call, copied, is_quiet, is_simple, may_be_shared, text

__all__ = ["ContentInstrumenter"]


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


_READING = _words("all any dict frozenset len list max min set sorted sum tuple")
_COPYING = _words("Counter OrderedDict copy deepcopy deque")  # functions, also as attributes of modules
_LAZY = _words("enumerate filter map zip")  # these read when they are stepped through
_CHANGING = _words("heapify heappop heappush heappushpop heapreplace insort insort_left insort_right shuffle")
_TAKING = _words(
    "difference difference_update extend extendleft fromkeys intersection intersection_update isdisjoint "
    "issubset issuperset join symmetric_difference symmetric_difference_update union update"
)
_BUILTIN_TYPES = _words("OrderedDict bytearray defaultdict deque dict list set")
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp)
_FRESH = (*_DISPLAYS, ast.Tuple, ast.GeneratorExp)


class ContentInstrumenter(PlaceInstrumenter, ast.NodeTransformer):
    """Announces looks at containers, and changes, through builtin functions, methods and syntax."""

    def __init__(self, tree: ast.Module, mutable: Mutable, only: Mapping[str, str] | None) -> None:
        super().__init__(tree, mutable, only)
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        self._computed = frozenset(node.name for node in functions if node.decorator_list)

    def _seen(self, node: ast.expr) -> ast.expr:
        """An operand whose contents are looked at as soon as it is evaluated."""
        visited = self._visited(node)
        return call("look__", visited) if self._only is None and may_be_shared(node) else visited

    def _visited(self, node: ast.expr) -> ast.expr:
        visited: ast.expr = self.visit(node)
        return visited

    def _is_quiet(self, nodes: list[Any]) -> bool:
        return all(is_quiet(node, self._computed) for node in nodes)

    # ------------------------------------------------------------------ calls

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A function or method that may be a container's."""
        if self._only is not None:
            return self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._method(node, function)
        name = function.id if isinstance(function, ast.Name) else ""
        if name == "reversed" and node.args:
            node.args[0] = self._seen(node.args[0])
            node.func = self.visit(function)
            return node
        self._arguments(node, name)
        node.func = self.visit(function)
        if name in _CHANGING:
            self._changing(node)
        return node

    def _arguments(self, node: ast.Call, name: str) -> None:
        takes = list(node.args)
        reads = set[int]()
        steps = set[int]()
        has_key = any(item.arg == "key" for item in node.keywords)
        if name in _COPYING or (name in _READING and (len(takes) == 1 or name == "dict")):
            (steps if has_key and name in ("max", "min") else reads).add(0)
        elif name in _LAZY:
            steps.update(range(1 if name in ("filter", "map") else 0, len(takes)))
        elif name == "iter" and len(takes) == 1:
            reads.add(0)
        elif name in _TAKING:
            reads.update(range(len(takes)))
        node.args = [
            self._argument(item, name, number in reads, number in steps) for number, item in enumerate(takes)
        ]
        for keyword in node.keywords:
            keyword.value = self._seen(keyword.value) if keyword.arg is None else self.visit(keyword.value)

    def _argument(self, node: ast.expr, name: str, reads: bool, steps: bool) -> ast.expr:
        if steps and may_be_shared(node):
            return call("iter_later__", self.visit(node))
        if name == "next" and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return call("step__", self.visit(node))
        return self._seen(node) if reads else self._visited(node)

    def _changing(self, node: ast.Call) -> None:
        """A function like `heappush`, which changes its first argument."""
        if not node.args or isinstance(node.args[0], ast.Starred):
            return
        if self._is_quiet([*node.args[1:], *node.keywords]):
            node.args[0] = call("change__", node.args[0])
        else:
            node.func = call("changing__", node.func)

    def _method(self, node: ast.Call, function: ast.Attribute) -> ast.AST:
        owner, name = function.value, function.attr
        self._arguments(node, name if name in _TAKING or name in _COPYING else "")
        is_super = (
            isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
        )
        is_function = name in _CHANGING or (isinstance(owner, ast.Name) and owner.id in _BUILTIN_TYPES)
        is_shared = self._is_shared(function) and not is_super
        function.value = self.visit(owner)
        if is_shared:
            function.value = call("calls__", function.value, self._mangled(name))
        if is_function and (name in _CHANGING or name in METHODS_THAT_WRITE):
            self._changing(node)
        elif not is_function and (name in METHODS_THAT_WRITE or name in METHODS_THAT_READ):
            self._container_method(node, function, is_super)
        return node

    def _container_method(self, node: ast.Call, function: ast.Attribute, is_super: bool) -> None:
        name, writes = function.attr, function.attr in METHODS_THAT_WRITE
        key = node.args[0] if name in KEYED_METHODS and node.args else None
        if self._is_quiet([*node.args, *node.keywords]):
            if key is not None and is_simple(key) and not is_super:
                function.value = call("change_at__" if writes else "look_for__", function.value, copied(key))
                return
            if key is None or isinstance(key, ast.Constant):
                function.value = call("change__" if writes else "look__", function.value)
                return
        node.func = ast.copy_location(
            call("then_changes__" if writes else "then_looks__", function.value, text(name)), function
        )

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        """What is unpacked is read."""
        node.value = self._seen(node.value) if isinstance(node.ctx, ast.Load) else self.visit(node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """`**other` reads the other."""
        node.values = [
            self.visit(value) if key is not None else self._seen(value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        node.keys = [key and self.visit(key) for key in node.keys]
        return node

    # ------------------------------------------------------------------ iteration

    def _iterated(self, node: ast.expr, later: bool = False) -> ast.expr:
        if self._only is not None or isinstance(node, _FRESH):
            return self._visited(node)
        is_call = isinstance(node, ast.Call)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            if node.func.id == "reversed" and may_be_shared(node.args[0]):
                stepped = call("reversed__", self.visit(node.func), self.visit(node.args[0]))
                return ast.copy_location(stepped, node)
            is_call = node.func.id not in _LAZY and node.func.id != "range"
        visited = self._visited(node)
        if is_call or may_be_shared(node):
            return call("iter_later__" if later else "iter__", visited)
        return visited

    def visit_For(self, node: ast.For) -> Any:
        """Each step reads; a shared target is then written."""
        node.iter = self._iterated(node.iter)
        for item in ast.walk(node.target):
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                shared = self._shared_name(item)
                if shared is not None:
                    node.iter = call("each_name__", node.iter, *shared)
        node.target = self.visit(node.target)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        """Each step reads."""
        node.value = self._iterated(node.value)
        return node

    def _comprehension(self, node: Any) -> Any:
        """All but the first iterable belongs to the comprehension's own scope."""
        first = node.generators[0]
        first.iter = self._iterated(first.iter, later=isinstance(node, ast.GeneratorExp))
        with self._scopes.inside(node):
            for generator in node.generators:
                if generator is not first:
                    generator.iter = self._iterated(generator.iter)
                generator.target = self.visit(generator.target)
                generator.ifs = [self._tested(item) for item in generator.ifs]
            for part in ("elt", "key", "value"):
                if hasattr(node, part):
                    setattr(node, part, self.visit(getattr(node, part)))
        return node

    visit_ListComp = visit_SetComp = _comprehension  # noqa: N815  the names are those of `ast`
    visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    # ------------------------------------------------------------------ membership, comparison, truth

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`in` looks for its left side in the right one; displays are compared with contents."""
        before = [node.left, *node.comparators[:-1]]
        originals = list(node.comparators)
        is_sole = len(node.ops) == 1
        compares_display = isinstance(node.left, _DISPLAYS) or isinstance(originals[-1], _DISPLAYS)
        node.left = self._seen(node.left) if is_sole and compares_display else self.visit(node.left)
        for number, (how, left, right) in enumerate(zip(node.ops, before, originals, strict=True)):
            visited = self.visit(right)
            if self._only is None and may_be_shared(right):
                if isinstance(how, (ast.In, ast.NotIn)):
                    is_key = is_sole and is_simple(left) and is_simple(node.left)
                    visited = call("look_for__", visited, copied(left)) if is_key else call("look__", visited)
                elif is_sole and compares_display:
                    visited = call("look__", visited)
            node.comparators[number] = visited
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """What is joined with a display is a container."""
        is_joining = isinstance(node.left, _DISPLAYS) or isinstance(node.right, _DISPLAYS)
        visit = self._seen if is_joining else self.visit
        node.left, node.right = visit(node.left), visit(node.right)
        return node

    def _augmenting(self, node: ast.AugAssign, value: ast.expr) -> ast.expr:
        """The right side of `name op= value`; a container under a local name is changed in place."""
        is_set_like = isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.BitXor))
        if self._only is None and (is_set_like or isinstance(value, _FRESH)):
            assert isinstance(node.target, ast.Name)
            return call("then_change__", value, ast.Name(node.target.id, ast.Load()))
        return value

    def _tested(self, node: ast.expr) -> ast.expr:
        """An operand whose truth is asked."""
        if not isinstance(node, ast.BoolOp):
            return self._seen(node)
        node.values = [self._tested(item) for item in node.values]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """All but the last operand are asked."""
        *asked, last = node.values
        node.values = [*map(self._tested, asked), self.visit(last)]
        return node

    def _branch(self, node: ast.If | ast.While) -> ast.AST:
        """`if` and `while` ask their condition."""
        node.test = self._tested(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    visit_If = visit_While = _branch  # noqa: N815

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """The condition is asked."""
        node.test = self._tested(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        """The condition is asked."""
        node.test = self._tested(node.test)
        node.msg = node.msg and self.visit(node.msg)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """`not` asks its operand."""
        is_not = isinstance(node.op, ast.Not)
        node.operand = self._tested(node.operand) if is_not else self.visit(node.operand)
        return node

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        raise NotImplementedError
