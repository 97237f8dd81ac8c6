"""How a mutant is written: a small subclass of the reference, marked with the clause that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TypeVar

from harness.contracts.records import Mutant

__all__ = ["breaks", "mutants_in"]

_MARK = "planted"
Class = TypeVar("Class", bound=type)


def breaks(clause: str, *, rare: bool = False) -> Callable[[Class], Class]:
    """Mark a class as the mutant of this clause. Its docstring's first line says what the bug is.

    `rare` marks a bug that only a rare interleaving shows.
    """

    def mark(mutant: Class) -> Class:
        setattr(mutant, _MARK, (clause, rare))
        return mutant

    return mark


def mutants_in(modules: Iterable[ModuleType]) -> tuple[Mutant, ...]:
    """The marked classes of some modules, in the order they are written."""
    return tuple(
        Mutant(
            name=f"{module.__name__.rpartition('.')[2]}.{name}",
            clause=vars(value)[_MARK][0],
            target=f"{module.__name__}:{name}",
            bug=(value.__doc__ or "").partition("\n")[0].rstrip("."),
            rare=vars(value)[_MARK][1],
        )
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and _MARK in vars(value)
    )
