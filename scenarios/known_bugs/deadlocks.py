"""CS/deadlock01, din_phil2 to din_phil7 and phase01: locks taken in a circle, and one never given back.

SCTBench's philosophers take both forks in one atomic step and fail an assertion in the end;
here they take them one after the other, so that what is found is the deadlock.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["DEADLOCK01", "DINING", "PHASE01"]

TABLES = (2, 3, 4, 5, 6, 7)


class Pair:
    """Two locks and what they guard together."""

    def __init__(self) -> None:
        self.first = Lock()
        self.second = Lock()
        self.total = 1


def add_first_to_second(pair: Pair) -> None:
    """Take the first lock, then the second."""
    with pair.first, pair.second:
        pair.total += 1


def add_second_to_first(pair: Pair) -> None:
    """Take the second lock, then the first."""
    with pair.second, pair.first:
        pair.total += 1


def check_total(pair: Pair) -> None:
    """Raises AssertionError for a lost addition."""
    assert pair.total == 3, f"the total is {pair.total}"


class Table:
    """As many forks as seats."""

    def __init__(self, seats: int) -> None:
        self.forks = [Lock() for _ in range(seats)]
        self.meals = [0] * seats


def dine(table: Table, seat: int) -> None:
    """Take the fork on the left, then the one on the right."""
    left, right = table.forks[seat], table.forks[(seat + 1) % len(table.forks)]
    with left, right:
        table.meals[seat] += 1


def dine_in_order(table: Table, seat: int) -> None:
    """Take the fork with the lower number first."""
    lower, higher = sorted((seat, (seat + 1) % len(table.forks)))
    with table.forks[lower], table.forks[higher]:
        table.meals[seat] += 1


def check_meals(table: Table) -> None:
    """Raises AssertionError when somebody has not eaten."""
    assert all(meals == 1 for meals in table.meals), f"the meals are {table.meals}"


class Phases:
    """Two locks that every task goes through."""

    def __init__(self) -> None:
        self.first = Lock()
        self.second = Lock()


def pass_and_keep(phases: Phases) -> None:
    """Go through, and keep the first lock for good."""
    with phases.first:
        pass
    phases.first.acquire()
    _second_phase(phases)


def pass_through(phases: Phases) -> None:
    """Go through, and give the first lock back."""
    with phases.first:
        pass
    phases.first.acquire()
    phases.first.release()
    _second_phase(phases)


def _second_phase(phases: Phases) -> None:
    for _ in range(2):
        with phases.second:
            pass


def _dining(seats: int) -> KnownBug:
    def program(name: str, dining: Callable[..., None]) -> Program:
        return Program(
            name,
            partial(Table, seats),
            tuple(partial(dining, seat=seat) for seat in range(seats)),
            check_meals,
            task_names=tuple(f"philosopher-{seat}" for seat in range(seats)),
        )

    return KnownBug(
        name=f"din_phil_{seats}",
        source="CS",
        about=f"All {seats} philosophers hold the fork on their left and wait for the one on their right.",
        finding="deadlock",
        message="",
        buggy=program(f"din_phil_{seats}", dine),
        repaired=program(f"din_phil_{seats}_ok", dine_in_order),
    )


DEADLOCK01 = KnownBug(
    name="deadlock01",
    source="CS",
    about="Two tasks take two locks in opposite orders.",
    finding="deadlock",
    message="",
    buggy=Program("deadlock01", Pair, (add_first_to_second, add_second_to_first), check_total),
    repaired=Program("deadlock01_ok", Pair, (add_first_to_second, add_first_to_second), check_total),
)

DINING = tuple(_dining(seats) for seats in TABLES)

PHASE01 = KnownBug(
    name="phase01",
    source="CS",
    about="Whoever is first ends with the lock held, and the other one waits for ever.",
    finding="deadlock",
    message="",
    buggy=Program("phase01", Phases, (pass_and_keep, pass_and_keep)),
    repaired=Program("phase01_ok", Phases, (pass_through, pass_through)),
    every_run=True,
)
