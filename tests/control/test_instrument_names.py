"""Which names count as shared between functions, and how binding and reading them is announced."""

import builtins

import pytest

from harness.control.announce import announcers
from harness.control.instrument import compile_instrumented
from harness.control.stored_names import NOTHING, Mutable


class Recorder:
    """Stands in for the runtime: notes accesses to globals, as `r globals.name` or `w globals.name`."""

    def __init__(self):
        self.left = 0
        self.seen = []

    def access(self, write, owner, key):
        self.left = 0
        if isinstance(owner, dict) and "__name__" in owner:
            self.seen.append(f"{'w' if write else 'r'} globals.{key}")


def announced(source, mutable=NOTHING):
    """The accesses to names that a program announces; those of a function are globals with a path."""
    recorder = Recorder()
    names = {"__builtins__": {**vars(builtins), **announcers(recorder)}, "__name__": "program"}
    exec(compile_instrumented(source, "program.py", mutable), names)  # noqa: S102
    return recorder.seen


SHARED = [
    ("def f():\n    global n\n    n = 1\n    return n\nf()", "w globals.n, r globals.n"),
    ("n = 0\ndef f():\n    global n\n    n += 1\nf()", "r globals.n, w globals.n"),
    ("def f():\n    global n\n    del n\nn = 1\nf()", "w globals.n"),
    ("def f():\n    global n\n    for n in 'ab': pass\nf()", "w globals.n, w globals.n"),
    ("def f():\n    global n, m\n    n, m = 1, 2\nf()", "w globals.n, w globals.m"),
    ("def f():\n    global n\n    import ast as n\nf()", "w globals.n"),
    ("def f():\n    global n\n    def n(): pass\nf()", "w globals.n"),
    ("def f():\n    global n\n    [(n := v) for v in 'ab']\nf()", "w globals.n, w globals.n"),
    ("def f():\n    global n\n    match 1:\n        case n: pass\nf()", "w globals.n"),
    ("def f():\n    global n\n    try: 1 / 0\n    except Exception as n: pass\nf()", "w globals.n"),
    ("n = 0\ndef f(): return n\ndef g():\n    global n\n    n = 1\nf()", "r globals.n"),
    ("n = 0\ndef f(): return n\nf()", ""),
    (
        "n = 0\ndef f():\n    n = 1\n    return [n for n in 'a'], n\ndef g():\n    global n\n    n = 1\nf()",
        "",
    ),
    ("def g():\n    global n\n    n = 1\nn = 0\nclass C:\n    n = 1\n    m = n\n", ""),
    (
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    g()\nf()",
        "w globals.f.n, r globals.f.n, w globals.f.n",
    ),
    (
        "def f():\n    n = 0\n    def g(): return n\n    n = 1\n    return g()\nf()",
        "w globals.f.n, w globals.f.n, r globals.f.n",
    ),
    ("def f():\n    n = 0\n    def g(): return n\n    return g() + n\nf()", ""),
    (
        "def f():\n    for i in 'ab': g = lambda: i\n    g()\nf()",
        "w globals.f.i, w globals.f.i, r globals.f.i",
    ),
    ("def f():\n    class C:\n        n = 1\n        def g(self): return n\n    C()\nn = 2\nf()", ""),
    (
        (
            "class C:\n    def f(self):\n        n = 0\n        def g():\n            nonlocal n\n"
            "            n = 1\n        g()\nC().f()"
        ),
        "w globals.C.f.n, w globals.C.f.n",
    ),
]


@pytest.mark.parametrize(("source", "expected"), SHARED, ids=[source for source, _ in SHARED])
def test_names(source, expected):
    """Names are announced if another function may bind them again, and never if they are a function's own."""
    assert expected == ", ".join(announced(source))


def test_globals_that_other_modules_store_are_shared():
    """A variable that some module stores as an attribute is announced where functions read it."""
    source = "limit = 1\ndef f(): return limit\nf()"
    assert ["r globals.limit"] == announced(source, Mutable(frozenset({"limit"})))
