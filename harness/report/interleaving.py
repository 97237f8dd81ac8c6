"""An interleaving as text: one column per task, the source lines that matter, in the order they ran."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.control.failures import Failure
from harness.control.trace import Step
from harness.explore.exploration import Found
from harness.report.explanation import explained
from harness.report.relevance import handovers, steps_that_matter

__all__ = ["interleaving_story", "interleaving_text", "trace_lines"]


@dataclass(frozen=True, slots=True)
class Row:
    """What a task did at a line, or, without a file, what it is said to have done; `saying` comes first."""

    task: str
    file: str
    line: int
    saying: str = ""

    def text(self, with_file: bool) -> str:
        """The cell: the place, and the source there."""
        if not self.file:
            return self.saying
        place = f"{Path(self.file).name}:{self.line}" if with_file else f"{self.line}"
        return f"{self.saying}{place}  {linecache.getline(self.file, self.line).strip()}"


_NARROWEST = 28
_MOST_STEPS = 40
_MOST_DEVIATIONS = 20


def interleaving_text(found: Found, width: int = 80, reproduce: str = "") -> str:
    """Everything a person needs to see of a failure: what, why, in which order, how to see it again."""
    failure = found.failure
    lines = _wrapped(f"{failure.kind.value}: {failure.message}", width)
    if failure.where and failure.where not in failure.message and not failure.waits:
        lines.append(f"  at {failure.where}")
    lines += ["", interleaving_story(found, width)]
    if reproduce:
        lines.append(f"replay: {reproduce}")
    return "\n".join(lines)


def interleaving_story(found: Found, width: int = 80) -> str:
    """The same without what failed and the command: for whoever tells these in another way."""
    failure = found.failure
    lines = [*_wrapped(explained(failure, found.steps), width), ""]
    steps = steps_that_matter(failure, found.steps)
    if len(steps) > _MOST_STEPS:
        lines += [
            f"  ({len(steps) - _MOST_STEPS} steps before these; --trace of 'harness replay' shows all)",
            "",
        ]
    rows = _rows(steps[-_MOST_STEPS:], found.steps)
    lines += _columns([*rows, *_stuck(failure)], width)
    lines += ["", f"schedule, {_choices(found)}"]
    lines += [f"  {deviation}" for deviation in found.schedule[:_MOST_DEVIATIONS]]
    if len(found.schedule) > _MOST_DEVIATIONS:
        lines.append(f"  and {len(found.schedule) - _MOST_DEVIATIONS} more")
    lines.append(f"found in execution {found.execution}; replayed {found.replayed} of {found.replays}")
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
    """A column per task; where all happens in one file, its name stands above."""
    tasks = list(dict.fromkeys(row.task for row in rows))
    if not tasks:
        return []
    files = {row.file for row in rows}
    heading = [f"  in {Path(rows[0].file).name}:", ""] if len(files) == 1 and rows[0].file else []
    cells = [(row.task, row.text(with_file=not heading)) for row in rows]
    wide = max(_NARROWEST, (width - 2 - 3 * (len(tasks) - 1)) // len(tasks))
    if wide * len(tasks) + 3 * (len(tasks) - 1) > width:
        return heading + _list(cells, width)
    lines = [*heading, "  " + " | ".join(_fit(task, wide) for task in tasks)]
    lines.append("  " + "-+-".join("-" * wide for _ in tasks))
    for task, text in cells:
        lines += [
            "  " + " | ".join((part if task == column else "").ljust(wide) for column in tasks)
            for part in _wrapped(text, wide)
        ]
    return lines


def _list(cells: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Too many tasks for columns: the task's name in front."""
    name = max(len(task) for task, _ in cells)
    return [
        f"  {task if not place else '':{name}} | {part}"
        for task, text in cells
        for place, part in enumerate(_wrapped(text, width - name - 5))
    ]


def _stuck(failure: Failure) -> list[Row]:
    """Where those stand who wait for ever."""
    return [Row(wait.task, wait.file, wait.line, "waits: ") for wait in failure.waits if wait.file]


def _rows(shown: Sequence[Step], steps: Sequence[Step]) -> list[Row]:
    """A row per line that a task ran; a wait that was ended has one where it began, too."""
    order = {(step.at, step.task, step.label): number for number, step in enumerate(steps)}
    waits = {}
    for handover in handovers(steps):
        woken = handover.woken
        waits[order[woken.at, woken.task, woken.label]] = handover.began
    numbered: list[tuple[float, Row]] = []
    for step in _merged(shown):
        number = order[step.at, step.task, step.label]
        said = f"{step.label}: " if step.kind == "fire" and step.file else "" if step.file else step.label
        row = Row(step.task, step.file, step.line, said)
        if number in waits:
            numbered.append((waits[number] - 0.5, replace(row, saying="waits: ")))
            row = replace(row, saying="woken: ")
        numbered.append((number, row))
    return [row for _, row in sorted(numbered, key=lambda pair: pair[0])]


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


def _fit(text: str, width: int) -> str:
    return text[: width - 1] + "~" if len(text) > width else text.ljust(width)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="    ", break_on_hyphens=False) or [""]


def _choices(found: Found) -> str:
    """How many choices differ from undisturbed running, and how many of them interrupt a task."""
    number = len(found.schedule)
    if not number:
        return f"undisturbed ({found.strategy})"
    some = f"{found.preemptions or 'none'} of them"
    preempting = "all preempt" if found.preemptions == number else f"{some} preempt"
    if number == 1:
        return f"1 choice, {'a' if found.preemptions else 'no'} preemption ({found.strategy}):"
    return f"{number} choices, {preempting} ({found.strategy}):"
