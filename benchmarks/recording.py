"""What recording costs: the historical soak, recorded and unrecorded in turn.

The scenario is the gate's own; only the recorder differs. Roles that pause or wait set the pace of
a soak, so the ratio is also taken of a busy variant in which every strand only submits, looks and
ends, without pauses: there the recorder costs the most.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from harness.contracts import contract_named
from harness.contracts.adapter import Adapter
from harness.scenario import Role, Scenario, Strand
from harness.stress.judge import StressJudge
from harness.stress.records import SlowRecord
from harness.stress.runner import ScenarioRun
from harness.targets.locate import OrdinaryImporter, Target
from harness.targets.subject import Binding
from scenarios.ledger import SOAK

__all__ = ["measure"]


def _churn(strand: Strand) -> None:
    while strand.running():
        answer = strand.system.submit(strand.fresh("request"), strand.fresh("payload"))
        if answer.accepted:
            strand.system.snapshot(answer.job_id)
            strand.system.finish(answer.job_id, strand.fresh("result"))


BUSY = replace(
    SOAK,
    name="busy",
    roles=(Role("client", _churn, 4),),
    claims=(),
    sometimes={},
    closing=lambda strand: None,
)


def measure(quick: bool) -> dict[str, float]:
    """Operations per second of both scenarios, recorded and not, and the median ratios."""
    seconds, rounds = (0.5, 3) if quick else (3.0, 7)
    contract = contract_named("ledger")
    target = Target.parse("reference.ledger:Ledger")
    binding = Binding(contract, target.factory(OrdinaryImporter()), Adapter(), SlowRecord)
    binding.examine()
    figures: dict[str, float] = {}
    for scenario in (replace(SOAK, claims=(), sometimes={}), BUSY):
        rates: dict[bool, list[float]] = {True: [], False: []}
        for number in range(rounds):
            for record in (True, False):
                rates[record].append(_rate(scenario, binding, seconds, number, record))
        name = scenario.name
        figures[f"{name}_recorded_per_s"] = median(rates[True])
        figures[f"{name}_unrecorded_per_s"] = median(rates[False])
        ratios = [recorded / bare for recorded, bare in zip(rates[True], rates[False], strict=True)]
        figures[f"{name}_recorded_vs_unrecorded"] = median(ratios)
    figures["recorded_vs_unrecorded"] = min(
        figures["soak_recorded_vs_unrecorded"], figures["busy_recorded_vs_unrecorded"]
    )
    return figures


def _rate(scenario: Scenario, binding: Binding, seconds: float, seed: int, record: bool) -> float:
    judge = StressJudge(binding.contract, "benchmark")
    run = ScenarioRun(scenario, binding, judge, seed, record=record)
    run.run(seconds)
    return run.operations / seconds
