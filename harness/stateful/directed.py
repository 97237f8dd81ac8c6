"""Directed programs: the checks that a contract's clauses ask for, run step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.contracts.records import Directed, Given
from harness.stateful.progress import Progress
from harness.stateful.session import ContractBroken, Session
from harness.stateful.surroundings import Surroundings

__all__ = ["directed_failures", "run_directed"]


def directed_failures(
    surroundings: Surroundings, progress: Progress, stop_at_first: bool = False
) -> list[ContractBroken]:
    """Run the contract's directed programs that this target has the operations for."""
    failures = []
    for directed in surroundings.binding.contract.directed:
        if not _runnable(surroundings, directed):
            continue
        try:
            session = Session(surroundings, directed.configuration)
            run_directed(session, directed)
        except ContractBroken as broken:
            session = broken.session
            failures.append(broken)
        progress.add(session)
        if failures and stop_at_first:
            break
    return failures


def run_directed(session: Session, directed: Directed, ends: bool = True) -> None:
    """Run one directed program, ended by a call that must not return; raises ContractBroken."""
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
    if ends and not session.over:
        session.last_call()


def _arguments(session: Session, name: str, given: list[Any]) -> list[Any]:
    """Jobs by number, fresh values filled in."""
    arguments: list[Any] = []
    for parameter in session.contract.operation(name).parameters:
        if parameter.domain.kind == "fresh":
            written = given.pop(0).value if given and isinstance(given[0], Given) else None
            arguments.append(session.fresh(parameter.domain.prefix) if written is None else written)
            continue
        value = given.pop(0)
        if parameter.domain.kind == "job":
            value = (
                session.ids[value]
                if value != "unknown" and value < len(session.ids)
                else session.unknown_id()
            )
        arguments.append(value)
    return arguments


def _runnable(surroundings: Surroundings, directed: Directed) -> bool:
    """Whether the target can be configured so, and the clock moved where the program moves it."""
    binding = surroundings.binding
    defaults = binding.contract.configuration
    for name, value in directed.configuration.items():
        fixed = name in binding.missing or (
            surroundings.clock is None and name in binding.contract.timed_bounds
        )
        if (name, value) in binding.refused or (fixed and value != defaults[name]):
            return False
    needs_clock = {"advance", "step wall clock", "fail allocation", "wait"}
    return surroundings.clock is not None or not any(step[0] in needs_clock for step in directed.steps)
