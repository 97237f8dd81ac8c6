"""Size and wording of what is in the repository: rooms stay small, and nothing knows one machine."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

import pytest

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
DRAWERS = {"base", "common", "helpers", "manager", "types", "utils"}
PROSE = {".cfg", ".ini", ".md", ".toml", ".txt", ".yaml", ".yml"}
ROOTS = ("harness", "reference", "scenarios", "benchmarks", "tests", "docs", ".ci")
MACHINE_PATH = re.compile(r"(?<![\w./}])/(?:work|root|home|tmp)(?![\w-])")


def written(root):
    """Every text that people write here, by its path in the repository."""
    paths = [path for top in ROOTS for path in (root / top).rglob("*") if "__pycache__" not in path.parts]
    paths += [path for path in root.iterdir() if path.suffix in PROSE]
    wanted = [
        path
        for path in paths
        if path.is_file() and (path.suffix in PROSE | {".py"} or path.parent.name == ".ci")
    ]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(wanted)}


def machine_paths(path, text):
    """Lines that name a folder of somebody's machine."""
    return [
        f"{path}:{number} {line.strip()}"
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]


def lines_of(node):
    """The lines of a function without those of classes in it: their methods are read one by one."""
    classes = [inner for inner in ast.walk(node) if isinstance(inner, ast.ClassDef)]
    return node.end_lineno - node.lineno + 1 - sum(inner.end_lineno - inner.lineno for inner in classes)


def long_functions(source):
    """Functions that do not fit on a screen or two."""
    return [
        f"{source.path}:{node.lineno} {node.name} has {length} lines"
        for node in ast.walk(source.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (length := lines_of(node)) > LONGEST_FUNCTION
    ]


def is_drawer(path):
    """Whether a file or a folder on its path is named for anything that may be put there."""
    return not DRAWERS.isdisjoint(PurePosixPath(path).with_suffix("").parts)


def test_nothing_knows_one_machine(root):
    """Source, tests and docs name no folder that only one machine has."""
    texts = written(root)
    assert "pyproject.toml" in texts
    assert [wrong for path, text in texts.items() for wrong in machine_paths(path, text)] == []


def test_files_are_short(root):
    """A room that has grown past its limit is two rooms."""
    lengths = {path: len(text.splitlines()) for path, text in written(root).items()}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_functions_are_short(sources):
    """A function is read at one look."""
    assert [wrong for source in sources for wrong in long_functions(source)] == []


def test_there_are_no_drawers(sources):
    """A module's name says what belongs there, and what does not."""
    assert [source.path for source in sources if is_drawer(source.path)] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("open('%swork/main')", 1),
        ("see %shome/somebody", 1),
        ("`%stmp`", 1),
        ("%sroot/.cache", 1),
        ("https://example.org%stmp", 0),
        ("{folder}%stmp", 0),
        ("%shomework", 0),
        ("..%swork", 0),
    ],
)
def test_a_planted_path_is_seen(line, expected):
    """The checker tells a machine's folders from what merely looks like them."""
    assert expected == len(machine_paths("planted", line % "/"))


def test_a_planted_long_function_is_seen(plant):
    """One line above the limit is too long; the limit itself is not."""
    fits = "def fits():\n" + "    pass\n" * (LONGEST_FUNCTION - 1)
    over = "async def over():\n" + "    pass\n" * LONGEST_FUNCTION
    assert long_functions(plant("harness/planted.py", fits + over)) == [
        "harness/planted.py:61 over has 61 lines"
    ]


@pytest.mark.parametrize(
    "path", ["harness/utils.py", "harness/common/records.py", "harness/types/__init__.py"]
)
def test_a_planted_drawer_is_seen(path):
    """Modules, folders and packages count; parts of words do not."""
    assert is_drawer(path)
    assert not is_drawer("harness/" + path.replace("/", "_"))
