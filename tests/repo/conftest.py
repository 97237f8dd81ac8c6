"""What the tests of the repository itself share: where it is, and its Python files, parsed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

ROOMS = ("harness", "reference", "scenarios", "benchmarks", "tests")


class Source(NamedTuple):
    """One Python file. `path` is relative to the repository, with slashes."""

    path: str
    module: str
    is_package: bool
    text: str
    tree: ast.Module


def parsed(path: str, text: str) -> Source:
    """A source from its path and text; also for planted ones."""
    parts = Path(path).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    module = ".".join(parts[:-1] if is_package else parts)
    return Source(path, module, is_package, text, ast.parse(text))


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def plant():
    """Makes a source that is not on disk, to show that a checker sees what it is for."""
    return parsed


@pytest.fixture(scope="session")
def sources(root: Path) -> tuple[Source, ...]:
    """Every Python file of the repository."""
    found = tuple(
        parsed(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        for room in ROOMS
        for path in sorted((root / room).rglob("*.py"))
    )
    assert {"harness", "reference", "tests"} <= {source.module.partition(".")[0] for source in found}
    return found
