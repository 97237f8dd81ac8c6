"""What `harness check-history` does: a file, a model by name or by place, and an answer in plain text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.findings import UsageError, Verdict
from harness.history.automaton import BLOCKED
from harness.history.files import Failed, read_history
from harness.history.linearizability import Budget, Checked, check_linearizable
from harness.history.models import MODELS, Model
from harness.history.recorder import Recorded
from harness.report.visible import visible
from harness.targets.locate import OrdinaryImporter, Target

__all__ = ["Answer", "check_file", "model_named"]

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a file."""

    verdict: Verdict
    text: str


def model_named(text: str) -> Model:
    """A model of ours by name, or one of the user's as module:Class or file.py:Class; raises UsageError."""
    if text in MODELS:
        return MODELS[text]()  # type: ignore[no-any-return]
    if ":" not in text:
        names = ", ".join(MODELS)
        raise UsageError(
            f"there is no model {text!r}; there are {names}, and any class as module:Class or file.py:Class"
        )
    model = Target.parse(text).factory(OrdinaryImporter())()
    for name in ("initial", "step", "effects", "partition"):
        if not callable(getattr(model, name, None)):
            hint = "derive from harness.history.models.Sequential for the defaults"
            raise UsageError(f"model {text!r} has no {name}(); {hint}")
    return model  # type: ignore[no-any-return]


def check_file(path: Path, model: Model, budget: Budget, width: int = 80) -> Answer:
    """Check the history in a file; raises UsageError for what cannot be read."""
    history = list(read_history(path))
    if not history:
        return Answer(Verdict.UNKNOWN, f"{path}: there is no operation in it")
    operations: frozenset[str] = getattr(model, "operations", frozenset())
    for number, item in enumerate(history, 1):
        if operations and item.operation not in operations:
            known = ", ".join(sorted(operations))
            raise UsageError(f"{path}: operation {number} is {item.operation!r}; the model has {known}")
    try:
        checked = check_linearizable(history, model, budget)
    except Exception as error:
        raise UsageError(f"the model raised {type(error).__name__}: {error}") from error
    return Answer(checked.verdict, "\n".join(line[:width] for line in _lines(checked, len(history))))


def _lines(checked: Checked, count: int) -> Iterable[str]:
    part = f" of part {checked.part!r}" if checked.part is not None else ""
    if checked.verdict is Verdict.OK:
        yield f"OK: {count} operations have an order that the model allows"
        return
    if checked.verdict is Verdict.UNKNOWN:
        yield f"UNKNOWN: {checked.reason}"
        yield f"{len(checked.order)} operations{part} were ordered:"
    elif checked.stuck is None:
        yield f"VIOLATION: all responses{part} have an order, but what is blocked could have gone on:"
    else:
        yield f"VIOLATION: no order explains a response{part}:"
    yield ""
    left_out = len(checked.order) - _SHOWN
    if left_out > 0:
        yield f"    ({left_out} operations before these)"
    for item in checked.order[-_SHOWN:]:
        yield "    " + _told(item)
    if checked.stuck is not None:
        yield "  > " + _told(checked.stuck)
        yield ""
        yield "The operations above the last line are in the longest order that the model allows."


def _told(item: Recorded) -> str:
    arguments = ", ".join(map(repr, item.arguments))
    if item.returned is None:
        answer, end = ("blocked" if item.response is BLOCKED else "?"), "..."
    else:
        answer, end = _response(item.response), str(item.returned)
    return visible(f"{item.client}  {item.operation}({arguments}) -> {answer}   [{item.called}, {end}]")


def _response(response: Any) -> str:
    return f"raised {response.error}" if isinstance(response, Failed) else repr(response)
