"""What a gate is asked for and what comes of it, as plain records: no stage is run from here."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import SystemRandom
from typing import Any

from harness.contracts.adapter import Adapter
from harness.contracts.records import Clause, Contract
from harness.findings import Finding, StageReport, UsageError, Verdict

__all__ = [
    "BUDGETS",
    "NOT_RUN",
    "UNDECIDED",
    "Budget",
    "ClauseVerdict",
    "GateReport",
    "GateRequest",
    "Listener",
    "parse_budget",
    "parse_seed",
]

NOT_RUN = "what checks it was not run"
"""The reason of a clause that is skipped because of the user's own choice of stages."""
UNDECIDED = "nothing that was run could decide it"
"""The reason of a clause that the stages never met."""
_STAGE_FLOOR_S = 60.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Effort: generated programs, a factor on scenario seconds, controlled executions per scenario.

    The limit per stage, in seconds, is a guard around implementations that hang; no verdict of a
    conforming one depends on it.
    """

    examples: int
    pace: float
    executions: int = 150

    @property
    def stage_limit_s(self) -> float:
        """After this time a stage's process is ended."""
        return _STAGE_FLOOR_S + 120 * max(self.pace, self.examples / 200, self.executions / 150)


BUDGETS = {
    "quick": Budget(60, 0.4, 50),
    "default": Budget(200, 1.0, 150),
    "thorough": Budget(2000, 10.0, 5000),
}
_DEFAULT_BUDGET_S = 20.0
_LONGEST_BUDGET_S = 7 * 24 * 3600.0


def parse_budget(text: str) -> Budget:
    """Read `quick`, `default`, `thorough` or a duration such as 45s, 10m or 2h; raises UsageError.

    A duration scales the counts of the default budget, so the same budget does the same work
    everywhere; it is no stopwatch.
    """
    if text in BUDGETS:
        return BUDGETS[text]
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    try:
        seconds = float(text[:-1]) * units[text[-1:]]
    except (KeyError, ValueError):
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_BUDGET_S:
        names = ", ".join(BUDGETS)
        raise UsageError(
            f"budget {text!r} is none of {names} and no duration such as 45s, 10m or 2h, up to 168h"
        )
    factor = seconds / _DEFAULT_BUDGET_S
    default = BUDGETS["default"]
    return Budget(
        max(round(default.examples * factor), 1),
        default.pace * factor,
        max(round(default.executions * factor), 1),
    )


def parse_seed(text: str) -> int:
    """Read a number, or draw a fresh seed for `random`; raises UsageError."""
    if text == "random":
        return SystemRandom().randrange(1, 2**31)
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"seed {text!r} is neither a number nor 'random'") from None


@dataclass(frozen=True)
class GateRequest:
    """What to gate and how. `contract` may be empty: then it is found by what the target offers."""

    target: str
    contract: str = ""
    adapter: Adapter = field(default_factory=Adapter)
    budget: Budget = BUDGETS["default"]
    seed: int = 0
    stages: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    soak_seconds: float | None = None
    stop_at_first: bool = False
    remember: bool = True
    strict: bool = False
    coverage: bool = False
    adapter_file: str = ""
    budget_text: str = ""
    seeds: str = ""
    instrument: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClauseVerdict:
    """How one clause fared: `checked` observations over all stages, `reason` where it is not OK."""

    clause: Clause
    verdict: Verdict
    checked: int
    reason: str = ""


@dataclass(frozen=True)
class GateReport:
    """The outcome of a gate."""

    request: GateRequest
    contract: Contract
    stages: tuple[StageReport, ...]
    clauses: tuple[ClauseVerdict, ...]
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    coverage: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of the stages."""
        return tuple(finding for stage in self.stages for finding in stage.findings)


class Listener:
    """Hears of a gate's course; does nothing itself. `report` has a terminal's."""

    def stage_began(self, stage: str) -> None:
        """A stage starts."""

    def stage_moved(self, stage: str, executions: int, operations: int) -> None:
        """A stage has got this far."""

    def stage_ended(self, report: StageReport) -> None:
        """A stage is over."""
