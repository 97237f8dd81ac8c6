"""The stages of a gate, as the child process runs them.

A new stage is an entry of `RUNNERS` and a name in `harness.job.STAGES`; the gate, the reports and
the command line know stages by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from harness.contracts import contract_named
from harness.contracts.adapter import Adapter
from harness.contracts.records import Contract
from harness.control.virtual import NeedsThreads
from harness.findings import StageReport, Verdict
from harness.job import LOOK, StageJob
from harness.scenario import chosen_scenarios, installed_scenarios
from harness.stateful.progress import Progress as Count
from harness.stateful.stage import generated_failures, run_sequential
from harness.stateful.surroundings import Surroundings
from harness.stress.records import SlowRecord
from harness.stress.stage import find_planted_race, run_stress
from harness.targets.locate import OrdinaryImporter, Target
from harness.targets.subject import Binding

__all__ = ["RUNNERS", "run_stage"]

Progress = Callable[[int, int], None]
Judging = Callable[[bool], None]


def run_stage(job: StageJob, progress: Progress, judging: Judging = lambda begins: None) -> StageReport:
    """Run one stage in this process; raises UsageError or HarnessError."""
    return RUNNERS[job.stage](job, progress, judging)


def _look(job: StageJob, progress: Progress, judging: Judging) -> StageReport:
    """Nothing but what every stage does first: import the target, make an instance, examine it."""
    return _in_its_time(job, lambda surroundings: StageReport(stage=LOOK, verdict=Verdict.OK))


def _run_canary(job: StageJob, progress: Progress, judging: Judging) -> StageReport:
    """The same configuration must find bugs planted around this very implementation."""
    return _in_its_time(job, lambda surroundings: _canary(job, surroundings, progress))


def _canary(job: StageJob, surroundings: Surroundings, progress: Progress) -> StageReport:
    contract = surroundings.binding.contract
    count = Count(progress)
    unmet = []
    planted = surroundings.sabotaged(contract.saboteurs["sequential"])
    if not generated_failures(
        planted, count, f"canary of {job.target}", job.examples, job.seed, remember=False
    ):
        unmet.append("generated programs found a planted bug")
    rounds = _canary_race(job, contract)
    if rounds is None:
        unmet.append("stress found a planted race")
    interleavings = _canary_interleaving(job, contract)
    if interleavings is None:
        unmet.append("the explorer found a planted race")
    return StageReport(
        stage="canary",
        verdict=Verdict.UNKNOWN if unmet else Verdict.OK,
        executions=count.executions + (rounds or 0) + (interleavings or 0),
        operations=count.operations,
        unmet=tuple(unmet),
        skipped=tuple(f"{name}: {why}" for name, why in sorted(surroundings.binding.missing.items())),
    )


def _in_its_time(job: StageJob, run: Callable[[Surroundings], StageReport]) -> StageReport:
    """Run in virtual time, or in real time if the implementation turns out to need it."""
    target, contract = Target.parse(job.target, job.folder, job.instrument), contract_named(job.contract)
    adapter = Adapter.from_tables(job.adapter, job.adapter_file)
    try:
        surroundings = Surroundings.of(target, contract, adapter)
        with surroundings.in_virtual_time():
            return run(surroundings)
    except NeedsThreads as error:
        return run(Surroundings.in_real_time(target, contract, adapter, str(error)))


def _canary_race(job: StageJob, contract: Contract) -> int | None:
    """Rounds until stress found a race planted in the implementation; None if it did not."""
    return find_planted_race(
        _binding(job, contract), installed_scenarios(contract.name), _places(job), job.seed
    )


def _run_sequential(job: StageJob, progress: Progress, judging: Judging) -> StageReport:
    report = _in_its_time(
        job,
        lambda surroundings: run_sequential(
            surroundings,
            target=job.target,
            examples=job.examples,
            seed_number=job.seed,
            stop_at_first=job.stop_at_first,
            remember=job.remember,
            adapter_file=job.adapter_file,
            report=progress,
        ),
    )
    findings = tuple(dataclasses.replace(finding, reproduce=job.reproduce) for finding in report.findings)
    return dataclasses.replace(report, findings=findings)


def _canary_interleaving(job: StageJob, contract: Contract) -> int | None:
    """Executions until the explorer found a race planted in the implementation; None if it did not."""
    if find_spec("greenlet") is None:
        return 0  # the stage is shown as skipped
    from harness.explore.stage import find_planted_interleaving

    return find_planted_interleaving(job, contract, installed_scenarios(contract.name))


def _run_interleavings(job: StageJob, progress: Progress, judging: Judging) -> StageReport:
    if find_spec("greenlet") is None:
        why = "interleavings: greenlet is not installed, and without it nothing can be controlled"
        return StageReport(stage="interleavings", verdict=Verdict.SKIPPED, notes=(why,))
    from harness.explore.stage import run_interleavings

    scenarios = chosen_scenarios(job.contract, job.scenarios, job.counts)
    return run_interleavings(job, contract_named(job.contract), scenarios, progress)


def _run_stress(job: StageJob, progress: Progress, judging: Judging) -> StageReport:
    contract = contract_named(job.contract)
    scenarios = chosen_scenarios(job.contract, job.scenarios, job.counts)
    binding = _binding(job, contract)
    noisy = [] if job.coverage else _places(job)  # known once the target is imported
    return run_stress(job, binding, scenarios, noisy, progress, judging)


def _binding(job: StageJob, contract: Contract) -> Binding:
    """The target in the ordinary world, where threads are real."""
    factory = Target.parse(job.target, job.folder, job.instrument).factory(OrdinaryImporter())
    adapter = Adapter.from_tables(job.adapter, job.adapter_file)
    binding = Binding(contract, factory, adapter, SlowRecord)
    binding.examine()
    return binding


def _places(job: StageJob) -> list[Path]:
    """Where the code under test lies: the target's file, or its top-level package."""
    return Target.parse(job.target, job.folder, job.instrument).places()


RUNNERS: dict[str, Callable[[StageJob, Progress, Judging], StageReport]] = {
    LOOK: _look,
    "canary": _run_canary,
    "sequential": _run_sequential,
    "interleavings": _run_interleavings,
    "stress": _run_stress,
}
