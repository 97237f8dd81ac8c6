"""Making a failing sequential program as short as it can be.

Hypothesis would shrink the choices that led to a program, slowly, and leave calls behind that no
choice of its own could remove; directed programs it knows nothing of. So the program itself is
reduced: bounds go back to their defaults and steps are left out, last ones first, as long as the
rest still breaks the same clause. The result is 1-minimal: without any one of its steps the breach
is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.contracts.records import Contract, Directed, Given
from harness.stateful.directed import run_directed
from harness.stateful.session import ContractBroken, Session
from harness.stateful.surroundings import Surroundings

__all__ = ["shortest"]

_MOST_RUNS = 400

Step = tuple[Any, ...]


def shortest(surroundings: Surroundings, broken: ContractBroken) -> ContractBroken:
    """The same breach by a 1-minimal program; the given one if it does not show again."""
    best = _again(surroundings, broken.clause, broken.session.configuration, broken.session.steps)
    if best is None:
        return broken
    best = _with_default_bounds(surroundings, best)
    configuration = best.session.configuration
    runs = 1
    shrunk = True
    while shrunk and runs < _MOST_RUNS:
        shrunk = False
        position = len(best.session.steps) - 1
        while position >= 0 and runs < _MOST_RUNS:
            steps = without(surroundings.binding.contract, best.session.steps, position)
            runs += 1
            shorter = _again(surroundings, broken.clause, configuration, steps) if steps is not None else None
            if shorter is not None and len(shorter.session.steps) < len(best.session.steps):
                best, shrunk = shorter, True
                position = min(position, len(best.session.steps))
            position -= 1
    return best


def _with_default_bounds(surroundings: Surroundings, best: ContractBroken) -> ContractBroken:
    """The same breach with as many bounds as possible at their defaults."""
    for name, default in surroundings.binding.contract.configuration.items():
        configuration = {**best.session.configuration, name: default}
        if configuration != best.session.configuration:
            best = _again(surroundings, best.clause, configuration, best.session.steps) or best
    return best


def without(contract: Contract, steps: list[Step], position: int) -> list[Step] | None:
    """The steps but one, jobs numbered anew; None if a later step needs the job that it made."""
    left_out = steps[position]
    rest = steps[:position] + steps[position + 1 :]
    if left_out[0] != contract.creates:
        return rest
    number = sum(step[0] == contract.creates for step in steps[:position])
    renumbered = []
    for step in rest[:position] + [_renumber(contract, step, number) for step in rest[position:]]:
        if step is None:
            return None
        renumbered.append(step)
    return renumbered


def _renumber(contract: Contract, step: Step, gone: int) -> Step | None:
    """A step with one job fewer before it; None if it is about that job."""
    names = {operation.name: operation for operation in contract.operations}
    operation = names.get(step[0])
    if operation is None:
        return step
    jobs = iter([p.domain.kind == "job" for p in operation.parameters if p.domain.kind != "fresh"])
    arguments: list[Any] = []
    for value in step[1:]:
        is_job = not isinstance(value, Given) and next(jobs)
        if is_job and value == gone:
            return None
        arguments.append(value - 1 if is_job and isinstance(value, int) and value > gone else value)
    return (step[0], *arguments)


def _again(
    surroundings: Surroundings, clause: str, configuration: Mapping[str, int], steps: list[Step]
) -> ContractBroken | None:
    try:
        session = Session(surroundings, configuration)
        run_directed(session, Directed(clause, configuration, tuple(steps)), ends=False)
    except ContractBroken as broken:
        return broken if broken.clause == clause else None
    return None
