"""A scenario: setup, roles, operations, claims and budget, as one frozen record.

A role's body is a plain function of its `Strand`. It calls the system under test, keeps to what
the strand offers, and neither starts threads nor reads clocks, so that the same record can run on
real threads, on the controlled runtime and against a remote target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from random import Random
from types import SimpleNamespace
from typing import Any, Protocol, Self

from harness.findings import HarnessError, UsageError

__all__ = ["Claim", "Judge", "Role", "Round", "Scenario", "Strand", "chosen_scenarios", "installed_scenarios"]

_GROUP = "job_harness.scenarios"


class Strand(Protocol):
    """What a role's body may use.

    `system` has the contract's operations as attributes; `shared` is common to the round's strands;
    `random` follows from the seed, the round and the strand. `counts` has the number of strands by role.
    """

    system: Any
    shared: SimpleNamespace
    random: Random
    role: str
    index: int
    counts: Mapping[str, int]

    def offers(self, operation: str) -> bool:
        """Whether the implementation has this operation."""

    def running(self) -> bool:
        """Whether a soak goes on; loops of a soak end when it turns false."""

    def fresh(self, prefix: str) -> str:
        """A value that nobody else in this run gets."""

    def pause(self, milliseconds: float) -> None:
        """Let time pass."""

    def await_parked(self, role: str) -> bool:
        """Wait until every strand of a role is blocked inside a call; false if that cannot be known."""


@dataclass(frozen=True, slots=True)
class Role:
    """A part that `count` strands play."""

    name: str
    body: Callable[[Strand], None]
    count: int = 1


@dataclass(frozen=True, slots=True)
class Round:
    """What one round left behind: the history of all its strands and of the closing audit.

    `derived` is for claims to share what they worked out from it.
    """

    history: tuple[Any, ...]
    configuration: Mapping[str, int]
    missing: frozenset[str]
    shared: SimpleNamespace
    derived: dict[str, Any] = field(default_factory=dict, compare=False)


class Judge(Protocol):
    """Collects what claims decide."""

    def check(self, clause: str, holds: bool, message: str = "", *evidence: Any) -> bool:
        """Count one observation of a clause; record a breach, with the operations that show it."""


Claim = Callable[[Round, Judge], None]


def _nothing(_strand: Strand) -> None:
    return None


@dataclass(frozen=True)
class Scenario:
    """One situation worth creating.

    A *soak* is one round whose roles loop until `seconds` are over; otherwise rounds of straight
    programs are repeated for that long. `hang` is the clause that a strand which never returns
    breaks. `needs` lists capabilities without which the scenario is skipped. `sometimes` are
    predicates on a round; one that never held makes the green worthless (UNKNOWN). `noise` is the
    probability of a forced switch at a line of the code under test, on every second round. A *fair*
    scenario's claims assume that nobody is starved; it is explored by fair schedules only.
    """

    name: str
    contract: str
    about: str
    roles: tuple[Role, ...]
    configuration: Mapping[str, int]
    seconds: float
    clauses: tuple[str, ...] = ()
    hang: str = ""
    setup: Callable[[Strand], None] = _nothing
    closing: Callable[[Strand], None] = _nothing
    claims: tuple[Claim, ...] = ()
    sometimes: Mapping[str, Callable[[Round], bool]] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()
    soak: bool = False
    noise: float = 0.0
    fair: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many strands play each role."""
        return {role.name: role.count for role in self.roles}

    def with_counts(self, counts: Mapping[str, int]) -> Self:
        """The same scenario with other numbers of strands in the roles that it has."""
        roles = tuple(replace(role, count=counts.get(role.name, role.count)) for role in self.roles)
        return replace(self, roles=roles)


def chosen_scenarios(
    contract: str, names: Sequence[str] = (), counts: Iterable[tuple[str, int]] = ()
) -> tuple[Scenario, ...]:
    """The installed scenarios of these names (all if none), with these counts; raises UsageError."""
    available = {scenario.name: scenario for scenario in installed_scenarios(contract)}
    for name in names:
        if name not in available:
            raise UsageError(
                f"there is no scenario {name!r} for {contract}; there are: {', '.join(available)}"
            )
    chosen = [available[name] for name in names] if names else list(available.values())
    wanted = dict(counts)
    roles = {role.name for scenario in chosen for role in scenario.roles}
    for name in wanted:
        if name not in roles:
            raise UsageError(f"no chosen scenario has a role {name!r}; there are: {', '.join(sorted(roles))}")
    return tuple(scenario.with_counts(wanted) for scenario in chosen)


def installed_scenarios(contract: str) -> tuple[Scenario, ...]:
    """All scenarios for a contract that are installed; raises HarnessError if one cannot be loaded."""
    found: list[Scenario] = []
    for entry in sorted(entry_points(group=_GROUP), key=lambda entry: entry.value):
        try:
            loaded = entry.load()
        except Exception as error:
            raise HarnessError(
                f"scenarios {entry.value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        found.extend(scenario for scenario in loaded if scenario.contract == contract)
    return tuple(found)
