"""Random programs do the same with access points and without: results, order, exceptions, lines."""

import ast
import builtins
import random
import re
import reprlib
import traceback
import warnings

import pytest

from harness.control.announce import announcers
from harness.control.instrument import compile_instrumented, instrument
from harness.control.stored_names import Mutable, stored_names

PRELUDE = """
class Thing:
    kind = "thing"
    def __init__(self, x):
        self.x, self.items, self.d, self.__own = x, [x, 2], {"k": x, 0: 1}, x
        self.hook = lambda *a: t(("hook", a))
    def __repr__(self): return f"Thing({self.x!r})"
    def __getattr__(self, name): t(("getattr", name)); raise AttributeError("no " + name)
    def __getitem__(self, key):
        if key == 2: raise IndexError(key)
        return t(("getitem", key))
    def __setitem__(self, key, value): t(("setitem", key, value))
    def __delitem__(self, key): t(("delitem", key))
    def __enter__(self): return t(self.items)
    def __exit__(self, *a): t(("exit", a[0])); return self.x == 1
    def __bool__(self): return bool(t(("bool", self.x))[1])
    def m(self, *a, **k): self.x += 1; return t((self.__own, a, k))
    @property
    def p(self): return t(self.x)
    @p.setter
    def p(self, value): self.x = t(value)
class Stack(list):
    def append(self, value): t(("append", value)); super().append(value)
    def __getitem__(self, key): t(("at", key)); return super().__getitem__(key)
def t(value): log.append(shown(value)); return value
n = 0
w = [1, 2]
"""
EPILOGUE = """
def main():
    a, b, i, s, xs, d, o, k, z = 1, [3, 1], 0, "k", Stack([5, 4, 3]), {"k": [1], 1: 2}, Thing(0), Thing(1), 7
    def inner(q, xs=xs):
        global n
        nonlocal z, b
INNER
        return z
BODY
    t((a, b, i, s, xs, d, o, k, z, n, w))
main()
"""
NAMES = ["a", "b", "i", "s", "xs", "d", "o", "k", "z", "n", "w"]
ATTRIBUTES = ["x", "items", "d", "p", "kind", "gone"]
CONSTANTS = ["0", "1", "-1", "'k'", "None", "[]", "[1, 2]", "{'k': 1}", "(4, 5)", "2", "b", "d", "xs"]
EXPRESSIONS = [
    *("t({0})", "len({0})", "list({0})", "sorted({0}, key=lambda v: t(str(v)))", "o.m({0}, {1})"),
    *("k.m({0}, *{1}, q={0})", "o.hook({0})", "xs.append({0})", "o.items.append({0})", "b.append({0})"),
    *("d.get({0}, {1})", "o.d.pop({0}, {1})", "d.setdefault({0}, [])", "b.pop({0})", "xs.index({0})"),
    *("({0}).get({1})", "({0}).append({1})", "({0}).count({1})", "max({0}, key=str)", "any(v for v in {0})"),
    *("[v for v in {0} if within({1})]", "[(v, i) for i, v in enumerate({0})]", "dict(zip({0}, {1}))"),
    *("[*{0}, {1}]", "{{**{0}}}", "list(map(t, {0}))", "next(iter({0}))", "(lambda v={0}: [v, {1}])()"),
    *(
        "list(reversed({0}))",
        "'-'.join({0})",
        "inner(within({0}))",
        "tuple(({0}).items())",
        "[z for z in {0}]",
    ),
    *('f"""{{shown({0})!r:>4}}{{shown({1})}}"""', "(z := {0})", "[(q := v) for v in [{0}]]"),
    *("list(within({0}) for _ in {1})", "({0}).{2}", "({0})[{1}]", "({0})[{1}:]", "{0} + [1]", "{0} + 1"),
    *("({0} if {1} else {0})", "({0}, {1})", "(a := {0})", "{0} in {1}", "{0} not in w", "{0} == []"),
    *("{0} < {1} <= 3", "not {0}", "({0} and {1})", "({0} or {1})", "({0} and {1} or {0})", "({0}).{2}[{1}]"),
]
STATEMENTS = [
    *("{0}", "{2} = {0}", "{2} = {3} = {0}", "{2}, *{3} = {0}", "{2} += [1]", "{2} += 1", "{2} |= {{9}}"),
    *("{2} += t(2)", "{2} -= o.x", "del {2}", "assert {0}, {1}", "o.x: t(int) = {0}", "d[{1}]: t(int) = {0}"),
    *("if {0}:\n{4}\nelse:\n{5}", "while {0}:\n    if tick(): break\n{4}"),
    *("for {2} in {0}:\n    if tick(): break\n{4}\nelse:\n{5}", "with {0} as {2}:\n{4}"),
    *("for {2} in xs:\n    if tick(): break\n{4}", "for i, {2} in d.items():\n    if tick(): break\n{4}"),
    *("try:\n{4}\nexcept Exception as a:\n{5}\nfinally:\n    t('end')", "with o, k as {2}, t(o):\n{4}"),
    (
        "match {0}:\n    case [v, *b]:\n        t((v, b))\n    case {{'k': z, **a}}:\n        t(z)\n"
        "    case _ if {1}:\n        t({0})"
    ),
    *("class A:\n    y = {0}\n{4}\nt(A.y)", "def f(v={0}, *, u={1}):\n    yield v\n{4}\nt(list(f()))"),
    "for {2} in range(2):\n    fs = lambda: (a, {2})\n{4}\nt(fs())",
]


