"""The terminal's view of a gate: a live table of stages, the clauses, the findings, the verdict."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from harness.findings import Finding, StageReport, Verdict
from harness.outcome import NOT_RUN, UNDECIDED, ClauseVerdict, GateReport, Listener
from harness.report.visible import visible

__all__ = [
    "TerminalListener",
    "clause_table",
    "counted",
    "finding_view",
    "gate_view",
]

_STYLES = {
    Verdict.OK: "green",
    Verdict.VIOLATION: "bold red",
    Verdict.UNKNOWN: "yellow",
    Verdict.SKIPPED: "dim",
}


def counted(number: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _verdict(verdict: Verdict) -> Text:
    return Text(verdict.value, style=_STYLES[verdict])


def _said(text: str, style: str = "") -> Text:
    """Text that may be the implementation's own."""
    return Text(visible(text), style)


class TerminalListener(Listener):
    """Shows the stages as they run: a live table on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, stages: Iterable[str]) -> None:
        self._console = console
        self._rows: dict[str, tuple[Text, int, int, float]] = {
            stage: (Text("-", "dim"), 0, 0, 0.0) for stage in stages
        }
        self._began = 0.0
        self._running = ""
        self._live = (
            Live(get_renderable=self._table, console=console, refresh_per_second=8)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._live:
            self._live.stop()

    def stage_began(self, stage: str) -> None:
        """A stage starts."""
        self._began = time.monotonic()
        self._running = stage
        self._show(stage, Text("running", "cyan"), 0, 0, 0.0)

    def stage_moved(self, stage: str, executions: int, operations: int) -> None:
        """A stage has got this far."""
        self._show(stage, Text("running", "cyan"), executions, operations, time.monotonic() - self._began)

    def stage_ended(self, report: StageReport) -> None:
        """A stage is over."""
        self._running = ""
        self._show(
            report.stage, _verdict(report.verdict), report.executions, report.operations, report.seconds
        )
        if not self._live:
            self._console.print(
                f"{report.stage}: {report.verdict.value}, {report.executions} executions, "
                f"{report.operations} operations, {report.seconds:.1f} s, "
                f"{counted(len(report.findings), 'finding')}",
                highlight=False,
                soft_wrap=True,
            )

    def _show(self, stage: str, state: Text, executions: int, operations: int, seconds: float) -> None:
        self._rows[stage] = (state, executions, operations, seconds)

    def _table(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("stage", "verdict"):
            table.add_column(name, no_wrap=True)
        for name in ("executions", "operations", "seconds", "executions/s"):
            table.add_column(name, justify="right", no_wrap=True)
        for stage, (state, executions, operations, known) in self._rows.items():
            seconds = time.monotonic() - self._began if stage == self._running else known
            rate = f"{executions / seconds:.0f}" if seconds else ""
            table.add_row(stage, state, str(executions), str(operations), f"{seconds:.1f}", rate)
        return table


def gate_view(report: GateReport, verbose: bool = False) -> RenderableType:
    """Everything after the stages: clauses, findings, coverage, verdict."""
    parts: list[RenderableType] = [clause_table(report.clauses, verbose)]
    parts.extend(finding_view(finding) for finding in report.findings)
    if report.coverage:
        parts.append(_coverage(report))
    parts.extend(_said(f"note: {note}", "dim") for stage in report.stages for note in stage.notes)
    parts.append(_conclusion(report))
    return Group(*parts)


def clause_table(clauses: Sequence[ClauseVerdict], verbose: bool = False) -> RenderableType:
    """The clauses with their verdicts; those that are OK are summed up unless verbose."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("clause", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("checked", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    summed_up = {} if verbose else _groups(clauses)
    for item in clauses:
        if (item.verdict, item.reason if item.verdict is not Verdict.OK else "") not in summed_up:
            reason = {Verdict.OK: item.clause.norm, Verdict.VIOLATION: "see below"}.get(
                item.verdict, item.reason
            )
            table.add_row(item.clause.id, _verdict(item.verdict), str(item.checked), _said(reason))
    for (verdict, reason), group in summed_up.items():
        total = sum(item.checked for item in group)
        told = _said(reason or "--verbose lists them")
        table.add_row(counted(len(group), "clause"), _verdict(verdict), str(total), told)
    return table


