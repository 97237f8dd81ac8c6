"""All permutations: what linearizability means, without any search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

from harness.history.automaton import BLOCKED
from harness.history.models import Model
from harness.history.recorder import Recorded

__all__ = ["in_real_time", "legal", "linearizable", "parts_of"]


def linearizable(history: Sequence[Recorded], model: Model) -> bool:
    """Whether each part has an order of its finished operations, and of some open ones, that is legal."""
    return all(_part_is(part, model) for part in parts_of(history, model))


def parts_of(history: Sequence[Recorded], model: Model) -> list[list[Recorded]]:
    """The operations by what they are about."""
    parts: dict[Any, list[Recorded]] = {}
    for item in history:
        parts.setdefault(model.partition(item.operation, item.arguments), []).append(item)
    return list(parts.values())


def _part_is(history: Sequence[Recorded], model: Model) -> bool:
    blocked = [item for item in history if item.returned is None and item.response is BLOCKED]
    return any(
        in_real_time(order) and legal(order, blocked, model)
        for chosen in _chosen(history)
        for order in permutations(chosen)
    )


def _chosen(history: Sequence[Recorded]) -> Iterator[list[Recorded]]:
    finished = [item for item in history if item.returned is not None]
    optional = [item for item in history if item.returned is None and item.response is not BLOCKED]
    for count in range(len(optional) + 1):
        for some in combinations(optional, count):
            yield [*finished, *some]


def in_real_time(order: Sequence[Recorded]) -> bool:
    """Nobody comes before one that had returned before it was called; intervals are closed."""
    return not any(
        later.returned is not None and later.returned < earlier.called
        for place, earlier in enumerate(order)
        for later in order[place + 1 :]
    )


def legal(order: Sequence[Recorded], blocked: Sequence[Recorded], model: Model) -> bool:
    """Whether the model allows these responses in this order, and what is blocked at the end."""
    states = list(model.initial())
    for item in order:
        states = [after for state in states for after in _after(model, state, item)]
    return any(
        all(not model.effects(state, item.operation, item.arguments) for item in blocked) for state in states
    )


def _after(model: Model, state: Any, item: Recorded) -> Sequence[Any]:
    if item.returned is None:
        return model.effects(state, item.operation, item.arguments)
    return model.step(state, item.operation, item.arguments, item.response)
