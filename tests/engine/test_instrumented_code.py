"""Instrumented code does what plain code does, and announces what it should, in order."""

from __future__ import annotations

import builtins
import sys
import textwrap
import traceback
from types import ModuleType

import pytest

from harness.control.announce import announcers
from harness.control.instrument import compile_instrumented


class Recorder:
    """Stands in for the runtime: every access is reported and noted."""

    def __init__(self):
        self.left = 0
        self.seen = []

    def access(self, write, owner, key):
        self.left = 0
        kind = "write" if write else "read"
        self.seen.append(f"{kind} {type(owner).__name__}.{key}")


def run(source, instrumented=True):
    """Run a module's source; its `log` and what was announced."""
    recorder = Recorder()
    source = textwrap.dedent(source)
    code = (
        compile_instrumented(source, "program.py") if instrumented else compile(source, "program.py", "exec")
    )
    space = {"__builtins__": {**vars(builtins), **announcers(recorder)}, "__name__": "program", "log": []}
    module = ModuleType("program")
    module.__dict__.update(space)
    sys.modules["program"] = module  # dataclasses look there
    exec(code, module.__dict__)  # noqa: S102
    return space["log"], recorder.seen


ANNOUNCED = [
    ("class A: pass\na = A()\na.x = 1", ["write A.x"]),
    ("class A: x = 1\na = A()\nlog.append(a.x)", ["read A.x", "write list.*"]),
    ("class A: x = 1\na = A()\na.x += 1", ["read A.x", "write A.x"]),
    ("d = {}\nd['k'] = 1\nd['k']\ndel d['k']", ["write dict.k", "read dict.k", "write dict.k"]),
    ("d = {'k': 1}\nd['k'] += 1", ["read dict.k", "write dict.k"]),
    ("items = []\nitems.append(1)\nlen(items)\n1 in items", ["write list.*", "read list.*", "read list.*"]),
    ("items = [1, 2]\nfor item in items: pass", ["read list.*"] * 3),
    ("d = {1: 2}\nfor k, v in d.items(): pass", ["read dict.*"] * 2),
    ("n = 0\ndef f():\n    global n\n    n += 1\nf()", ["read dict.n", "write dict.n"]),
    (
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = n + 1\n    g()\nf()",
        ["write dict.f.n", "read dict.f.n", "write dict.f.n"],
    ),
    ("items = [1]\nif items: pass", ["read list.*"]),
    ("x = 1\ny = x + 1\ndef f(a): return a + x\nf(y)", []),
]


@pytest.mark.parametrize(("source", "expected"), ANNOUNCED, ids=[source[:40] for source, _ in ANNOUNCED])
def test_an_access_announces_itself(source, expected):
    """Each construct announces exactly these accesses, in this order."""
    assert expected == run(source)[1]


SAME = [
    """
    class Base:
        def __init__(self): self.order = []
        def note(self, name): self.order.append(name); return self
    class A(Base):
        __slots__ = ("__private", "d")
        def __init__(self):
            super().__init__()
            self.__private = 3
            self.d = {"a": [1, 2]}
        @property
        def private(self): return self.__private
        @private.setter
        def private(self, value): self.__private = value * 2
    a = A()
    a.private += 1
    a.d["a"][0] += 10
    a.note("x").note("y").d["b"] = a.private
    log.extend([a.private, a.d, a.order])
    """,
    """
    def side(name, value):
        log.append(name)
        return value
    d = {}
    side("owner", d)[side("key", 1)] = side("value", 2)
    side("owner", d)[side("key", 1)] += side("value", 3)
    x, d[side("t", 5)], *rest = side("tuple", (1, 2, 3, 4))
    log.append((x, rest, d))
    a = b = d[9] = 7
    log.append(sorted(d))
    log.append([y for y in d if (z := y) > 1] + [z])
    """,
    """
    import contextlib
    @contextlib.contextmanager
    def manager():
        log.append("in")
        try:
            yield log
        finally:
            log.append("out")
    class Point:
        __match_args__ = ("x", "y")
        def __init__(self, x, y): self.x, self.y = x, y
    with manager() as m:
        match Point(1, 2):
            case Point(x=1, y=why):
                m.append(why)
    def generator(n):
        for i in range(n):
            got = yield i
            if got: log.append(got)
    g = generator(3)
    log.append([next(g), g.send("sent"), list(g)])
    log.append((lambda q, *r, k=len(log): (q, r, k))(1, 2))
    log.append({k: v for k, v in zip("ab", range(2))})
    log.append(f"{log[0]!r:>6} {len(log)}")
    del m
    """,
    """
    class Meta(type):
        def __getattr__(cls, name): return f"meta {name}"
    class Dynamic(metaclass=Meta):
        def __getattr__(self, name): return f"got {name}"
        def __setattr__(self, name, value): log.append((name, value)); super().__setattr__(name, value)
        def __getitem__(self, key): return key
        def __setitem__(self, key, value): log.append((key, value))
        def __delitem__(self, key): log.append(key)
    d = Dynamic()
    d.x = 1
    d[1:2] = 3
    del d["gone"]
    log.append((d.x, d.y, d[5], d[1:3], Dynamic.z))
    d.x -= 1
    log.append(d.x)
    """,
    """
    from dataclasses import dataclass, field
    from enum import Enum
    from collections import OrderedDict, defaultdict, deque, Counter
    class Colour(Enum):
        RED = 1
        BLUE = 2
    @dataclass(frozen=True)
    class Frozen:
        a: int
        b: list = field(default_factory=list)
    log.append([Frozen(1), Colour.RED.name, Colour(2).value])
    q = deque([1, 2, 3]); q.rotate(1); q.appendleft(q.pop())
    c = Counter("abca"); c["a"] -= 1
    d = defaultdict(list); d["x"].append(1)
    o = OrderedDict(a=1); o.move_to_end("a")
    log.append([list(q), c.most_common(), dict(d), list(o)])
    """,
]


@pytest.mark.parametrize("source", SAME, ids=range(len(SAME)))
def test_instrumented_code_does_the_same(source):
    """Results and the order of evaluation are those of plain code."""
    plain, _ = run(source, instrumented=False)
    assert repr(plain) == repr(run(source)[0])
    assert plain


FAILING = [
    "def f():\n    x = {}\n    return x['missing']\nf()",
    "class A: pass\na = A()\n\na.missing",
    "items = [1]\n\nitems[5] = 2",
    "d = {1: 1, 2: 2}\nfor k in d:\n    d[k + 10] = 1",
    "def f():\n    return undefined_name\nf()",
    "x = None\nx.y += 1",
]


@pytest.mark.parametrize("source", FAILING)
def test_an_exception_is_the_same_at_the_same_line(source):
    """Type, text and the lines of the user's file in the traceback are those of plain code."""

    def raised(instrumented):
        with pytest.raises(Exception) as caught:  # noqa: PT011  whichever plain code raises
            run(source, instrumented)
        lines = [frame.lineno for frame in traceback.extract_tb(caught.tb) if frame.filename == "program.py"]
        return type(caught.value), str(caught.value), lines

    assert raised(instrumented=False) == raised(instrumented=True)


def test_async_functions_are_left_alone():
    """Nothing inside an async function announces."""
    source = "import asyncio\nclass A: x = 1\nasync def f(a): return a.x\nlog.append(asyncio.run(f(A())))"
    log, seen = run(source)
    assert [1] == log
    assert "read A.x" not in seen
