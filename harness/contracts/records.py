"""The records a contract is made of.

A contract is written once, as data, and every runner (sequential machine, stress threads, the
controlled explorer, history checkers) works from it. Nothing here knows any particular contract,
and nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

__all__ = [
    "BLOCKED",
    "Call",
    "Clause",
    "Contract",
    "Directed",
    "Domain",
    "Level",
    "Model",
    "Mutant",
    "Operation",
    "Parameter",
    "Raised",
    "Resolution",
    "Ruling",
]


class Level(StrEnum):
    """How binding a clause is. Only MUST decides a verdict; SHOULD is reported as advice."""

    MUST = "MUST"
    SHOULD = "SHOULD"


@dataclass(frozen=True, slots=True)
class Clause:
    """One numbered norm.

    `checked_by` names the stages that can find a breach; `needs` the capabilities of a target
    without which the clause is skipped, visibly (operation names, configuration names,
    `snapshot.<field>`, `request_id`, `virtual time`).
    """

    id: str
    norm: str
    level: Level
    checked_by: tuple[str, ...]
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Resolution:
    """How an ambiguity of the contract's source was settled, and why."""

    id: str
    question: str
    rule: str


@dataclass(frozen=True, slots=True)
class Domain:
    """The values a parameter ranges over, as data that any generator can read.

    `kind` is `job` (an id that an earlier call returned, or one never issued), `fresh` (a new token
    at each draw, named with `prefix`) or `choice` (one of `values`).
    """

    kind: str
    values: tuple[Any, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named parameter of an operation."""

    name: str
    domain: Domain


@dataclass(frozen=True, slots=True)
class Operation:
    """A client-visible call: its parameters, whether targets must have it, how often to generate it."""

    name: str
    parameters: tuple[Parameter, ...]
    required: bool = False
    weight: int = 1


class Call(NamedTuple):
    """One invocation on normalised values."""

    operation: str
    arguments: tuple[Any, ...]


class Raised(NamedTuple):
    """The response of a call that ended in an exception."""

    type: str
    message: str


class _Blocked:
    def __repr__(self) -> str:
        return "BLOCKED"


BLOCKED = _Blocked()
"""The response of a call that never returned although nothing else was running."""


class Ruling(NamedTuple):
    """A model's answer to one call with its response.

    `states` are the states the system may now be in, none when the response is illegal. `clauses`
    are the norms this response was held against; when it is illegal the first is the one broken.
    `expected` says in words what would have been legal.
    """

    states: tuple[Any, ...]
    clauses: tuple[str, ...]
    expected: str


class Model(Protocol):
    """A pure sequential specification.

    States are immutable and canonical: equal situations are equal, hashable values. All methods are
    pure; a conformance test judges twice and compares.
    """

    def initial(self, configuration: Mapping[str, int]) -> tuple[Any, ...]:
        """The states a new system with this configuration may be in."""

    def judge(self, state: Any, call: Call, response: Any, elapsed_ms: int | None = None) -> Ruling:
        """Rule on a response given in `state`. `elapsed_ms` is how long the call took, None if unknown."""

    def blocks(self, state: Any, call: Call) -> bool:
        """Whether the call must not return in this state until something else happens."""

    def advance(self, state: Any, milliseconds: int) -> Any:
        """The same state, later."""


@dataclass(frozen=True, slots=True)
class Directed:
    """A hand-written sequential program: the check a clause's text asks for, step by step.

    Steps are `(operation, arguments...)`; a `$n` argument is the id that step n returned, counted
    from 0. The pseudo-operations `advance`, `step wall clock` and `fail next allocation` act on the
    world around the implementation.
    """

    clause: str
    configuration: Mapping[str, int]
    steps: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """An implementation with one planted bug, and the clause that the bug breaks.

    `target` is loadable like any implementation. `rare` says that only a rare interleaving shows it,
    so that stages without a controlled scheduler may miss it.
    """

    name: str
    clause: str
    target: str
    bug: str
    rare: bool = False


@dataclass(frozen=True)
class Contract:
    """Everything a runner needs to know about one kind of system.

    `bind(instance, adapter)` wraps an implementation so that its answers are the model's values;
    `checks` rule on histories recorded on real threads; `saboteurs` wrap a *correct* binding with a
    planted bug, for the canary.
    """

    name: str
    title: str
    clauses: tuple[Clause, ...]
    resolutions: tuple[Resolution, ...]
    operations: tuple[Operation, ...]
    configuration: Mapping[str, int]
    configuration_domains: Mapping[str, tuple[int, ...]]
    model: Model
    directed: tuple[Directed, ...]
    codec: Any
    saboteurs: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def clause(self, clause_id: str) -> Clause:
        """The clause with this id; raises KeyError if the contract has none."""
        for clause in self.clauses:
            if clause.id == clause_id:
                return clause
        raise KeyError(clause_id)

    def operation(self, name: str) -> Operation:
        """The operation with this name; raises KeyError if the contract has none."""
        for operation in self.operations:
            if operation.name == name:
                return operation
        raise KeyError(name)
