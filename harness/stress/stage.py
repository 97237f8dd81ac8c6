"""The stress stage: every scenario of the contract on real threads, within its seconds."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.findings import ClauseTally, StageReport, UsageError, Verdict
from harness.job import StageJob
from harness.scenario import Scenario
from harness.stress.judge import StressJudge
from harness.stress.noise import Noise
from harness.stress.runner import ScenarioRun
from harness.targets.subject import Binding, NotMade

__all__ = ["find_planted_race", "run_stress"]

STAGE = "stress"
_CANARY_SECONDS = 5.0


def run_stress(
    job: StageJob,
    binding: Binding,
    scenarios: Sequence[Scenario],
    noisy_places: Sequence[Path],
    progress: Callable[[int, int], None],
    judging: Callable[[bool], None] = lambda begins: None,
) -> StageReport:
    """Run the scenarios one after the other; a hang ends one scenario, never the stage.

    `judging` hears when the harness itself is at work on a history: time spent there is not the
    implementation's.
    """
    judge = StressJudge(binding.contract, STAGE)
    noise = Noise(noisy_places) if noisy_places else None
    rounds = operations = 0
    unmet: list[str] = []
    skipped: list[str] = []
    details: dict[str, int] = {}
    for scenario in scenarios:
        lacking = sorted(scenario.needs & set(binding.missing))
        if lacking:
            skipped.append(f'scenario "{scenario.name}": no {" and no ".join(lacking)}')
            continue
        refusal = _refusal(binding, scenario)
        if refusal:
            skipped.append(f'scenario "{scenario.name}": {refusal}')
            continue
        judge.reproduce = f"{job.reproduce} --scenario {shlex.quote(scenario.name)}"
        run = ScenarioRun(
            scenario,
            binding,
            judge,
            job.seed,
            noise,
            progress=_after(rounds, operations, progress),
            judging=judging,
        )
        run.run(_seconds(job, scenario), lambda: bool(job.stop_at_first and judge.breaches))
        rounds += run.rounds
        operations += run.operations
        details[scenario.name] = run.rounds
        broken = bool(judge.breaches)
        unmet.extend(f'scenario "{scenario.name}": {claim}' for claim in run.unmet() if not broken)
        if job.stop_at_first and broken:
            break
    findings = judge.findings()
    violated = any(not finding.advisory for finding in findings)
    return StageReport(
        stage=STAGE,
        verdict=Verdict.VIOLATION if violated else Verdict.UNKNOWN if unmet else Verdict.OK,
        executions=rounds,
        operations=operations,
        findings=findings,
        tallies=tuple(ClauseTally(*pair) for pair in sorted(judge.checked.items())),
        unmet=tuple(unmet),
        skipped=tuple(skipped),
        notes=() if noise else ("no forced switches: coverage uses the trace function",),
        details={"rounds": details},
    )


def _refusal(binding: Binding, scenario: Scenario) -> str:
    """Why the implementation does not accept a scenario's bounds; empty if it does."""
    known = {name: value for name, value in scenario.configuration.items() if name not in binding.missing}
    try:
        binding.create(known)
    except UsageError as error:
        return str(error)
    except NotMade:  # no refusal but a finding, which the scenario's first round makes
        return ""
    return ""


def _after(rounds: int, operations: int, progress: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Progress of one scenario, on top of what the ones before it did."""
    return lambda more_rounds, more_operations: progress(rounds + more_rounds, operations + more_operations)


def _seconds(job: StageJob, scenario: Scenario) -> float:
    if scenario.soak and job.soak_seconds is not None:
        return job.soak_seconds
    return scenario.seconds * job.pace


def find_planted_race(
    binding: Binding, scenarios: Sequence[Scenario], noisy_places: Sequence[Path], seed: int
) -> int | None:
    """Rounds that stress needed to find a race planted around the implementation, None if it did not.

    The first scenario is the contract's choice for it.
    """
    judge = StressJudge(binding.contract, "canary")
    noise = Noise(noisy_places) if noisy_places else None
    run = ScenarioRun(scenarios[0], binding, judge, seed, noise, sabotage=binding.contract.saboteurs[STAGE])
    run.run(_CANARY_SECONDS, lambda: bool(judge.breaches))
    return run.rounds if judge.breaches else None
