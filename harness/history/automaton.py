"""A model as an automaton over numbers: the model itself is asked once per state and class of operation."""

from __future__ import annotations

from typing import Any

from harness.history.interning import Interner
from harness.history.models import Model
from harness.history.recorder import Recorded

__all__ = ["BLOCKED", "Automaton"]


class _Blocked:
    """The response of an operation that is known to be blocked for ever when the history ends."""

    def __repr__(self) -> str:
        return "blocked"


BLOCKED = _Blocked()

_UNSEEN = object()


class Automaton:
    """States and classes of operations (name, arguments, response) as numbers; rows fill when needed."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._states = Interner()
        self._classes = Interner()
        self.rows: list[dict[int, tuple[int, ...]]] = []  # by class, then by state
        self.looks: set[int] = set()  # classes that never change a state
        self._looks = frozenset(getattr(model, "looks", ()))
        self.initial = tuple(self._states.number(state) for state in model.initial())

    def class_of(self, item: Recorded) -> int:
        """The number of an operation's class; pending ones of a kind are one class."""
        response = item.response if item.returned is not None else _UNSEEN
        number = self._classes.number((item.operation, item.arguments, response))
        if number == len(self.rows):
            self.rows.append({})
            if response is not _UNSEEN and item.operation in self._looks:
                self.looks.add(number)
        return number

    def after(self, number: int, state: int) -> tuple[int, ...]:
        """The states that follow from a state by an operation of this class."""
        row = self.rows[number]
        found = row.get(state)
        if found is None:
            operation, arguments, response = self._classes.values[number]
            before = self._states.values[state]
            if response is _UNSEEN:
                states = self.model.effects(before, operation, arguments)
            else:
                states = self.model.step(before, operation, arguments, response)
            found = row[state] = tuple(dict.fromkeys(map(self._states.number, states)))
        return found

    def blocks(self, number: int, state: int) -> bool:
        """Whether an operation without a response could not have taken effect in this state."""
        return not self.after(number, state)

    def state(self, number: int) -> Any:
        """The model's state of this number."""
        return self._states.values[number]
