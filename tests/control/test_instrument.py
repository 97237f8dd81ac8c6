"""What instrumented code announces: which places, in which order, read or written."""

import ast
import builtins
import textwrap
import weakref
from types import ModuleType

import pytest

from harness.control.announce import announcers
from harness.control.instrument import compile_instrumented, instrument
from harness.control.stored_names import EVERYTHING, Mutable

CLASS = """
class A:
    def __init__(self):
        self.x, self.items, self.d = 0, [1, 2], {"k": 1}
    def method(self, *a, **k): return self
    @property
    def computed(self): return 5
a = A()
"""
FIELDS = Mutable(frozenset({"x", "items", "d"}))


class Recorder:
    """Stands in for the runtime: notes every access as `r Type.key` or `w Type.key`."""

    def __init__(self):
        self.left = 0
        self.seen = []

    def access(self, write, owner, key):
        self.left = 0
        name = "globals" if isinstance(owner, dict) and "__name__" in owner else type(owner).__name__
        self.seen.append(f"{'w' if write else 'r'} {name}.{key}")


def announced(source, mutable=EVERYTHING, only=None, before=CLASS):
    """What a program announces, after `before`."""
    recorder = Recorder()
    names = {"__builtins__": {**vars(builtins), **announcers(recorder)}, "__name__": "program"}
    exec(compile(before, "before.py", "exec"), names)  # noqa: S102
    exec(compile_instrumented(textwrap.dedent(source), "program.py", mutable, only), names)  # noqa: S102
    return recorder.seen


ATTRIBUTES = [
    ("a.x", "r A.x"),
    ("a.x = 1", "w A.x"),
    ("del a.x", "w A.x"),
    ("a.x += a.x", "r A.x, r A.x, w A.x"),
    ("a.method().x += 1", "w A.x"),  # at module level, without a temporary that could be seen
    ("def f(): a.method().x += 1\nf()", "r A.x, w A.x"),
    ("a.x, a.d = a.d, 1", "r A.d, w A.x, w A.d"),
    ("a.x = a.d = a.items", "r A.items, w A.x, w A.d"),
    ("for a.x in range(2): pass", "w A.x, w A.x"),
    ("a.x: int = 3", "w A.x"),
    ("[a.x for _ in range(2)]", "r A.x, r A.x"),
    ("a.method(a.x).method(k=a.x)", "r A.x, r A.x"),
    ("f'{a.x!r:>{a.x + 1}}'", "r A.x, r A.x"),
    ("a.x < a.x < a.x", "r A.x, r A.x"),
    ("(lambda v=a.x: v)()", "r A.x"),
    ("def f(v=a.x): pass\nf()", "r A.x"),
    ("@a.method\ndef f(): pass", ""),
    (
        "try:\n    a.x\n    1 / 0\nexcept ZeroDivisionError:\n    a.x\nfinally:\n    a.x",
        "r A.x, r A.x, r A.x",
    ),
    ("match a.x:\n    case 0 if a.x == 0: a.x = 1", "r A.x, r A.x, w A.x"),
    ("match a:\n    case A(x=0): pass", ""),  # patterns are left alone
    ("with open(0, closefd=bool(a.x)) as a.x: pass", "r A.x, w A.x"),
    ("def g():\n    yield a.x\n    yield from (a.x for _ in '1')\nlist(g())", "r A.x, r A.x"),
    ("def f(v: a.x) -> a.x: pass", ""),
    ("a.__class__, a.__dict__", ""),
    ("a.x if a.x else a.d", "r A.x, r A.d"),
    ("type(a).x = 3", "w type.x"),
]


@pytest.mark.parametrize(("source", "expected"), ATTRIBUTES, ids=[source for source, _ in ATTRIBUTES])
def test_attributes(source, expected):
    """Each load, store and deletion of a field is announced where Python comes to it."""
    assert expected == ", ".join(announced(source, FIELDS))


ITEMS = [
    ("d['k']", "r dict.k"),
    ("d['k'] = xs[0]", "r list.*, w dict.k"),
    ("del d['k'], xs[-1]", "w dict.k, w list.*"),
    ("d['k'] += 1", "r dict.k, w dict.k"),
    ("def f(): e()['k'] += e()['k']\nf()", "r dict.k, r dict.k, w dict.k"),
    ("def f(): e()[str('k')] += 1\nf()", "r dict.k, w dict.k"),
    ("d[str('k')]", "r dict.k"),
    ("d[str('k')] = 1", "w dict.k"),
    ("del d[str('k')]", "w dict.k"),
    ("d[1.5] = d[True, 1] = 0", "w dict.*, w dict.*"),
    ("xs[:1], xs[1:][0]", "r list.*, r list.*, r list.*"),
    ("xs[:1] = []", "w list.*"),
    ("xs[0], d['k'] = d['k'], xs[0]", "r dict.k, r list.*, w list.*, w dict.k"),
    ("(1, 2)[0], 'ab'[0], {1: 2}[1]", "r dict.1"),
    ("for d['k'] in 'ab': pass", "w dict.k, w dict.k"),
    ("d[(k := 'k')]; d[k]", "r dict.k, r dict.k"),
]