_MANY = 6


def _groups(clauses: Sequence[ClauseVerdict]) -> dict[tuple[Verdict, str], list[ClauseVerdict]]:
    """Clauses that a row each would say the same of."""
    groups: dict[tuple[Verdict, str], list[ClauseVerdict]] = {}
    for item in clauses:
        if item.verdict is Verdict.OK:
            groups.setdefault((Verdict.OK, ""), []).append(item)
        elif item.reason in (NOT_RUN, UNDECIDED):
            groups.setdefault((item.verdict, item.reason), []).append(item)
    told = [(key, group) for key, group in groups.items() if key[1] != UNDECIDED or len(group) > _MANY]
    return dict(sorted(told, key=lambda pair: pair[0][0] is Verdict.OK))


def finding_view(finding: Finding) -> RenderableType:
    """One finding: what broke, the evidence, the program, the command."""
    title = "advice" if finding.advisory else finding.kind.value
    head = Text.assemble(
        (f"{title} ", "bold yellow" if finding.advisory else "bold red"),
        (finding.clause or "(no clause)", "bold"),
    )
    parts: list[RenderableType] = [head, Padding(_said(finding.message), (0, 0, 0, 2))]
    if finding.where:
        parts.append(Padding(_said(f"at {finding.where}"), (0, 0, 0, 2)))
    parts.extend(Padding(_said(line), (0, 0, 0, 4)) for line in finding.evidence)
    if finding.program:
        parts.append(
            Padding(
                Syntax(
                    visible(finding.program.rstrip()), "python", background_color="default", word_wrap=True
                ),
                (1, 0, 1, 4),
            )
        )
    if finding.reproduce:
        command = Text.assemble(
            "  again: ", (visible(finding.reproduce), "cyan"), no_wrap=True, overflow="ignore"
        )
        parts += [command, Text()]
    return Group(*parts)


def _coverage(report: GateReport) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="never reached", title_justify="left")
    for name in ("file", "covered", "lines", "branches"):
        table.add_column(name, overflow="fold")
    for name, content in report.coverage.items():
        branches = ", ".join(
            f"{first}->{second if second > 0 else 'exit'}" for first, second in content["branches"]
        )
        table.add_row(
            _said(name), f"{content['percent']} %", _ranges(content["lines"]) or "-", branches or "-"
        )
    return table


def _ranges(lines: list[int]) -> str:
    """Line numbers, runs as first-last."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _conclusion(report: GateReport) -> RenderableType:
    request = report.request
    parts: list[RenderableType] = [_said(reason, "yellow") for reason in report.reasons]
    binding = sum(not finding.advisory for finding in report.findings)
    parts.append(
        Text.assemble(
            (report.verdict.value, _STYLES[report.verdict]),
            f"{_limits(report)}  {visible(request.target)} against contract {report.contract.name}: "
            f"{counted(binding, 'finding')}, seed {request.seed}, "
            f"{sum(stage.seconds for stage in report.stages):.1f} s",
            no_wrap=True,
            overflow="ignore",
        )
    )
    return Group(*parts)


def _limits(report: GateReport) -> str:
    """What the user's own choice left out, so that a part is not taken for the whole."""
    chosen = {
        "stage": report.request.stages,
        "scenario": [f'"{name}"' for name in report.request.scenarios],
    }
    parts = [
        f"{noun}{'s' * (len(names) > 1)} {' and '.join(dict.fromkeys(names))}"
        for noun, names in chosen.items()
        if names
    ]
    return f" ({', '.join(parts)} only)" if parts else ""
