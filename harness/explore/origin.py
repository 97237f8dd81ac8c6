"""Which exploration of which test a schedule is kept for, and the command that shows it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from harness.explore.exploration import Effort, Found
from harness.findings import UsageError
from harness.seeds.schedule import Seed
from harness.seeds.store import SeedStore, replay_command

__all__ = ["Origin", "plain_arguments"]


@dataclass(frozen=True, slots=True)
class Origin:
    """An exploration of a test.

    `test` is FILE::NAME; `arguments` what it is called with, as a literal of a mapping; `exploration`
    is empty if the test is explored as a whole, else the name or the number (from 1) of the call of
    `harness.explore` within it. `runner` is the command that runs it, if `harness replay` cannot: pytest,
    where the test has fixtures, or the interpreter, where it is a script.
    """

    test: str
    arguments: str = ""
    exploration: str = ""
    runner: str = ""

    @classmethod
    def of(cls, seed: Seed) -> Self:
        """The exploration that a seed was kept for; its `test` is empty if it was kept for a target."""
        fields = seed.fields
        return cls(fields.get("test", ""), fields.get("arguments", ""), fields.get("exploration", ""))

    def kept(self, store: SeedStore) -> Iterator[tuple[Path, Seed | UsageError]]:
        """The seeds of this exploration, and those that nobody can read."""
        mine = (self.test, self.arguments, self.exploration)
        for path, seed in store:
            if isinstance(seed, UsageError):
                yield path, seed
                continue
            other = self.of(seed)
            if (other.test, other.arguments, other.exploration) == mine:
                yield path, seed

    def keep(self, store: SeedStore, effort: Effort, found: Found) -> str:
        """Keep a schedule; returns the command that shows its failure again. Raises UsageError."""
        failure = found.failure
        fields = {
            "test": self.test,
            "arguments": self.arguments,
            "exploration": self.exploration,
            "instrument": " ".join(effort.instrument),
            "finding": failure.kind.value,
            "error": failure.error_type,
            "message": failure.message,
        }
        path = store.keep(Seed(found.schedule, fields), "test-" + self.test.rpartition("::")[2])
        return self.command(path)

    def command(self, path: Path) -> str:
        """What somebody types to see the failure of this seed again."""
        return f"{self.runner}  # replays {path} first" if self.runner else replay_command(path)

    def values(self) -> dict[str, Any]:
        """The arguments as values; raises UsageError."""
        try:
            values = ast.literal_eval(self.arguments or "{}")
        except (ValueError, SyntaxError):
            values = None
        if not isinstance(values, dict):
            raise UsageError(f"the arguments {self.arguments!r} of this seed are no mapping of plain values")
        return values


def plain_arguments(values: Mapping[str, Any], test: str) -> str:
    """Arguments of a test as `Origin.arguments`; raises UsageError for one that executions would share."""
    for name, value in values.items():
        if not _is_plain(value):
            raise UsageError(
                f"{test} takes {name}, {type(value).__name__}: an explored test makes what it needs itself, "
                "anew in every execution, and a fixture would be shared between them; numbers, texts and "
                "tuples of them (parametrize) are welcome"
            )
    return repr(dict(values)) if values else ""


def _is_plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str, bytes)
