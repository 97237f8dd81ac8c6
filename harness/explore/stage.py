"""The interleavings stage: kept seeds first, then every scenario of the contract under control."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.contracts.adapter import Adapter
from harness.contracts.records import Contract
from harness.control.failures import FailureKind
from harness.control.trace import TraceRecorder
from harness.explore.exploration import Effort, Exploration, Found
from harness.explore.explorer import explored_in
from harness.explore.scenarios import STAGE, ScenarioLaboratory
from harness.findings import ClauseTally, Finding, HarnessError, Kind, StageReport, UsageError, Verdict
from harness.job import StageJob
from harness.report.interleaving import interleaving_story
from harness.scenario import Scenario
from harness.seeds.schedule import Seed
from harness.seeds.store import SeedStore, replay_command, stale
from harness.strategies.replay import Replay
from harness.targets.locate import Target

__all__ = ["find_planted_interleaving", "run_interleavings"]

_CANARY_EXECUTIONS = 200
_WIDTH = 76  # what stays of 80 columns below a finding's indentation
_USUAL_STRANDS = 4
_FEWEST = 10


def run_interleavings(
    job: StageJob, contract: Contract, scenarios: Sequence[Scenario], progress: Callable[[int, int], None]
) -> StageReport:
    """Explore the scenarios one after the other; each ends at its first failure, the stage goes on."""
    run = _Run(job, contract, scenarios, progress)
    if run.laboratory is None:
        return StageReport(STAGE, Verdict.SKIPPED, notes=(f"interleavings: not under control: {run.why}",))
    run.replay_kept()
    for scenario in scenarios:
        if (job.stop_at_first and run.findings) or run.why:
            break
        run.explore(scenario)
    return run.report()


def find_planted_interleaving(job: StageJob, contract: Contract, scenarios: Sequence[Scenario]) -> int | None:
    """Executions until a race planted around the implementation was found; None if it was not.

    Zero if the implementation cannot be put under control at all: then there is no stage to trust.
    """
    sabotage = contract.saboteurs[STAGE]
    try:
        laboratory = _laboratory(job, contract, scenarios[0], sabotage)
    except HarnessError:
        return 0
    effort = Effort(executions=_CANARY_EXECUTIONS, seed=job.seed)
    try:
        outcome = explored_in(laboratory, replace(effort, shrink=False), _deaf)
    except HarnessError:
        return 0
    return outcome.executions if outcome.found is not None else None


def _laboratory(
    job: StageJob, contract: Contract, scenario: Scenario, sabotage: Callable[[Any], Any] | None = None
) -> ScenarioLaboratory:
    return ScenarioLaboratory(
        scenario,
        Target.parse(job.target, job.folder, job.instrument),
        contract,
        Adapter.from_tables(job.adapter),
        seed=job.seed,
        sabotage=sabotage,
    )


class _Run:
    """One stage in progress."""

    def __init__(
        self,
        job: StageJob,
        contract: Contract,
        scenarios: Sequence[Scenario],
        progress: Callable[[int, int], None],
    ) -> None:
        self.findings: dict[str, Finding] = {}
        self.why = ""
        self._job, self._contract, self._progress = job, contract, progress
        self._scenarios = {scenario.name: scenario for scenario in scenarios}
        self._executions = self._distinct = 0
        self._seconds = 0.0
        self._notes: list[str] = []
        self._skipped: list[str] = []
        self._unmet: list[str] = []
        self._store = SeedStore(Path(job.folder, job.seeds)) if job.seeds else None
        self.laboratory: ScenarioLaboratory | None = None
        try:
            self.laboratory = _laboratory(job, contract, scenarios[0])
        except UsageError:
            raise
        except HarnessError as error:
            self.why = str(error)

    def replay_kept(self) -> None:
        """Replay the kept seeds of this target and contract."""
        for path, seed in self._store or ():
            if isinstance(seed, UsageError):
                self._notes.append(f"seed ignored: {seed}")
            elif (seed.fields.get("target"), seed.fields.get("contract")) == (
                self._job.target,
                self._contract.name,
            ):
                self._replay(path, seed)

    def _replay(self, path: Path, seed: Seed) -> None:
        assert self.laboratory is not None
        scenario = self._scenarios.get(seed.fields.get("scenario", ""))
        if scenario is None:
            self._notes.append(f"seed {path.name}: its scenario {seed.fields.get('scenario')!r} is not run")
            return
        self.laboratory.turn_to(scenario)
        recorder, replay = TraceRecorder(), Replay(seed.schedule)
        ended = self.laboratory.run(replay, recorder)
        self._executions += 1
        if ended.failure is not None:
            preemptions = sum(step.preempts for step in recorder.steps)
            found = Found(
                ended.failure, seed.schedule, 1, "kept seed", tuple(recorder.steps), preemptions, 1, 1
            )
            self._add(scenario, found, path)
        elif replay.missed:
            self._notes.append(stale(path, replay.missed))

    def explore(self, scenario: Scenario) -> None:
        """Explore one scenario."""
        laboratory = self.laboratory
        assert laboratory is not None
        lacking = sorted(scenario.needs & set(laboratory.binding.missing))
        refusal = f"no {' and no '.join(lacking)}" if lacking else laboratory.refusal(scenario)
        if refusal:
            self._skipped.append(f"scenario {scenario.name}: {refusal}")
            return
        laboratory.turn_to(scenario)
        before, operations = self._executions, laboratory.operations
        effort = Effort(
            executions=_share(self._job.executions, scenario),
            seed=self._job.seed,
            strategy="random" if scenario.fair else "portfolio",
            shrink=not self._job.stop_at_first,
        )
        try:
            outcome = explored_in(
                laboratory,
                effort,
                lambda done, steps, distinct: self._progress(
                    before + done, operations + laboratory.operations
                ),
            )
        except HarnessError as error:
            self.why = str(error)
            return
        self._executions += outcome.executions
        self._distinct += outcome.distinct
        self._seconds += outcome.seconds
        self._judge(scenario, outcome)

    def _judge(self, scenario: Scenario, outcome: Exploration) -> None:
        assert self.laboratory is not None
        if outcome.found is not None and outcome.verdict is Verdict.VIOLATION:
            self._add(scenario, outcome.found, None)
            return
        self._notes += [f"scenario {scenario.name}: {reason}" for reason in outcome.reasons]
        if outcome.verdict is Verdict.UNKNOWN:
            self._unmet.append(f"{scenario.name}: {'; '.join(outcome.reasons)}")
        if outcome.cut:
            self._notes.append(f"scenario {scenario.name}: {outcome.cut} executions reached the step bound")

    def _add(self, scenario: Scenario, found: Found, path: Path | None) -> None:
        failure = found.failure
        finding = self._finding_of(scenario, found)
        if finding.clause in self.findings:
            return
        if path is None and self._store is not None and self._job.remember:
            seed = Seed(found.schedule, self._fields(scenario, found))
            path = self._store.keep(seed, f"{self._contract.name}-{finding.clause or failure.kind.value}")
        reproduce = self._again(scenario)
        if path is not None:  # below the folder as it was given, from where the gate was started
            reproduce = replay_command(Path(self._job.seeds, path.name))
        self.findings[finding.clause] = replace(
            finding,
            stage=STAGE,
            program=interleaving_story(found, _WIDTH),
            reproduce=reproduce,
        )

    def _again(self, scenario: Scenario) -> str:
        return f"{self._job.reproduce} --scenario {shlex.quote(scenario.name)}"

    def _finding_of(self, scenario: Scenario, found: Found) -> Finding:
        """The judge's own finding for a broken claim, else one on the clause that the failure breaks."""
        assert self.laboratory is not None
        failure = found.failure
        if failure.error_type in {clause.id for clause in self._contract.clauses}:
            return self.laboratory.judge.latest(failure.error_type)
        stuck = failure.kind in (FailureKind.DEADLOCK, FailureKind.LOST_WAKEUP, FailureKind.LIVELOCK)
        clause = scenario.hang if stuck else ""
        norm = (self._contract.clause(clause).norm,) if clause else ()
        return Finding(
            kind=Kind.HANG if stuck else Kind.EXCEPTION,
            clause=clause,
            message=f"{failure.kind.value}: {failure.message} (scenario {scenario.name})",
            stage=STAGE,
            where=failure.where if not stuck else "",
            evidence=norm,
        )

    def _fields(self, scenario: Scenario, found: Found) -> dict[str, str]:
        return {
            "target": self._job.target,
            "contract": self._contract.name,
            "adapter": self._job.adapter_file,
            "scenario": scenario.name,
            "instrument": " ".join(self._job.instrument),
            "counts": " ".join(f"{name}={count}" for name, count in self._job.counts),
            "seed": str(self._job.seed),
            "finding": found.failure.error_type or found.failure.kind.value,
            "message": found.failure.message,
        }

    def _verdict(self, violated: bool) -> Verdict:
        if violated:
            return Verdict.VIOLATION
        if self.why:
            return Verdict.SKIPPED
        return Verdict.UNKNOWN if self._unmet else Verdict.OK

    def report(self) -> StageReport:
        """What the stage did and found."""
        laboratory = self.laboratory
        assert laboratory is not None
        order = ["", *(clause.id for clause in self._contract.clauses)]
        findings = tuple(self.findings[clause] for clause in order if clause in self.findings)
        violated = any(not finding.advisory for finding in findings)
        checked = laboratory.judge.checked
        if self.why:
            self._notes.append(f"interleavings: not under control: {self.why}")
        return StageReport(
            stage=STAGE,
            verdict=self._verdict(violated),
            executions=self._executions,
            operations=laboratory.operations,
            findings=findings,
            tallies=tuple(ClauseTally(*pair) for pair in sorted(checked.items())),
            unmet=tuple(self._unmet),
            skipped=tuple(self._skipped),
            notes=tuple(self._notes),
            details={
                "distinct": self._distinct,
                "executions_per_second": round(self._executions / self._seconds) if self._seconds else 0,
            },
        )


def _share(executions: int, scenario: Scenario) -> int:
    """How many executions a scenario gets: small ones are cheap, and have fewer orders to try by luck."""
    strands = sum(role.count for role in scenario.roles)
    return max(_FEWEST, executions * _USUAL_STRANDS // max(2, strands))


def _deaf(executions: int, steps: int, distinct: int) -> None:
    return None
