"""The sequential stage: the contract's directed programs, then generated ones."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test

from harness.contracts.records import Contract, Directed, Level
from harness.findings import ClauseTally, Finding, StageReport, Verdict
from harness.stateful.machine import Progress, machine_for
from harness.stateful.session import ContractBroken, Session
from harness.stateful.surroundings import Surroundings

__all__ = ["directed_failures", "generated_failures", "run_sequential"]

STAGE = "sequential"
STEPS = 30


def run_sequential(
    surroundings: Surroundings,
    *,
    target: str,
    examples: int,
    seed_number: int,
    stop_at_first: bool = False,
    adapter_file: str = "",
    report: Callable[[int, int], None] = lambda executions, operations: None,
) -> StageReport:
    """Run directed, then `examples` generated programs, and report what broke.

    `target` keys Hypothesis' example database and, with `adapter_file`, appears in printed programs.
    `stop_at_first` skips shrinking and everything after the first breach.
    """
    progress = Progress(report)
    failures = directed_failures(surroundings, progress, stop_at_first)
    if not (failures and stop_at_first):
        failures += generated_failures(surroundings, progress, target, examples, seed_number, stop_at_first)
    findings = _one_per_clause(surroundings.binding.contract, failures, target, adapter_file)
    notes = tuple(f"configuration {name}={value} refused: {why}" for (name, value), why in _refusals(surroundings))
    return StageReport(
        stage=STAGE,
        verdict=Verdict.VIOLATION if any(not finding.advisory for finding in findings) else Verdict.OK,
        executions=progress.executions,
        operations=progress.operations,
        findings=findings,
        tallies=tuple(ClauseTally(*pair) for pair in sorted(progress.checked.items())),
        skipped=tuple(f"{name}: {why}" for name, why in sorted(surroundings.binding.missing.items())),
        notes=notes,
    )


def directed_failures(surroundings: Surroundings, progress: Progress, stop_at_first: bool = False) -> list[ContractBroken]:
    """Run the contract's directed programs that this target has the operations for."""
    failures = []
    for directed in surroundings.binding.contract.directed:
        if not _runnable(surroundings, directed):
            continue
        session = Session(surroundings, directed.configuration)
        try:
            run_directed(session, directed)
        except ContractBroken as broken:
            failures.append(broken)
        finally:
            progress.add(session)
        if failures and stop_at_first:
            break
    return failures


def run_directed(session: Session, directed: Directed) -> None:
    """Run one directed program; raises ContractBroken."""
    actions: dict[str, Callable[..., Any]] = {
        "advance": session.advance,
        "step wall clock": session.step_wall_clock,
        "fail allocation": session.fail_allocation,
        "audit": session.audit,
    }
    for name, *given in directed.steps:
        if session.over:
            return
        if name in actions:
            actions[name](*given)
        elif session.offers(name):
            session.call(name, *_arguments(session, name, given))
    if not session.over:
        session.last_call()


def _arguments(session: Session, name: str, given: list[Any]) -> list[Any]:
    """Jobs by number, fresh values filled in."""
    arguments: list[Any] = []
    for parameter in session.contract.operation(name).parameters:
        if parameter.domain.kind == "fresh":
            arguments.append(session.fresh(parameter.domain.prefix))
            continue
        value = given.pop(0)
        if parameter.domain.kind == "job":
            value = session.ids[value] if value != "unknown" and value < len(session.ids) else session.unknown_id()
        arguments.append(value)
    return arguments


def _runnable(surroundings: Surroundings, directed: Directed) -> bool:
    """Whether the target can be configured so, and the clock moved where the program moves it."""
    binding = surroundings.binding
    defaults = binding.contract.configuration
    for name, value in directed.configuration.items():
        if (name, value) in binding.refused or (name in binding.missing and value != defaults[name]):
            return False
    needs_clock = {"advance", "step wall clock", "fail allocation", "wait"}
    return surroundings.clock is not None or not any(step[0] in needs_clock for step in directed.steps)


def generated_failures(
    surroundings: Surroundings,
    progress: Progress,
    label: str,
    examples: int,
    seed_number: int,
    stop_at_first: bool = False,
) -> list[ContractBroken]:
    """Run generated programs; the failures are shrunk, one per clause."""
    firsts: list[ContractBroken] = []
    machine = machine_for(surroundings, progress, _class_name(label))
    test = get_state_machine_test(_watched(machine, firsts), settings=_settings(examples, stop_at_first))
    try:
        seed(seed_number)(test)()
    except ContractBroken as broken:
        return [broken]
    except BaseExceptionGroup as group:
        matched, _ = group.split(ContractBroken)
        if matched is None:
            raise
        return [error for error in matched.exceptions if isinstance(error, ContractBroken)]
    except Flaky:
        # The same program answered differently the second time: the implementation keeps state
        # outside the instance, or is random. What was seen was seen, unshrunk.
        return firsts[:1]
    return []


def _watched(machine: type[RuleBasedStateMachine], firsts: list[ContractBroken]) -> type[RuleBasedStateMachine]:
    """The machine, remembering the first breach, for when it does not show again."""
    inner = machine.teardown

    def teardown(self: Any) -> None:
        broken = getattr(self.session, "broken", None)
        if broken is not None:
            firsts.append(broken)
        inner(self)

    machine.teardown = teardown  # type: ignore[method-assign]
    return machine


def _settings(examples: int, stop_at_first: bool) -> settings:
    phases = [Phase.explicit, Phase.reuse, Phase.generate, Phase.target]
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=not stop_at_first,
        phases=phases if stop_at_first else [*phases, Phase.shrink],
    )


def _class_name(label: str) -> str:
    digest = hashlib.sha256(label.encode()).hexdigest()[:12]
    return f"Machine_{digest}"


def _refusals(surroundings: Surroundings) -> list[tuple[tuple[str, int], str]]:
    return sorted(surroundings.binding.refused.items())


def _one_per_clause(
    contract: Contract, failures: list[ContractBroken], target: str, adapter_file: str
) -> tuple[Finding, ...]:
    """The shortest program for each clause, in the contract's order."""
    shortest: dict[str, ContractBroken] = {}
    for broken in failures:
        known = shortest.get(broken.clause)
        if known is None or len(broken.session.lines) < len(known.session.lines):
            shortest[broken.clause] = broken
    repeats = Counter(broken.clause for broken in failures)
    return tuple(
        Finding(
            kind=broken.kind,
            clause=clause.id,
            message=broken.message,
            stage=STAGE,
            where=broken.where,
            evidence=(clause.norm, _how_often(repeats[clause.id])),
            program=program_text(broken.session, clause.id, target, adapter_file),
            advisory=clause.level is Level.SHOULD,
        )
        for clause in contract.clauses
        if (broken := shortest.get(clause.id)) is not None
    )


def _how_often(programs: int) -> str:
    return "one program of this stage broke it" if programs == 1 else f"{programs} programs broke it; this is the shortest"


def program_text(session: Session, clause: str, target: str, adapter_file: str = "") -> str:
    """A test that a person can paste into a file: it fails until the implementation is mended."""
    name = session.contract.name
    options = [json.dumps(target), f"contract={json.dumps(name)}"]
    if adapter_file:
        options.append(f"adapter={json.dumps(adapter_file)}")
    options += [f"{bound}={value}" for bound, value in session.configuration.items()]
    lines = [
        "from harness.testing import program",
        "",
        "",
        f"def test_{clause.lower().replace('-', '_')}():",
        "    with program(",
        *(f"        {option}," for option in options),
        f"    ) as {name}:",
        *(f"        {line}" for line in session.lines),
    ]
    return "\n".join(lines) + "\n"
