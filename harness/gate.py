"""The gate: the stages in order, and how they add up to a verdict.

A clause is OK when a stage decided it and nothing broke it; SKIPPED when the target lacks what it
needs; UNKNOWN when no stage that ran could decide it. A gate is a VIOLATION if any MUST clause is
broken; UNKNOWN if the canary was missed, a *sometimes* claim never held or a MUST clause stayed
undecided; OK only otherwise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import coverage_report
from harness.contracts import CONTRACTS, contract_named
from harness.contracts.records import Clause, Contract, Level
from harness.findings import StageReport, UsageError, Verdict
from harness.isolation.parent import run_isolated
from harness.job import LOOK, PLAYING, SOAKING, STAGES, StageJob
from harness.outcome import BUDGETS, NOT_RUN, UNDECIDED, ClauseVerdict, GateReport, GateRequest, Listener
from harness.scenario import chosen_scenarios
from harness.targets.locate import Target

__all__ = ["chosen_stages", "conclude", "look", "run_gate"]

_LOOK_S = 20.0  # a target that takes longer is left to the stages: they have evidence to show for it


def run_gate(request: GateRequest, listener: Listener | None = None) -> GateReport:
    """Run the stages, each in a process of its own; raises UsageError and HarnessError."""
    listener = listener or Listener()
    stages = chosen_stages(request)
    Target.parse(request.target)
    if request.coverage:
        coverage_report.available()
    contract = contract_named(request.contract or next(iter(CONTRACTS)))
    chosen_scenarios(contract.name, request.scenarios, request.counts)  # raises before any stage has run
    _check_options(request, stages)
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


def look(request: GateRequest) -> None:
    """Find out in a process of its own whether the target can be used; raises UsageError if not.

    Of whatever else is wrong with it nothing is said: the stages will.
    """
    contract = contract_named(request.contract or next(iter(CONTRACTS)))
    run_isolated(_job(request, contract, LOOK, ""), _LOOK_S, lambda executions, operations: None)


def chosen_stages(request: GateRequest) -> tuple[str, ...]:
    """The stages to run, in their order; raises UsageError for an unknown one."""
    for stage in request.stages:
        if stage not in STAGES:
            raise UsageError(f"there is no stage {stage!r}; the stages are: {', '.join(STAGES)}")
    return tuple(stage for stage in STAGES if not request.stages or stage in request.stages)


def _check_options(request: GateRequest, stages: Sequence[str]) -> None:
    """What is asked of scenarios must reach a stage that plays them; raises UsageError."""
    for option, given, served in (
        ("--scenario", bool(request.scenarios), PLAYING),
        ("--count", bool(request.counts), PLAYING),
        ("--duration", request.soak_seconds is not None, SOAKING),
    ):
        if given and not set(stages) & set(served):
            raise UsageError(
                f"{option} is for the stage{'s' * (len(served) > 1)} {' and '.join(served)}, "
                f"and only {' and '.join(stages)} {'were' if len(stages) > 1 else 'was'} asked for"
            )


def _forward(listener: Listener, stage: str) -> Callable[[int, int], None]:
    return lambda executions, operations: listener.stage_moved(stage, executions, operations)


def _job(request: GateRequest, contract: Contract, stage: str, coverage: str) -> StageJob:
    return StageJob(
        stage=stage,
        target=request.target,
        folder=str(Path.cwd()),
        instrument=request.instrument,
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
        executions=request.budget.executions,
        seeds=request.seeds,
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
    verdict = Verdict.worst(report.verdict for report in reports)
    reasons = [f"{report.stage}: never happened: {claim}" for report in reports for claim in report.unmet]
    if verdict is not Verdict.VIOLATION:  # what stayed undecided is no news beside what is broken
        reasons += [
            f"{item.clause.id}: {item.reason}"
            for item in clauses
            if item.verdict is Verdict.UNKNOWN and (item.clause.level is Level.MUST or request.strict)
        ]
    if verdict is Verdict.OK and not any(item.verdict is Verdict.OK for item in clauses):
        reasons.append("no clause was decided")
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
    return ClauseVerdict(clause, Verdict.UNKNOWN, 0, UNDECIDED)