@pytest.mark.parametrize(("source", "expected"), ITEMS, ids=[source for source, _ in ITEMS])
def test_items(source, expected):
    """Items of dictionaries are announced by key if it says where, all others as the whole container."""
    before = "d, xs = {'k': 1, (True, 1): 2}, [1, 2, 3]\ndef e(): return d"
    assert expected == ", ".join(announced(source, before=before))


CONTENTS = [
    ("xs.append(1); xs.pop(0); xs.index(2)", "w list.*, w list.*, r list.*"),
    ("xs.append(xs[0])", "r list.*, w list.*"),
    ("d.get('k'); d.pop('k', xs[0]); d.setdefault('k', 1)", "r dict.k, r list.*, w dict.k, w dict.k"),
    ("d.update(d); d.clear()", "r dict.*, w dict.*, w dict.*"),
    ("'k' in d, 1 not in xs, d['k'] in xs", "r dict.k, r list.*, r dict.k, r list.*"),
    ("len(xs), list(d), sorted(xs), sum(xs), dict(d)", "r list.*, r dict.*, r list.*, r list.*, r dict.*"),
    ("list(d.values()); len(d.keys())", "r dict.*, r dict.*"),
    ("max(1, 2), len((1, 2)), list('ab')", ""),
    ("heapq.heappush(xs, 5); heapq.heappop(xs)", "w list.*, w list.*"),
    ("heapq.heappush(xs, d['k'])", "r dict.k, w list.*"),
    ("list.append(xs, d['k'])", "r dict.k, w list.*"),
    ("if xs: pass", "r list.*"),
    ("while not xs: pass", "r list.*"),
    ("assert xs and d", "r list.*, r dict.*"),
    ("(xs or d) and 1", "r list.*"),
    ("1 if xs else 2", "r list.*"),
    ("[v for v in '12' if xs]", "r list.*, r list.*"),
    ("xs == []; [] + xs; xs != 1", "r list.*, r list.*"),
    ("[*xs]; {**d}; print(*xs, end='', file=out); print(**{'file': out})", "r list.*, r dict.*, r list.*"),
    ("p, q = xs", "r list.*"),
    ("xs += [1]", "w list.*"),
    ("'-'.join(xs[:0])", "r list.*"),
    ("next(count); next(iter(xs))", "w count.*, r list.*"),
    ("def f():\n    ys = xs\n    ys += (1,)\n    total = 1\n    total += 1\nf()", "w list.*"),
]


@pytest.mark.parametrize(("source", "expected"), CONTENTS, ids=[source for source, _ in CONTENTS])
def test_contents(source, expected):
    """What builtins do to a container is announced, after their arguments were evaluated."""
    source = f"import heapq\n{source}"
    before = "import io, itertools\nd, xs, count, out = {'k': 1}, [1, 2], itertools.count(), io.StringIO()"
    assert expected == ", ".join(announced(source, before=before))


ITERATION = [
    ("for _ in xs: pass", "r list.*, r list.*, r list.*"),
    ("for _ in xs: break", "r list.*"),
    ("[_ for _ in xs]", "r list.*, r list.*, r list.*"),
    ("for _ in d: pass", "r dict.*, r dict.*"),
    ("for _ in d.items(): pass", "r dict.*, r dict.*"),
    ("for _ in enumerate(xs): pass", "r list.*, r list.*, r list.*, r list.*"),
    ("for _ in zip(xs, d): break", "r list.*, r dict.*, r list.*, r dict.*"),
    ("for _ in reversed(xs): pass", "r list.*, r list.*, r list.*"),
    ("for _ in (*xs,), range(2), 'ab', {1, 2}: pass", "r list.*"),
    ("g = (v for v in xs); d['k']; next(g)", "r list.*, r dict.k, w generator.*, r list.*"),
    ("for _ in [1, 2]: pass", ""),
    ("for x in (y for y in 'ab'): pass", ""),
    ("view = d.values()\nfor _ in view: pass", "r dict.*, r dict.*"),
    ("def g(): yield from xs\nfor _ in g(): pass", "r list.*, r list.*, r list.*"),
]


@pytest.mark.parametrize(("source", "expected"), ITERATION, ids=[source for source, _ in ITERATION])
def test_iteration(source, expected):
    """Each step of an iteration over a container, the last and empty one too, reads it."""
    assert expected == ", ".join(announced(source, before="d, xs = {'k': 1}, [1, 2]"))


