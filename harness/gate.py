"""The gate: the stages in order, and how they add up to a verdict.

A clause is OK when a stage decided it and nothing broke it; SKIPPED when the target lacks what it
needs; UNKNOWN when no stage that ran could decide it. A gate is a VIOLATION if any MUST clause is
broken; UNKNOWN if the canary was missed, a *sometimes* claim never held or a MUST clause stayed
undecided; OK only otherwise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import SystemRandom
from typing import Any

from harness import coverage_report
from harness.contracts import CONTRACTS, contract_named
from harness.contracts.adapter import Adapter
from harness.contracts.records import Clause, Contract, Level
from harness.findings import Finding, StageReport, UsageError, Verdict
from harness.isolation.parent import run_isolated
from harness.stages import STAGES, StageJob
from harness.targets.locate import Target

__all__ = [
    "BUDGETS",
    "Budget",
    "ClauseVerdict",
    "GateReport",
    "GateRequest",
    "Listener",
    "parse_budget",
    "parse_seed",
    "run_gate",
]

NOT_RUN = "what checks it was not run"
_STAGE_FLOOR_S = 30.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Effort: generated programs, the factor on scenario seconds, and a limit per stage in seconds.

    The limit is a guard around implementations that hang; no verdict of a conforming one depends on it.
    """

    examples: int
    pace: float

    @property
    def stage_limit_s(self) -> float:
        """After this time a stage's process is ended."""
        return _STAGE_FLOOR_S + 60 * max(self.pace, self.examples / 200)


BUDGETS = {"quick": Budget(60, 0.4), "default": Budget(200, 1.0), "thorough": Budget(2000, 10.0)}
_DEFAULT_BUDGET_S = 20.0


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
    if not 0 < seconds < float("inf"):
        raise UsageError(
            f"budget {text!r} is none of {', '.join(BUDGETS)} and no duration such as 45s, 10m or 2h"
        )
    factor = seconds / _DEFAULT_BUDGET_S
    default = BUDGETS["default"]
    return Budget(max(round(default.examples * factor), 1), default.pace * factor)


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


def run_gate(request: GateRequest, listener: Listener | None = None) -> GateReport:
    """Run the stages, each in a process of its own; raises UsageError and HarnessError."""
    listener = listener or Listener()
    stages = chosen_stages(request)
    Target.parse(request.target)
    if request.coverage:
        coverage_report.available()
    contract = contract_named(request.contract or next(iter(CONTRACTS)))
    reports: list[StageReport] = []
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        files = {
            stage: str(Path(folder) / f"{stage}.coverage") if request.coverage else "" for stage in stages
        }
        for stage in stages:
            listener.stage_began(stage)
            report = run_isolated(
                _job(request, contract, stage, files[stage]),
                request.budget.stage_limit_s + (request.soak_seconds or 0),
                _forward(listener, stage),
            )
            listener.stage_ended(report)
            reports.append(report)
            if request.stop_at_first and report.findings:
                break
        missed = coverage_report.unreached(list(files.values())) if request.coverage else {}
    return conclude(request, contract, reports, missed)


def chosen_stages(request: GateRequest) -> tuple[str, ...]:
    """The stages to run, in their order; raises UsageError for an unknown one."""
    for stage in request.stages:
        if stage not in STAGES:
            raise UsageError(f"there is no stage {stage!r}; the stages are: {', '.join(STAGES)}")
    return tuple(stage for stage in STAGES if not request.stages or stage in request.stages)


def _forward(listener: Listener, stage: str) -> Callable[[int, int], None]:
    return lambda executions, operations: listener.stage_moved(stage, executions, operations)


def _job(request: GateRequest, contract: Contract, stage: str, coverage: str) -> StageJob:
    return StageJob(
        stage=stage,
        target=request.target,
        contract=contract.name,
        adapter=request.adapter.to_tables(),
        seed=request.seed,
        examples=request.budget.examples,
        pace=request.budget.pace,
        stop_at_first=request.stop_at_first,
        remember=request.remember,
        scenarios=request.scenarios,
        counts=request.counts,
        soak_seconds=request.soak_seconds,
        coverage=coverage,
        adapter_file=request.adapter_file,
        budget=request.budget_text if request.budget != BUDGETS["default"] else "",
    )


def conclude(
    request: GateRequest,
    contract: Contract,
    reports: Sequence[StageReport],
    coverage: dict[str, dict[str, Any]],
) -> GateReport:
    """Add up stage reports to a verdict per clause and one for all."""
    if request.strict:
        reports = [_strictly(report) for report in reports]
    clauses = tuple(_clause_verdict(clause, reports, bool(request.scenarios)) for clause in contract.clauses)
    reasons = [f"{report.stage}: never happened: {claim}" for report in reports for claim in report.unmet]
    reasons += [
        f"{item.clause.id}: {item.reason}"
        for item in clauses
        if item.verdict is Verdict.UNKNOWN and (item.clause.level is Level.MUST or request.strict)
    ]
    verdict = Verdict.worst(report.verdict for report in reports)
    if verdict is Verdict.OK and reasons:
        verdict = Verdict.UNKNOWN
    return GateReport(request, contract, tuple(reports), clauses, verdict, tuple(reasons), coverage)


def _strictly(report: StageReport) -> StageReport:
    """Advice counts as a violation."""
    findings = tuple(replace(finding, advisory=False) for finding in report.findings)
    return replace(report, findings=findings, verdict=Verdict.VIOLATION if findings else report.verdict)


def _clause_verdict(clause: Clause, reports: Sequence[StageReport], partial: bool) -> ClauseVerdict:
    checked = sum(
        tally.checked for report in reports for tally in report.tallies if tally.clause == clause.id
    )
    broken = [finding for report in reports for finding in report.findings if finding.clause == clause.id]
    if broken:
        advice = all(finding.advisory for finding in broken)
        return ClauseVerdict(
            clause, Verdict.UNKNOWN if advice else Verdict.VIOLATION, checked, broken[0].message
        )
    missing = {text.partition(":")[0]: text for report in reports for text in report.skipped}
    lacking = sorted(clause.needs & set(missing))
    if lacking:
        return ClauseVerdict(clause, Verdict.SKIPPED, checked, "; ".join(missing[name] for name in lacking))
    if checked:
        return ClauseVerdict(clause, Verdict.OK, checked)
    ran = {report.stage for report in reports}
    if partial or not ran & set(clause.checked_by):
        return ClauseVerdict(clause, Verdict.SKIPPED, 0, NOT_RUN)
    return ClauseVerdict(clause, Verdict.UNKNOWN, 0, "nothing that was run could decide it")
