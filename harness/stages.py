"""The stages of a gate, as the child process runs them.

A `StageJob` is everything a stage needs, as plain data: it crosses the process boundary as JSON.
New stages are entries of `STAGES`; the gate, the reports and the command line know them by name.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Self

from harness.contracts import contract_named
from harness.contracts.adapter import Adapter
from harness.contracts.records import Contract
from harness.findings import HarnessError, StageReport, UsageError, Verdict
from harness.scenario import Scenario
from harness.targets.locate import Target

__all__ = ["STAGES", "Progress", "StageJob", "run_stage", "scenarios_of"]

Progress = Callable[[int, int], None]

SCENARIOS_GROUP = "job_harness.scenarios"


@dataclass(frozen=True, slots=True)
class StageJob:
    """One stage on one target.

    `examples` is the number of generated programs, `pace` the factor on every scenario's seconds,
    `scenarios` the names to run (all if empty), `counts` the strands per role. `remember` is whether
    Hypothesis' database is used. `coverage` is a data file to measure the implementation into, empty
    for none. `adapter_file` and `budget` are as the user wrote them, for commands that reproduce a
    finding.
    """

    stage: str
    target: str
    contract: str
    adapter: dict[str, Any]
    seed: int
    examples: int
    pace: float
    stop_at_first: bool = False
    remember: bool = True
    scenarios: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    soak_seconds: float | None = None
    coverage: str = ""
    memory_mb: int = 4096
    adapter_file: str = ""
    budget: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON value; `from_json` is its inverse."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Rebuild a job from `to_json`."""
        counts = tuple((name, count) for name, count in value["counts"])
        return cls(**{**value, "scenarios": tuple(value["scenarios"]), "counts": counts})

    @property
    def reproduce(self) -> str:
        """The command that runs this stage again, alone."""
        options = {"--adapter": self.adapter_file, "--budget": self.budget, "--seed": str(self.seed or "")}
        words = ["harness", "gate", self.target, "--contract", self.contract, "--stage", self.stage]
        words += [word for name, value in options.items() if value for word in (name, value)]
        return shlex.join(words)


def scenarios_of(contract: str) -> tuple[Scenario, ...]:
    """All scenarios for a contract that are installed; raises HarnessError if one cannot be loaded."""
    found: list[Scenario] = []
    for entry in sorted(entry_points(group=SCENARIOS_GROUP), key=lambda entry: entry.value):
        try:
            loaded = entry.load()
        except Exception as error:
            raise HarnessError(
                f"scenarios {entry.value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        found.extend(scenario for scenario in loaded if scenario.contract == contract)
    return tuple(found)


def run_stage(job: StageJob, progress: Progress) -> StageReport:
    """Run one stage in this process; raises UsageError or HarnessError."""
    return STAGES[job.stage](job, progress)


def _run_canary(job: StageJob, progress: Progress) -> StageReport:
    """The same configuration must find bugs planted around this very implementation."""
    from harness.stateful.progress import Progress as Count
    from harness.stateful.stage import generated_failures

    contract, surroundings = _surroundings(job)
    count = Count(progress)
    unmet = []
    sequential = surroundings.sabotaged(contract.saboteurs["sequential"])
    if not generated_failures(
        sequential, count, f"canary of {job.target}", job.examples, job.seed, remember=False
    ):
        unmet.append("generated programs found a planted bug")
    rounds = _canary_race(job, contract)
    if rounds is None:
        unmet.append("stress found a planted race")
    return StageReport(
        stage="canary",
        verdict=Verdict.UNKNOWN if unmet else Verdict.OK,
        executions=count.executions + (rounds or 0),
        operations=count.operations,
        unmet=tuple(unmet),
        skipped=tuple(f"{name}: {why}" for name, why in sorted(surroundings.binding.missing.items())),
    )


def _canary_race(job: StageJob, contract: Contract) -> int | None:
    """Rounds until stress found a race planted in the implementation; None if it did not."""
    from harness.stress.stage import find_planted_race

    return find_planted_race(_binding(job, contract), scenarios_of(contract.name), _places(job), job.seed)


def _run_sequential(job: StageJob, progress: Progress) -> StageReport:
    from harness.stateful.stage import run_sequential

    _, surroundings = _surroundings(job)
    report = run_sequential(
        surroundings,
        target=job.target,
        adapter_file=job.adapter_file,
        examples=job.examples,
        seed_number=job.seed,
        stop_at_first=job.stop_at_first,
        remember=job.remember,
        report=progress,
    )
    return dataclasses.replace(
        report,
        findings=tuple(dataclasses.replace(finding, reproduce=job.reproduce) for finding in report.findings),
    )


def _run_stress(job: StageJob, progress: Progress) -> StageReport:
    from harness.stress.stage import run_stress

    contract = contract_named(job.contract)
    return run_stress(
        job, _binding(job, contract), chosen_scenarios(job), [] if job.coverage else _places(job), progress
    )


def chosen_scenarios(job: StageJob) -> tuple[Scenario, ...]:
    """The scenarios that a job names, with its role counts; raises UsageError for unknown names."""
    available = {scenario.name: scenario for scenario in scenarios_of(job.contract)}
    for name in job.scenarios:
        if name not in available:
            raise UsageError(
                f"there is no scenario {name!r} for {job.contract}; there are: {', '.join(available)}"
            )
    chosen = [available[name] for name in job.scenarios] if job.scenarios else list(available.values())
    if job.counts:
        chosen = [scenario.with_counts(dict(job.counts)) for scenario in chosen]
    return tuple(chosen)


def _surroundings(job: StageJob) -> tuple[Contract, Any]:
    from harness.stateful.surroundings import Surroundings

    contract = contract_named(job.contract)
    return contract, Surroundings.of(Target.parse(job.target), contract, Adapter.from_tables(job.adapter))


def _binding(job: StageJob, contract: Contract) -> Any:
    """The target in the ordinary world, where threads are real."""
    from harness.stress.records import SlowRecord
    from harness.targets.locate import OrdinaryImporter
    from harness.targets.subject import Binding

    factory = Target.parse(job.target).factory(OrdinaryImporter())
    binding = Binding(contract, factory, Adapter.from_tables(job.adapter), SlowRecord)
    binding.examine()
    return binding


def _places(job: StageJob) -> list[Path]:
    """Where the code under test lies: the target's file, or its top-level package."""
    return Target.parse(job.target).places()


STAGES: dict[str, Callable[[StageJob, Progress], StageReport]] = {
    "canary": _run_canary,
    "sequential": _run_sequential,
    "stress": _run_stress,
}
"""In the order of a gate."""
