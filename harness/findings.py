"""What a run says: verdicts, findings, and the errors that are not findings.

A *finding* is evidence against the implementation under test. A *HarnessError* is our fault or the
user's usage. The two never mix: a HarnessError counts neither as a pass nor as a violation, and a
finding is a value, never an exception that could be swallowed. Reports are pure functions of what
is defined here; everything crosses the process boundary as plain JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self

__all__ = ["ClauseTally", "Finding", "HarnessError", "Kind", "StageReport", "UsageError", "Verdict"]


class HarnessError(Exception):
    """The harness or its configuration failed; says nothing about the implementation."""


class UsageError(HarnessError):
    """What was asked for cannot be run: one sentence, exit code 2."""


class Verdict(StrEnum):
    """Three-valued answer. UNKNOWN is never green by default (exit code 3)."""

    OK = "OK"
    VIOLATION = "VIOLATION"
    UNKNOWN = "UNKNOWN"
    SKIPPED = "SKIPPED"

    @property
    def exit_code(self) -> int:
        """Exit code of a command that ends with this verdict."""
        return {"OK": 0, "VIOLATION": 1, "UNKNOWN": 3, "SKIPPED": 3}[self.value]

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Sum of several verdicts: any VIOLATION wins, then any UNKNOWN; nothing decided is UNKNOWN."""
        seen = set(verdicts)
        for verdict in (cls.VIOLATION, cls.UNKNOWN, cls.OK):
            if verdict in seen:
                return verdict
        return cls.UNKNOWN


class Kind(StrEnum):
    """What sort of evidence a finding is."""

    BROKEN_CLAUSE = "broken clause"
    HANG = "hang"
    CRASH = "crash"
    EXCEPTION = "exception"
    MALFORMED_ANSWER = "malformed answer"


@dataclass(frozen=True, slots=True)
class Finding:
    """Evidence that a clause does not hold.

    `program` is the smallest program that shows it (source text a person can paste into a test),
    `evidence` the facts in reading order, `reproduce` the one command that shows it again.
    `advisory` findings break a SHOULD clause: shown, but they do not decide the verdict.
    """

    kind: Kind
    clause: str
    message: str
    stage: str
    where: str = ""
    evidence: tuple[str, ...] = ()
    program: str = ""
    reproduce: str = ""
    advisory: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON value; `from_json` is its inverse."""
        return {**asdict(self), "kind": self.kind.value, "evidence": list(self.evidence)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Rebuild a finding from `to_json`."""
        return cls(**{**value, "kind": Kind(value["kind"]), "evidence": tuple(value["evidence"])})


@dataclass(frozen=True, slots=True)
class ClauseTally:
    """How often one stage decided one clause: `checked` counts observations that could have failed."""

    clause: str
    checked: int


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage did and found.

    `executions` counts independent runs (generated programs, stress rounds), `operations` the calls
    made on the implementation. `unmet` names the *sometimes* claims that never held; a stage with
    one is UNKNOWN, because its green would mean nothing.
    """

    stage: str
    verdict: Verdict
    seconds: float = 0.0
    executions: int = 0
    operations: int = 0
    findings: tuple[Finding, ...] = ()
    tallies: tuple[ClauseTally, ...] = ()
    unmet: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON value; `from_json` is its inverse."""
        return {
            **asdict(self),
            "verdict": self.verdict.value,
            "findings": [finding.to_json() for finding in self.findings],
            "tallies": {tally.clause: tally.checked for tally in self.tallies},
            **{name: list(getattr(self, name)) for name in ("unmet", "skipped", "notes")},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Rebuild a stage report from `to_json`."""
        return cls(
            **{
                **value,
                "verdict": Verdict(value["verdict"]),
                "findings": tuple(Finding.from_json(item) for item in value["findings"]),
                "tallies": tuple(ClauseTally(*pair) for pair in value["tallies"].items()),
                **{name: tuple(value[name]) for name in ("unmet", "skipped", "notes")},
            }
        )