class Author:
    """Writes programs, the same for the same seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._pick = self._random.choice

    def expression(self, depth=2):
        if not depth or self._random.random() < 0.25:
            return self._pick(NAMES if self._random.random() < 0.6 else CONSTANTS)
        parts = (self.expression(depth - 1), self.expression(depth - 1), self._pick(ATTRIBUTES))
        return self._pick(EXPRESSIONS).format(*parts)

    def target(self):
        if self._random.random() < 0.5:
            return self._pick(NAMES)
        if self._random.random() < 0.5:
            return f"{self._pick(['o', 'k', 't(o)', '(a := k)'])}.{self._pick(ATTRIBUTES)}"
        owner = self._pick(["b", "d", "o.items", "o.d", "xs", "w", "t(k)", "t(d)"])
        return f"{owner}[{self.expression(1)}]"

    def statement(self, depth=2):
        form = self._pick(STATEMENTS if depth else STATEMENTS[:13])
        bodies = (block(self.statement(depth - 1) for _ in range(2)) for _ in range(2)) if depth else ("", "")
        text = form.format(self.expression(), self.expression(), self.target(), self.target(), *bodies)
        return f"try:\n{block([text])}\nexcept Exception as error:\n    noted(error)"

    def program(self):
        inner = block((self.statement(1) for _ in range(2)), "        ")
        return program(block(self.statement() for _ in range(6)), inner)


def block(statements, indent="    "):
    """Lines, moved to the right."""
    return "\n".join(indent + line for statement in statements for line in statement.split("\n"))


class Recorder:
    """Every access is reported, so that the slow ways are gone too."""

    def __init__(self):
        self.left, self.seen = 0, 0

    def access(self, write, owner, key):
        self.left = 0
        self.seen += 1


def outcome(compiled, source):
    """What a program logs and raises, with the lines, or why it does not compile."""
    log, ticks, brief = [], [], reprlib.Repr()
    brief.maxlevel = 3  # what programs build may hold itself many times over

    def tick():
        ticks.append(None)
        return len(ticks) > 10

    def within(value):
        ticks.append(None)
        if len(ticks) > 99:
            raise RecursionError
        return value

    def shown(value):
        return re.sub("0x[0-9a-f]+", "0x", brief.repr(value))

    def noted(error):
        frames = traceback.extract_tb(error.__traceback__)
        lines = [(frame.lineno, frame.name) for frame in frames if frame.filename == "program.py"]
        missing = isinstance(error, (AttributeError, NameError))  # of two on one line, either may be first
        log.append(("missing" if missing else type(error).__name__, missing or shown(str(error)), lines))

    recorder = Recorder()
    names = {
        **vars(builtins),
        **announcers(recorder),
        "log": log,
        "tick": tick,
        "within": within,
        "shown": shown,
        "noted": noted,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `0[a]` warns, and is not seen any more when it announces
            code = compiled(source)
    except SyntaxError as error:
        return (error.msg, error.lineno), 0
    try:
        exec(code, {"__builtins__": names, "__name__": "program"})  # noqa: S102  what it is for
    except Exception as error:  # whatever plain code raises
        noted(error)
    return log, recorder.seen


def program(body, inner):
    """The text around what an author wrote."""
    return PRELUDE + EPILOGUE.replace("INNER", inner).replace("BODY", body)


def plain(source):
    """The code as it is."""
    return compile(source, "program.py", "exec", dont_inherit=True)


def instrumented(source):
    """The code with all of its access points."""
    return compile_instrumented(source, "program.py")


def reduced(source):
    """The code without points at what is only stored in construction."""
    tree = ast.parse(source, "program.py")
    instrument(tree, stored_names(tree))
    return compile(tree, "program.py", "exec", dont_inherit=True)


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_do_the_same(seed):
    """Log, exceptions, their texts and their lines are those of the plain program."""
    author = Author(seed)
    for _ in range(20):
        source = author.program()
        expected, _ = outcome(plain, source)
        assert expected == outcome(instrumented, source)[0], source
        assert expected == outcome(reduced, source)[0], source


@pytest.mark.parametrize("mutable", [Mutable(), Mutable(frozenset({"x", "items"}))])
def test_a_program_of_all_parts_comes_to_points(mutable):
    """The comparison is not between a program and itself: what it runs does announce."""
    source = program("    o.x += len(o.items)", "        z = n = q")

    def some(text):
        return compile_instrumented(text, "program.py", mutable)

    few, many = outcome(some, source)[1], outcome(instrumented, source)[1]
    assert 0 < few < many
    assert outcome(plain, source)[1] == 0
