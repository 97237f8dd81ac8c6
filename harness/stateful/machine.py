"""A Hypothesis state machine generated from a contract.

One rule per operation, drawn from the parameters' domains; nothing about any contract is written
here. Hypothesis generates, shrinks and keeps failing examples in its database as usual; the program
that is shown is the session's own text, which needs no state machine to run.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from harness.contracts.records import Contract, Operation, Parameter
from harness.stateful.progress import Progress
from harness.stateful.session import ContractBroken, Session
from harness.stateful.surroundings import Surroundings

__all__ = ["machine_for"]

_MOST_JOBS = 7
_LIVE = _MOST_JOBS + 1  # job numbers below are those of live jobs, if there are any; the others follow
# Many programs never draw the operation that makes jobs; this gives the others something to do.
_OPENING_JOBS = (2, 3, 4, 1, 3, 0)
_WALL_STEPS_MS = (-3_600_000, 3_600_000)


def machine_for(surroundings: Surroundings, progress: Progress, label: str) -> type[RuleBasedStateMachine]:
    """The state machine of this binding's contract. `label` keys its examples in the database."""
    contract = surroundings.binding.contract
    body: dict[str, Any] = {
        "__init__": _begin,
        "teardown": _teardown(progress),
        "set_up": _set_up(surroundings),
    }
    for operation in contract.operations:
        in_time = surroundings.clock is not None or not operation.parks
        if in_time and operation.name not in surroundings.binding.missing:
            for number in range(operation.weight):
                body[f"{operation.name}_{number}"] = _operation_rule(operation)
    if surroundings.clock:
        body["advance"] = _advance_rule(contract)
        body["step_wall_clock"] = _wall_rule()
    return type(label, (RuleBasedStateMachine,), body)


def _begin(self: Any) -> None:
    RuleBasedStateMachine.__init__(self)
    self.session = None


def _running(self: Any) -> bool:
    return self.session is not None and not self.session.over


def _set_up(surroundings: Surroundings) -> Any:
    contract = surroundings.binding.contract
    refused = surroundings.binding.refused
    bounds = {
        name: st.sampled_from([value for value in values if (name, value) not in refused])
        for name, values in contract.configuration_domains.items()
        if name not in surroundings.binding.missing
        and (surroundings.clock is not None or name not in contract.timed_bounds)
    }

    creation = contract.operation(contract.creates)

    def set_up(self: Any, bounds: dict[str, int], jobs: int, watch_depth: bool, audit: bool) -> None:
        try:
            self.session = Session(surroundings, {**contract.configuration, **bounds})
        except ContractBroken as broken:
            self.session = broken.session  # a program that could not begin is counted, and remembered
            raise
        self.watch_depth = watch_depth
        self.audit = audit
        for _ in range(jobs):
            self.session.call(creation.name, *(_argument(self.session, p, None) for p in creation.parameters))

    drawn: dict[str, Any] = {
        "jobs": st.sampled_from(_OPENING_JOBS),
        "watch_depth": st.booleans(),
        "audit": st.booleans(),
    }
    drawn["bounds"] = st.fixed_dictionaries(bounds)
    return initialize(**drawn)(set_up)  # type: ignore[no-untyped-call]


def _operation_rule(operation: Operation) -> Any:
    drawn: dict[str, Any] = {
        p.name: strategy for p in operation.parameters if (strategy := _strategy(p)) is not None
    }

    def step(self: Any, **values: Any) -> None:
        session = self.session
        arguments = [
            _argument(session, parameter, values.get(parameter.name)) for parameter in operation.parameters
        ]
        session.call(operation.name, *arguments)
        _observe(self, operation)

    step.__name__ = operation.name
    return precondition(_running)(rule(**drawn)(step))  # type: ignore[no-untyped-call]


def _observe(machine: Any, operation: Operation) -> None:
    """Look around after a call: reads that Hypothesis can switch off, so that they hide nothing."""
    session = machine.session
    creates = session.contract.creates
    for watched in session.contract.operations:
        if (
            machine.watch_depth
            and not watched.parameters
            and not session.over
            and session.offers(watched.name)
        ):
            session.call(watched.name)
    if machine.audit and operation.name == creates and not session.over:
        session.audit()


def _strategy(parameter: Parameter) -> st.SearchStrategy[Any] | None:
    domain = parameter.domain
    if domain.kind == "job":
        return st.integers(0, _LIVE + _MOST_JOBS)
    return st.sampled_from(domain.values) if domain.kind == "choice" else None


def _argument(session: Session, parameter: Parameter, drawn: Any) -> Any:
    """The value for a parameter; jobs by number, wrapping around.

    Half of the numbers are those of live jobs, as most calls about others change nothing; the other
    half are those of all jobs, and of one id that was never issued.
    """
    domain = parameter.domain
    if domain.kind == "fresh":
        return session.fresh(domain.prefix)
    if domain.kind == "job":
        live = session.contract.live(session.states[0])
        if live and drawn < _LIVE:
            return live[drawn % len(live)]
        number = drawn % (len(session.ids) + 1)
        return session.ids[number] if number < len(session.ids) else session.unknown_id()
    return drawn


def _advance_rule(contract: Contract) -> Any:
    def advance(self: Any, step: int) -> None:
        steps = contract.time_steps(self.session.configuration)
        self.session.advance(steps[step % len(steps)])

    return precondition(_running)(rule(step=st.integers(0, 3))(advance))


def _wall_rule() -> Any:
    def step_wall_clock(self: Any, milliseconds: int) -> None:
        self.session.step_wall_clock(milliseconds)

    return precondition(_running)(rule(milliseconds=st.sampled_from(_WALL_STEPS_MS))(step_wall_clock))


def _teardown(progress: Progress) -> Any:
    def teardown(self: Any) -> None:
        if self.session is None:
            return
        try:
            if not self.session.over:
                self.session.audit()
            if not self.session.over:
                self.session.last_call()
        finally:
            progress.add(self.session)

    return teardown
