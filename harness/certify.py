"""Can green be trusted? Gate every known mutant and see which stage kills it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Any

from harness.contracts.records import Mutant
from harness.findings import HarnessError, UsageError
from harness.gate import run_gate
from harness.outcome import BUDGETS, Budget, GateRequest

__all__ = ["Kill", "certify", "kill_json", "mutants_of"]

MUTANTS_GROUP = "job_harness.mutants"
STAGES = ("sequential", "interleavings", "stress")


@dataclass(frozen=True, slots=True)
class Kill:
    """How one mutant fared: the stage and clause that killed it, both empty if it survives."""

    mutant: Mutant
    stage: str
    clause: str
    executions: int
    seconds: float


def mutants_of(contract: str, names: Iterable[str] = ()) -> tuple[Mutant, ...]:
    """The installed mutants of a contract, or those named; raises UsageError for unknown names."""
    entries = [entry for entry in entry_points(group=MUTANTS_GROUP) if entry.name == contract]
    if not entries:
        raise UsageError(f"no mutants are installed for contract {contract!r}")
    known = {mutant.name: mutant for entry in entries for mutant in entry.load()}
    brief = {name.rpartition(".")[2]: mutant for name, mutant in known.items()}
    wanted = tuple(names)
    unknown = [name for name in wanted if name not in known and name not in brief]
    if unknown:
        raise UsageError(
            f"there is no mutant {unknown[0]!r} of {contract}; harness certify --list shows them"
        )
    return tuple(known.get(name) or brief[name] for name in wanted) if wanted else tuple(known.values())


def certify(
    contract: str,
    mutants: Iterable[Mutant],
    *,
    budget: Budget = BUDGETS["default"],
    seed: int = 0,
    jobs: int = 1,
    heard: Callable[[Kill], None] = lambda kill: None,
) -> list[Kill]:
    """Gate each mutant until its first finding; the kills come in the mutants' order."""
    request = GateRequest(
        "", contract, budget=budget, seed=seed, stages=STAGES, stop_at_first=True, remember=False, strict=True
    )
    kills: dict[str, Kill] = {}
    ordered = tuple(mutants)
    pool = ThreadPoolExecutor(jobs)
    try:
        running = [pool.submit(_try, replace(request, target=mutant.target), mutant) for mutant in ordered]
        for done in as_completed(running):
            kill = done.result()
            kills[kill.mutant.name] = kill
            heard(kill)
    finally:  # also when interrupted: what has not begun is not waited for
        pool.shutdown(wait=True, cancel_futures=True)
    return [kills[mutant.name] for mutant in ordered]


def _try(request: GateRequest, mutant: Mutant) -> Kill:
    try:
        report = run_gate(request)
    except UsageError as error:
        raise HarnessError(f"mutant {mutant.name} cannot be gated: {error}") from error
    executions = sum(stage.executions for stage in report.stages)
    seconds = sum(stage.seconds for stage in report.stages)
    if not report.findings:
        return Kill(mutant, "", "", executions, seconds)
    finding = report.findings[0]
    return Kill(mutant, finding.stage, finding.clause or finding.kind.value, executions, seconds)


def _rows(kills: Iterable[Kill]) -> Iterator[dict[str, Any]]:
    for kill in kills:
        yield {
            "mutant": kill.mutant.name,
            "breaks": kill.mutant.clause,
            "bug": kill.mutant.bug,
            "rare": kill.mutant.rare,
            "stage": kill.stage,
            "clause": kill.clause,
            "executions": kill.executions,
            "seconds": round(kill.seconds, 2),
        }


def kill_json(kills: list[Kill]) -> dict[str, Any]:
    """Counts, the survivors' names, and a row per mutant."""
    survivors = [kill.mutant.name for kill in kills if not kill.stage]
    return {
        "mutants": len(kills),
        "killed": len(kills) - len(survivors),
        "survivors": survivors,
        "rows": list(_rows(kills)),
    }
