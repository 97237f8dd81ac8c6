"""Which attribute names count as stored after construction."""

import ast
import textwrap

import pytest

from harness.control.stored_names import EVERYTHING, NOTHING, Mutable, stored_names


def stored(source):
    """The names that a program stores late; None if all may be."""
    found = stored_names(ast.parse(textwrap.dedent(source)))
    return None if found.everything else set(found.names)


def in_constructor(*lines, methods="", bases=""):
    """What a class stores late, of a constructor with these lines."""
    body = "\n".join(f"        {line}" for line in lines)
    rest = "\n".join(f"    {line}" for line in methods.splitlines())
    return stored(f"class A{bases}:\n    def __init__(self, other=None):\n{body}\n{rest}")


@pytest.mark.parametrize(
    "lines",
    [
        ["self.x = 1", "self.y: int = 2", "self.x += 1", "del self.y"],
        ["self.x, (self.y, *self.z) = 1, (2, 3)"],
        ["super().__init__()", "self.x = 1"],
        ["self.x = 1", "other.register(self)"],
        ["print(self.y)", "self.x = self.y = 1"],
        ["setattr(self, other, 1)", "object.__setattr__(self, 'x', 1)"],
        ["self.x = [v for v in other]", "self.y = lambda: other"],
        ["self._check(other)", "self.x = 1"],
    ],
)
def test_construction_is_not_late(lines):
    """What a constructor stores before the object is known to others cannot race."""
    assert set() == in_constructor(*lines, methods="def _check(self, other): return self.x + 1")


@pytest.mark.parametrize(
    "escape",
    [
        "other.register(self)",
        "other.me = self",
        "other.call(self.method)",
        "other.call(lambda: self.y)",
        "def inner(): return self.y",
        "other[0] = (other, self)",
        "self.leak(other)",
        "self.leak_further(other)",
        "self.inherited()",
        "yield self",
        "callback = self.method",
    ],
)
def test_what_follows_an_escape_is_late(escape):
    """Once `self`, or a method bound to it, is used as a value, others may see what is stored."""
    methods = (
        "def method(self): pass\n"
        "def leak(self, other): other.append(self)\n"
        "def leak_further(self, other): self.leak(other)"
    )
    found = in_constructor("self.early = 1", escape, "self.x = 1", methods=methods)
    assert {"x"} == found - {"me"}


def test_an_escape_in_a_loop_is_seen_from_its_start():
    """The second round stores while the object is known from the first."""
    assert {"x"} == in_constructor("self.y = 1", "for v in other:", "    self.x = v", "    v.register(self)")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(a): a.x = 1", {"x"}),
        ("class A:\n    def reset(self): self.x = 1", {"x"}),
        ("class A:\n    def __init__(self, b): b.x = 1", {"x"}),
        ("class A:\n    def __init__(self):\n        def later(): self.x = 1", {"x"}),
        ("class A:\n    def __new__(cls): cls.count = 1", {"count"}),
        ("class A:\n    x = 1\n    y: int", set()),
        ("def f(a): del a.x; a.y += 1; a.z: int = 1", {"x", "y", "z"}),
        ("def f(a):\n    for a.x in a.y: pass\n    with a as a.z: pass", {"x", "z"}),
        ("def f(a): setattr(a, 'x', 1); delattr(a, NAME)\nNAME = 'y'", {"x", "y"}),
        ("class A:\n    @cached_property\n    def x(self): pass", {"x"}),
        ("class A:\n    @functools.cached_property\n    def x(self): pass", {"x"}),
        ("def f(a): return a.__dict__['x'], vars(a).items(), {**vars(a)}, 'x' in a.__dict__", set()),
    ],
)
def test_stores_elsewhere_are_late(source, names):
    """Any store outside of a constructor of the object counts by its name."""
    assert names == stored(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a, name): setattr(a, name, 1)",
        "def f(a): a.__dict__['x'] = 1",
        "def f(a): a.__dict__.update(x=1)",
        "def f(a): d = vars(a); d['x'] = 1",
        "def f(a): a.__dict__ = {}",
        "class A:\n    def __setstate__(self, state): pass",
        "def f(a, name): object.__setattr__(a, name, 1)",
    ],
)
def test_computed_names_may_be_any(source):
    """Where names are computed, or the dictionary is handed on, every name counts."""
    assert stored(source) is None


def test_knowledge_adds_up():
    """The union covers its parts, and everything covers all."""
    one, other = Mutable(frozenset({"x"})), Mutable(frozenset({"y"}))
    both = one | other
    assert both.covers(one)
    assert not one.covers(both)
    assert EVERYTHING.covers(both)
    assert not both.covers(EVERYTHING)
    assert EVERYTHING == Mutable(frozenset(), everything=True) | NOTHING
    assert ("x" in both, "z" in both, "z" in EVERYTHING) == (True, False, True)
