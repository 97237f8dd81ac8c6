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
    "Codec",
    "Contract",
    "Directed",
    "Domain",
    "Given",
    "Level",
    "Malformed",
    "Model",
    "Mutant",
    "Operation",
    "Parameter",
    "Raised",
    "Resolution",
    "Ruling",
    "described",
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
    """A client-visible call.

    Targets must have the `required` ones; `weight` is how often to generate the call. `stable` names
    the clause by which an answer must not change after it was returned, `parks` the clause by which
    a timed wait sleeps once instead of re-polling, `budget` the parameter that bounds such a wait: it
    is in milliseconds, and none if zero or less.
    """

    name: str
    parameters: tuple[Parameter, ...]
    required: bool = False
    weight: int = 1
    stable: str = ""
    parks: str = ""
    budget: str = ""

    def budget_ms(self, arguments: tuple[Any, ...]) -> int:
        """How long a call with these arguments may rightly be blocked, however little happens."""
        for parameter, value in zip(self.parameters, arguments, strict=True):
            if parameter.name == self.budget:
                return max(int(value), 0)
        return 0


class Call(NamedTuple):
    """One invocation on normalised values."""

    operation: str
    arguments: tuple[Any, ...]


class Raised(NamedTuple):
    """The response of a call that ended in an exception, and the innermost line that raised it."""

    type: str
    message: str
    where: str = ""


def described(value: Any) -> str:
    """A model value for a person: records by field, absent fields left out."""
    fields = getattr(value, "_asdict", None)
    if fields is None:
        return repr(value)
    shown = ", ".join(f"{name}={field!r}" for name, field in fields().items() if repr(field) != "MISSING")
    return f"{type(value).__name__}({shown})"


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

    def initial(self, configuration: Mapping[str, int | None]) -> tuple[Any, ...]:
        """The states a new system may be in; a bound of None is not known to the harness."""

    def judge(self, state: Any, call: Call, response: Any, elapsed_ms: int | None = None) -> Ruling:
        """Rule on a response given in `state`. `elapsed_ms` is how long the call took, None if unknown."""

    def blocks(self, state: Any, call: Call) -> bool:
        """Whether the call must not return in this state until something else happens."""

    def advance(self, state: Any, milliseconds: int) -> Any:
        """The same state, later."""

    def owner(self, operation: str) -> str:
        """The clause that an operation breaks when it does not answer at all."""

    def failed(self, state: Any, call: Call) -> Any:
        """The state after a call that raised because the harness made it fail."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value written into a directed program where a fresh one would be filled in."""

    value: Any


@dataclass(frozen=True, slots=True)
class Directed:
    """A hand-written sequential program: the check that a clause's text asks for, step by step.

    A step is `(operation, arguments...)`, where a job is the number of the submit that made it,
    `unknown` an id never issued, and fresh values are filled in unless a `Given` one is written. Four
    pseudo-operations act on the surroundings: `advance` and `step wall clock` (milliseconds),
    `fail allocation` (the next lock allocation inside a call raises), and `audit` (look at every job).
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


class Codec(Protocol):
    """Between a contract's model values and one implementation's plain values."""

    def encode(self, parameter: str, value: Any) -> Any:
        """A model value as the implementation takes it."""

    def decoder(self, operation: str) -> Callable[[Any], Any]:
        """Reads this operation's answers; raises Malformed on one that no reading allows."""

    def exceptional(self, operation: str, error: BaseException) -> tuple[Any, ...]:
        """The answer that an exception stands for, in a tuple of one; empty if it stands for none."""

    def vocabulary(self) -> Mapping[str, frozenset[str]]:
        """Our names that an adapter may map, for its tables `fields` and `states`."""

    def shown_by(self, field: str) -> frozenset[str]:
        """The operations whose answers show a field, which is one of ours."""

    def silence(self, parameter: str) -> None:
        """Do not hold answers against a parameter that the implementation is never given."""

    def missing(self, answer: Any) -> tuple[str, ...]:
        """Capabilities that the answer of the `probe` operation shows to be missing."""


class Malformed(ValueError):
    """An answer that no reading of the contract allows.

    `advice` is what an adapter could do about it, if that is known; else its tables are named.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        tables = "an adapter maps [fields], [states] and [exceptions]"
        super().__init__(f"{message}; {advice or tables}")
        self.advice = advice


@dataclass(frozen=True)
class Contract:
    """Everything a runner needs to know about one kind of system.

    `creates` is the operation that makes jobs and `job_of` reads the new id from its answer (None if
    there is none). `probe` is the operation that looks at one job. `recovery` is the clause on
    recovering from a failed allocation. `codec` builds a codec from an adapter and a maker of
    records. `timed_bounds` are those that need virtual time, `time_steps` gives durations worth
    advancing the clock by. `last_calls` are the calls that must not return in a state. `saboteurs`
    wrap a sound subject with a planted bug, for the canary, by stage. `live` gives a state's jobs with
    which something can still happen: generated programs call about them more often than about others.
    `tour` is a program after which every kind of answer has been seen: an operation, and the job that it
    is about by its number; it takes only fresh values otherwise.
    """

    name: str
    title: str
    clauses: tuple[Clause, ...]
    resolutions: tuple[Resolution, ...]
    operations: tuple[Operation, ...]
    creates: str
    job_of: Callable[[Any], Any]
    probe: str
    recovery: str
    configuration: Mapping[str, int]
    configuration_domains: Mapping[str, tuple[int, ...]]
    model: Model
    directed: tuple[Directed, ...]
    codec: Callable[..., Codec]
    timed_bounds: frozenset[str]
    time_steps: Callable[[Mapping[str, int]], tuple[int, ...]]
    last_calls: Callable[[Any], tuple[Call, ...]]
    saboteurs: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    live: Callable[[Any], tuple[Any, ...]] = lambda state: ()
    tour: tuple[tuple[Any, ...], ...] = ()

    def clause(self, clause_id: str) -> Clause:
        """The clause with this id; raises KeyError if the contract has none."""
        return {clause.id: clause for clause in self.clauses}[clause_id]

    def operation(self, name: str) -> Operation:
        """The operation with this name; raises KeyError if the contract has none."""
        return {operation.name: operation for operation in self.operations}[name]
