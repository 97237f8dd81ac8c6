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

from harness.contracts.records import Level
from harness.findings import ClauseTally, Finding, StageReport, Verdict
from harness.stateful.directed import directed_failures
from harness.stateful.machine import machine_for
from harness.stateful.progress import Progress
from harness.stateful.session import ContractBroken, Session
from harness.stateful.shrink import shortest
from harness.stateful.surroundings import Surroundings

__all__ = ["generated_failures", "program_text", "run_sequential"]

STAGE = "sequential"
STEPS = 30


def run_sequential(
    surroundings: Surroundings,
    *,
    target: str,
    examples: int,
    seed_number: int,
    stop_at_first: bool = False,
    remember: bool = True,
    adapter_file: str = "",
    report: Callable[[int, int], None] = lambda executions, operations: None,
) -> StageReport:
    """Run directed, then `examples` generated programs, and report what broke.

    `target` keys Hypothesis' example database and, with `adapter_file`, appears in printed programs.
    `stop_at_first` skips shrinking and everything after the first breach; without `remember`, nothing
    is kept for, or known from, other runs.
    """
    progress = Progress(report)
    failures = directed_failures(surroundings, progress, stop_at_first)
    if not (failures and stop_at_first):
        failures += generated_failures(surroundings, progress, target, examples, seed_number, remember)
    surroundings.conclude()
    findings = _one_per_clause(surroundings, failures, target, adapter_file, shrink=not stop_at_first)
    notes = tuple(
        f"configuration {name}={value} refused: {why}" for (name, value), why in _refusals(surroundings)
    )
    return StageReport(
        stage=STAGE,
        verdict=Verdict.VIOLATION if any(not finding.advisory for finding in findings) else Verdict.OK,
        executions=progress.executions,
        operations=progress.operations,
        findings=findings,
        tallies=_tallies(surroundings, progress),
        skipped=tuple(f"{name}: {why}" for name, why in sorted(surroundings.binding.missing.items())),
        notes=notes,
    )


def generated_failures(
    surroundings: Surroundings,
    progress: Progress,
    label: str,
    examples: int,
    seed_number: int,
    remember: bool = True,
) -> list[ContractBroken]:
    """Run generated programs until one breaks a clause; it comes unshrunk.

    With `remember`, failing examples are kept in, and first replayed from, Hypothesis' database.
    """
    firsts: list[ContractBroken] = []
    machine = machine_for(surroundings, progress, _class_name(label))
    test = get_state_machine_test(_watched(machine, firsts), settings=_settings(examples, remember))
    try:
        seed(seed_number)(test)()
    except ContractBroken as broken:
        return [broken]
    except Flaky:
        # The same program answered differently the second time: the implementation keeps state
        # outside the instance, or is random. What was seen was seen, unshrunk.
        return firsts[:1]
    return []


def _watched(
    machine: type[RuleBasedStateMachine], firsts: list[ContractBroken]
) -> type[RuleBasedStateMachine]:
    """The machine, remembering the first breach, for when it does not show again."""
    inner = machine.teardown

    def teardown(self: Any) -> None:
        broken = getattr(self.session, "broken", None)
        if broken is not None:
            firsts.append(broken)
        inner(self)

    machine.teardown = teardown  # type: ignore[method-assign]
    return machine


def _settings(examples: int, remember: bool) -> settings:
    database: dict[str, Any] = {} if remember else {"database": None}
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
        **database,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],  # programs are shrunk as programs
    )


def _tallies(surroundings: Surroundings, progress: Progress) -> tuple[ClauseTally, ...]:
    """How often each clause was decided; never where the target lacks what could have broken it.

    A time to live that cannot pass, for one, is kept by everybody.
    """
    missing = set(surroundings.binding.missing)
    needs = {clause.id: clause.needs for clause in surroundings.binding.contract.clauses}
    return tuple(
        ClauseTally(clause, checked)
        for clause, checked in sorted(progress.checked.items())
        if not needs[clause] & missing
    )


def _class_name(label: str) -> str:
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"Machine_{digest}"


def _refusals(surroundings: Surroundings) -> list[tuple[tuple[str, int], str]]:
    return sorted(surroundings.binding.refused.items())


def _one_per_clause(
    surroundings: Surroundings, failures: list[ContractBroken], target: str, adapter_file: str, shrink: bool
) -> tuple[Finding, ...]:
    """The shortest program for each clause, in the contract's order; first what is about no clause."""
    briefest: dict[str, ContractBroken] = {}
    for broken in failures:
        known = briefest.setdefault(broken.clause, broken)
        if len(broken.session.lines) < len(known.session.lines):
            briefest[broken.clause] = broken
    if shrink:
        briefest = {
            clause: shortest(surroundings, broken) if clause else broken
            for clause, broken in briefest.items()
        }
    repeats = Counter(broken.clause for broken in failures)
    clauses = [clause for clause in surroundings.binding.contract.clauses if clause.id in briefest]
    unmade = [_unmade(briefest[""], repeats[""])] if "" in briefest else []
    return (
        *unmade,
        *(
            Finding(
                kind=briefest[clause.id].kind,
                clause=clause.id,
                message=briefest[clause.id].message,
                stage=STAGE,
                where=briefest[clause.id].where,
                evidence=(clause.norm, _how_often(repeats[clause.id])),
                program=program_text(briefest[clause.id].session, clause.id, target, adapter_file),
                advisory=clause.level is Level.SHOULD,
            )
            for clause in clauses
        ),
    )


def _unmade(broken: ContractBroken, programs: int) -> Finding:
    """No program shows it: it takes all the instances that were made before."""
    told = f"{programs} {'programs' if programs > 1 else 'program'} of this stage could not begin"
    return Finding(broken.kind, "", broken.message, STAGE, broken.where, evidence=(told,))


def _how_often(programs: int) -> str:
    return (
        "one program of this stage broke it"
        if programs == 1
        else f"{programs} programs broke it; this is the shortest"
    )


def program_text(session: Session, clause: str, target: str, adapter_file: str = "") -> str:
    """A test that a person can paste into a file: it fails until the implementation is mended."""
    name = session.contract.name
    options = [json.dumps(target), f"contract={json.dumps(name)}"]
    if adapter_file:
        options.append(f"adapter={json.dumps(adapter_file)}")
    defaults = session.contract.configuration
    options += [
        f"{bound}={value}" for bound, value in session.configuration.items() if value != defaults[bound]
    ]
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
