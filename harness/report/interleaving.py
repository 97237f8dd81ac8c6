"""An interleaving as text: one column per task, the source lines that matter, in the order they ran."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path

from harness.control.failures import Failure
from harness.control.trace import Step
from harness.explore.exploration import Found
from harness.report.explanation import explained, place_of, steps_that_matter

__all__ = ["interleaving_text", "trace_lines"]

Row = tuple[str, str]
"""A task, and what it did."""

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
    steps = steps_that_matter(failure, found.steps)
    if len(steps) > _MOST_STEPS:
        lines += [
            f"  ({len(steps) - _MOST_STEPS} steps before these; --trace of 'harness replay' shows all)",
            "",
        ]
    rows = [(step.task, _cell(step)) for step in _merged(steps[-_MOST_STEPS:])]
    lines += _columns([*rows, *_stuck(failure)], width)
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


def _columns(rows: Sequence[Row], width: int) -> list[str]:
    tasks = list(dict.fromkeys(task for task, _ in rows))
    if not tasks:
        return []
    wide = max(_NARROWEST, (width - 2 - 3 * (len(tasks) - 1)) // len(tasks))
    if wide * len(tasks) + 3 * (len(tasks) - 1) > width:
        return _list(rows, width)
    lines = ["  " + " | ".join(_fit(task, wide) for task in tasks)]
    lines.append("  " + "-+-".join("-" * wide for _ in tasks))
    for task, text in rows:
        lines.append("  " + " | ".join(_fit(text if task == column else "", wide) for column in tasks))
    return lines


def _list(rows: Sequence[Row], width: int) -> list[str]:
    """Too many tasks for columns: the task's name in front."""
    name = max(len(task) for task, _ in rows)
    return [f"  {task:{name}} {text}"[:width] for task, text in rows]


def _stuck(failure: Failure) -> list[Row]:
    """Where those in a cycle stand."""
    if not all(wait.holder for wait in failure.waits):
        return []
    return [
        (wait.task, f"waits: {Path(wait.file).name}:{wait.line}  {_source(wait.file, wait.line)}")
        for wait in failure.waits
        if wait.file
    ]


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
    return f"{place_of(step)}  {_source(step.file, step.line)}"


def _source(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()


def _fit(text: str, width: int) -> str:
    return text[: width - 1] + "~" if len(text) > width else text.ljust(width)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
