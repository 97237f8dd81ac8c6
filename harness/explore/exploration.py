"""What an exploration is asked for and what comes of it, as plain records."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from harness.control.failures import Failure
from harness.control.trace import Step
from harness.findings import Verdict
from harness.seeds.schedule import Schedule

__all__ = ["Coverage", "Effort", "Exploration", "Found"]


class Coverage(StrEnum):
    """How far an exploration that found nothing got; only `exhausted` is a proof for the program."""

    EXHAUSTED = "exhausted"
    BOUNDED = "bounded"
    BUDGET = "budget ran out"
    CUT = "executions were cut"


@dataclass(frozen=True, slots=True)
class Effort:
    """Budgets and bounds: `executions`, `seconds` (None: no limit), `steps` per execution.

    `strategy` is a name of `harness.strategies.by_name`. `racing_start` spawns the tasks one by one
    instead of behind a barrier; without `shrink`, a failure is shown as it was found; `every_step`
    checks the invariant after each step, not at the end only.
    """

    executions: int = 2_000
    seconds: float | None = None
    steps: int = 20_000
    seed: int = 0
    strategy: str = "portfolio"
    racing_start: bool = False
    every_step: bool = False
    jobs: int = 1
    shrink: bool = True
    instrument: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A failure with the smallest schedule that was found for it.

    `execution` is the number of the execution (from 1) that failed first; `replayed` of `replays`
    re-runs of the final schedule showed the same failure; `steps` is the trace of the last.
    """

    failure: Failure
    schedule: Schedule
    execution: int
    strategy: str
    steps: tuple[Step, ...]
    preemptions: int
    replayed: int
    replays: int


@dataclass(frozen=True)
class Exploration:
    """The outcome of an exploration.

    `distinct` counts the schedules that differ; `steps` is the sum over all executions; `cut`
    the executions that reached the step bound.
    """

    verdict: Verdict
    coverage: Coverage
    found: Found | None
    executions: int
    seconds: float
    steps: int
    distinct: int
    cut: int = 0
    reasons: tuple[str, ...] = ()
    details: dict[str, float] = field(default_factory=dict)
