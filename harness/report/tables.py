"""Contracts and certificates as tables, and what a file gets of whatever a console shows.

Names of clauses and mutants are there to be copied, so that no width breaks them.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from harness.contracts.records import Contract, Mutant

__all__ = ["contract_view", "kill_table", "plain"]

_ROOMY = 1_000


def contract_view(contract: Contract) -> RenderableType:
    """A contract's clauses and resolutions as tables."""
    clauses = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title=f"{contract.name}: {contract.title}", title_justify="left"
    )
    for name in ("clause", "level"):
        clauses.add_column(name, no_wrap=True)
    for name in ("norm", "checked by", "needs"):
        clauses.add_column(name, overflow="fold")
    for clause in contract.clauses:
        clauses.add_row(
            clause.id,
            clause.level.value,
            clause.norm,
            ", ".join(clause.checked_by),
            ", ".join(sorted(clause.needs)),
        )
    settled = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title="how ambiguities were settled", title_justify="left"
    )
    settled.add_column("", no_wrap=True)
    for name in ("question", "rule"):
        settled.add_column(name, overflow="fold")
    for resolution in contract.resolutions:
        settled.add_row(resolution.id, resolution.question, resolution.rule)
    return Group(clauses, settled)


class _Fitting:
    """The wide form of a table where there is room for it, the narrow one elsewhere."""

    def __init__(self, wide: Table, narrow: Table) -> None:
        self._wide = wide
        self._narrow = narrow

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=_ROOMY)
        fits = Measurement.get(console, room, self._wide).maximum <= options.max_width
        yield self._wide if fits else self._narrow


def kill_table(rows: Iterable[tuple[Mutant, str, str, int, float]]) -> RenderableType:
    """Mutants with the stage and clause that killed them, executions and seconds.

    Names are there to be copied and are never broken: where there is no room for all columns, what
    became of a mutant stands below its name.
    """
    wide, narrow = (Table(box=box.SIMPLE_HEAD, pad_edge=False) for _ in range(2))
    for name in ("mutant", "breaks", "killed by", "found as"):
        wide.add_column(name, no_wrap=True)
    narrow.add_column("mutant", no_wrap=True)
    for table in (wide, narrow):
        for name in ("executions", "seconds"):
            table.add_column(name, justify="right", no_wrap=True)
    for mutant, stage, clause, executions, seconds in rows:
        killed = Text(stage) if stage else Text("survives", "bold yellow")
        effort = (str(executions), f"{seconds:.1f}")
        wide.add_row(mutant.name, mutant.clause, killed, clause, *effort)
        below = [
            f"breaks {mutant.clause}",
            *([f"found as {clause}"] if clause not in ("", mutant.clause) else []),
        ]
        became = Text.assemble("  ", "killed by " if stage else "", killed)
        narrow.add_row(Group(Text(mutant.name), *(Text(f"  {line}") for line in below), became), *effort)
    return _Fitting(wide, narrow)


def plain(console: Console, renderable: RenderableType) -> str:
    """What a console would show, for a file: without the blanks that fill its lines up."""
    with console.capture() as shown:
        console.print(renderable, crop=False)
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))
