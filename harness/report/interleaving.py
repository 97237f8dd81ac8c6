"""An interleaving as text: one column per task, the source lines that matter, in the order they ran."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

from harness.control.trace import Step
from harness.explore.exploration import Found
from harness.report.explanation import explained, place_of, steps_that_matter

__all__ = ["interleaving_text", "trace_lines"]

_NARROWEST = 28
_MOST_STEPS = 40
_MOST_DEVIATIONS = 20


def interleaving_text(found: Found, width: int = 80, reproduce: str = "") -> str:
    """Everything a person needs to see of a failure: what, why, in which order, how to see it again."""
    failure = found.failure
    lines = [f"{failure.kind.value}: {failure.message}"]
    if failure.where and failure.where not in failure.message and not failure.waits:
        lines.append(f"  at {failure.where}")
    lines += ["", explained(failure, found.steps), ""]
    steps = steps_that_matter(found.steps)
    if len(steps) > _MOST_STEPS:
        lines += [
            f"  ({len(steps) - _MOST_STEPS} steps before these; --trace of 'harness replay' shows all)",
            "",
        ]
    lines += _columns(steps[-_MOST_STEPS:], width)
    lines += ["", f"schedule, {_count(found.preemptions, 'preemption')} ({found.strategy}):"]
    lines += [f"  {deviation}" for deviation in found.schedule[:_MOST_DEVIATIONS]] or ["  (undisturbed)"]
    if len(found.schedule) > _MOST_DEVIATIONS:
        lines.append(f"  and {len(found.schedule) - _MOST_DEVIATIONS} more")
    lines.append(f"found in execution {found.execution}; replayed {found.replayed} of {found.replays}")
    if reproduce:
        lines.append(f"replay: {reproduce}")
    return "\n".join(line.rstrip() for line in lines)


def trace_lines(steps: Sequence[Step], width: int = 80) -> list[str]:
    """Every step of an execution, one line each; `*` marks what undisturbed running would not do."""
    name = max((len(step.task) for step in steps), default=0)
    return [
        f"{number:4} {' ' if step.default else '*'} {step.task:{name}}  {step.label}"
        f"{f' (line {step.line})' if step.line else ''}"[:width]
        for number, step in enumerate(steps, start=1)
    ]


def _columns(steps: Sequence[Step], width: int) -> list[str]:
    tasks = list(dict.fromkeys(step.task for step in steps))
    if not tasks:
        return []
    wide = max(_NARROWEST, (width - 2 - 3 * (len(tasks) - 1)) // len(tasks))
    if wide * len(tasks) + 3 * (len(tasks) - 1) > width:
        return _list(steps, width)
    lines = ["  " + " | ".join(_fit(task, wide) for task in tasks)]
    lines.append("  " + "-+-".join("-" * wide for _ in tasks))
    for step in _merged(steps):
        cells = [_fit(_cell(step) if task == step.task else "", wide) for task in tasks]
        lines.append("  " + " | ".join(cells))
    return lines


def _list(steps: Sequence[Step], width: int) -> list[str]:
    """Too many tasks for columns: the task's name in front."""
    name = max(len(step.task) for step in steps)
    return [f"  {step.task:{name}} {_cell(step)}"[:width] for step in _merged(steps)]


def _merged(steps: Sequence[Step]) -> list[Step]:
    """Neighbouring steps of one task on one line are one."""
    merged: list[Step] = []
    for step in steps:
        if merged and (merged[-1].task, merged[-1].file, merged[-1].line) == (
            step.task,
            step.file,
            step.line,
        ):
            continue
        merged.append(step)
    return merged


def _cell(step: Step) -> str:
    if not step.file:
        return step.label
    source = linecache.getline(step.file, step.line).strip()
    return f"{place_of(step)}  {source}"


def _fit(text: str, width: int) -> str:
    return text[: width - 1] + "~" if len(text) > width else text.ljust(width)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