def test_private_names_are_announced_as_they_are_stored():
    """A mangled attribute has the same key inside of its class and outside."""
    source = """
        class B:
            def put(self):
                self.__v = 1
                return self
            class _In:
                def get(self, b): return b.__v
        B().put()._B__v
        try: B._In().get(B().put())
        except AttributeError: pass
    """
    seen = announced(source, before="")
    assert ["w B._B__v", "r B._B__v", "w B._B__v", "r B._In__v"] == [item for item in seen if "__v" in item]


def test_what_a_constructor_stores_is_not_announced_while_nobody_can_see_it():
    """Only `self` exists so far; not so after it escaped, a base's constructor, or a `__new__` of its own."""
    source = """
        class Alone:
            def __init__(self): self.v = 1
        class Escaped:
            def __init__(self):
                everybody.append(self)
                self.v = 1
        class Derived(Alone):
            def __init__(self):
                super().__init__()
                self.v = 2
        class Only:
            def __new__(cls): return the_one
            def __init__(self): self.v = 1
        everybody = []
        the_one = object.__new__(Only)
        Alone(), Escaped(), Derived(), Only()
    """
    seen = announced(source, before="")
    assert ["w Escaped.v", "w Derived.v", "w Only.v"] == [item for item in seen if item.endswith(".v")]


def test_only_some_names_of_a_standard_module():
    """With `only`, nothing else announces, and a load is what the mapping says."""
    source = "a.x; a.x = 1; a.d['k'] += 1; a.items.append(1); len(a.items)\nfor _ in a.items: pass"
    assert ["r A.x", "w A.x"] == announced(source, only={"x": "read"})
    assert ["w A.items"] * 3 == announced(source, only={"items": "write"})


def test_names_stored_in_construction_alone_are_not_announced():
    """Attributes that are not `mutable` do not announce; their contents do."""
    assert ["w list.*"] == announced("a.items.append(a.x)", Mutable())


def test_stored_callbacks_are_shared_and_methods_are_not():
    """A call reads an attribute if the instance, a slot or a class variable holds it."""
    before = """
class B:
    __slots__ = ("hook",)
    def method(self): pass
class C:
    hook = None
b, c, c2 = B(), C(), C()
b.hook = c.hook = C.hook = print
"""
    seen = announced("b.hook(end=''); b.method(); c.hook(end=''); c2.hook(end='')", before=before)
    assert ["r B.hook", "r C.hook", "r C.hook"] == seen


def test_async_functions_are_left_alone():
    """Nothing inside of an async function announces."""
    assert [] == announced(
        "async def f():\n    a.x = [v for v in a.items]\n    def g(): return a.x\n    g()\nf().close()"
    )


def test_super_reaches_the_container():
    """A method of a container that is called through `super()` is an access to the container."""
    source = """
        class Stack(list):
            def __getitem__(self, i): return super().__getitem__(i)
            def append(self, v): return super().append(v)
        s = Stack()
        s.append(1)
        s[0]
    """
    assert ["w Stack.*", "w Stack.*", "r Stack.*"] == announced(source, before="")


def test_temporaries_do_not_outlive_the_statement():
    """What an augmented assignment holds meanwhile is gone after it."""
    source = """
        class Node: pass
        def f(make, seen):
            make().x += 1
            seen.append(dict(locals()).keys() - {"make", "seen"})
        seen = []
        def make():
            node = Node()
            node.x = 1
            seen.append(ref(node))
            return node
        f(make, seen)
        assert seen[0]() is None
        assert not seen[1]
    """
    names = {"__builtins__": {**vars(builtins), **announcers(Recorder())}, "ref": weakref.ref}
    exec(compile_instrumented(textwrap.dedent(source), "program.py"), names)  # noqa: S102
    assert {"Node", "f", "make", "seen", "ref", "__builtins__"} == {*names}


def test_a_long_sum_is_instrumented():
    """Expressions as deep as Python compiles are rewritten as well."""
    source = "t = " + " + ".join(["1"] * 900) + "\na.x = t"
    assert ["w A.x"] == announced(source)


def test_docstrings_futures_and_signatures_stay():
    """The first statements of modules and functions keep their meaning, and no name is added."""
    source = (
        '"""Module."""\nfrom __future__ import annotations\n'
        'def f(v: missing = 1) -> missing:\n    """Function."""'
    )
    tree = ast.parse(source)
    instrument(tree)
    module = ModuleType("program")
    exec(compile(tree, "program.py", "exec", dont_inherit=True), vars(module))  # noqa: S102
    assert "Module." == module.__doc__
    assert ("Function.", {"v": "missing", "return": "missing"}) == (
        module.f.__doc__,
        module.f.__annotations__,
    )
