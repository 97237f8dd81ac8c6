"""Replaying kept seeds from the command line: the same failure at once, or the news that it is gone."""

from __future__ import annotations

import pdb  # noqa: T100  it is what --pdb is for
import traceback
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.contracts import contract_named
from harness.contracts.adapter import Adapter
from harness.control.runtime import Ended
from harness.control.trace import Step, TraceRecorder
from harness.explore.exploration import Effort, Exploration, Found
from harness.explore.explorer import laboratory_for
from harness.explore.inline import conducted, numbered, unexplored
from harness.explore.laboratory import Laboratory, ProgramLaboratory
from harness.explore.naming import called_plainly, test_named
from harness.explore.origin import Origin
from harness.explore.program import Program
from harness.explore.scenarios import ScenarioLaboratory
from harness.findings import UsageError, Verdict
from harness.report.interleaving import interleaving_text, trace_lines
from harness.scenario import chosen_scenarios
from harness.seeds.schedule import Seed
from harness.seeds.store import read_seed, stale
from harness.strategies.replay import Replay
from harness.targets.locate import Target

__all__ = ["Replayed", "replay_file"]

_REPLAYS = 10


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a seed: VIOLATION if it fails again, OK if it passes, UNKNOWN if it is stale."""

    verdict: Verdict
    text: str


def replay_file(path: Path, width: int, trace: bool = False, debug: bool = False) -> Replayed:
    """Replay one seed file; raises UsageError if it cannot be read or what it names is not there."""
    seed = read_seed(path)
    origin = Origin.of(seed)
    if not origin.test:
        return _replayed(_gate_laboratory(path, seed), path, seed, width, trace, debug)
    test = test_named(origin.test, str(path))
    instrument = tuple(seed.fields.get("instrument", "").split())
    if not origin.exploration:
        whole = partial(test, **origin.values()) if origin.arguments else test
        laboratory = ProgramLaboratory(whole, instrument=instrument)
        return _replayed(laboratory, path, seed, width, trace, debug)
    answers: list[Replayed] = []

    def conduct(program: Program, effort: Effort) -> Exploration:
        if (program.name or numbered(origin.test)) == origin.exploration:
            answers.append(_replayed(laboratory_for(program, effort), path, seed, width, trace, debug))
        return unexplored()

    try:
        with conducted(conduct):
            called_plainly(test, str(path))
    except UsageError:
        if not answers:
            raise
    if not answers:
        raise UsageError(f"{path}: the test comes to no exploration {origin.exploration!r} any more")
    return answers[0]


def _replayed(
    laboratory: Laboratory, path: Path, seed: Seed, width: int, trace: bool, debug: bool
) -> Replayed:
    recorder, replay = TraceRecorder(), Replay(seed.schedule)
    if debug:
        laboratory.runtime.on_failure = _debugged
    ended = laboratory.run(replay, recorder)
    laboratory.runtime.on_failure = None
    shown = "\n".join(trace_lines(recorder.steps, width)) + "\n\n" if trace else ""
    if ended.failure is not None:
        again = 1 + sum(
            laboratory.run(Replay(seed.schedule)).failure is not None for _ in range(_REPLAYS - 1)
        )
        found = _found(seed, ended, recorder.steps, again)
        text = interleaving_text(found, width)
        if replay.missed:
            text += f"\n(the failure came before all of the schedule was used: {replay.missed})"
        if debug and ended.failure.waits:
            text += "\n(--pdb stops where a task raises; here none did, they wait where it says above)"
        return Replayed(Verdict.VIOLATION, shown + text)
    if replay.missed:
        told = f"{stale(path, replay.missed)} or explore again for a new one. Nothing failed"
        return Replayed(Verdict.UNKNOWN, shown + told)
    message = seed.fields.get("message", "")
    return Replayed(
        Verdict.OK, f"{shown}{path.name} passes: the schedule applies and no longer shows: {message}"
    )


def _found(seed: Seed, ended: Ended, steps: list[Step], again: int) -> Found:
    assert ended.failure is not None
    preemptions = sum(step.preempts for step in steps)
    return Found(ended.failure, seed.schedule, 1, "replay", tuple(steps), preemptions, again, _REPLAYS)


def _gate_laboratory(path: Path, seed: Seed) -> Laboratory:
    fields = seed.fields
    for name in ("target", "contract", "scenario"):
        if name not in fields:
            raise UsageError(f"{path}: this seed says neither a test nor a {name}, so nothing can be run")
    contract = contract_named(fields["contract"])
    counts = tuple(
        (role, int(count))
        for role, _, count in (item.partition("=") for item in fields.get("counts", "").split())
    )
    try:
        [scenario] = chosen_scenarios(contract.name, (fields["scenario"],), counts)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    adapter = Adapter.load(Path(fields["adapter"])) if fields.get("adapter") else Adapter()
    number = int(fields.get("seed", "0") or 0)
    target = Target.parse(fields["target"], instrument=fields.get("instrument", "").split())
    return ScenarioLaboratory(scenario, target, contract, adapter, seed=number)


def _debugged(error: BaseException) -> None:
    """Stop in an ordinary debugger where a task failed."""
    traceback.print_exception(error)
    pdb.post_mortem(error.__traceback__)
