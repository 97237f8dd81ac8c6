"""A longer exploration of one test from the command line, with its progress."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from harness.explore.exploration import Effort, Exploration
from harness.explore.explorer import explored_in, laboratory_for
from harness.explore.inline import conducted, explores_by_itself, numbered
from harness.explore.laboratory import Laboratory
from harness.explore.naming import called_plainly, test_named
from harness.explore.origin import Origin
from harness.explore.program import Program
from harness.findings import UsageError, Verdict
from harness.report.interleaving import interleaving_text
from harness.seeds.store import SeedStore

__all__ = ["explore_test"]

_WIDEST = 120


def explore_test(identity: str, effort: Effort, seeds: str, console: Console) -> Verdict:
    """Explore a test, or each exploration that it makes itself, and print what came of it.

    Raises UsageError and HarnessError.
    """
    test = test_named(identity, "harness explore")
    campaign = _Campaign(identity, effort, seeds, console)
    laboratory = laboratory_for(test, effort)
    if not explores_by_itself(laboratory):
        return campaign.explore(laboratory, "").verdict
    verdicts: list[Verdict] = []

    def conduct(program: Program, own: Effort) -> Exploration:
        name = program.name or numbered(identity)
        outcome = campaign.explore(laboratory_for(program, campaign.effort_for(own)), name)
        verdicts.append(outcome.verdict)
        return outcome

    with conducted(conduct):
        called_plainly(test, f"harness explore {identity}")
    if not verdicts:
        raise UsageError(f"harness explore {identity}: the test came to no exploration")
    return Verdict.worst(verdicts)


class _Campaign:
    """What was asked for, and where it is told."""

    def __init__(self, identity: str, effort: Effort, seeds: str, console: Console) -> None:
        self._identity, self._effort, self._console = identity, effort, console
        self._store = SeedStore(Path(seeds)) if seeds else None

    def effort_for(self, own: Effort) -> Effort:
        """The budget of the command for what the test's own call asks for."""
        return replace(
            self._effort,
            steps=own.steps,
            racing_start=own.racing_start,
            every_step=own.every_step,
            instrument=(*own.instrument, *self._effort.instrument),
        )

    def explore(self, laboratory: Laboratory, number: str) -> Exploration:
        """Explore, keep what failed, and tell."""
        effort, console = self._effort, self._console
        began = time.monotonic()
        line = Text()

        def progress(executions: int, steps: int, distinct: int) -> None:
            seconds = max(time.monotonic() - began, 1e-6)
            line.plain = (
                f"{executions} executions, {distinct} distinct schedules, "
                f"{executions / seconds:.0f} executions/s"
            )

        if console.is_terminal:
            with Live(line, console=console, refresh_per_second=4):
                outcome = explored_in(laboratory, effort, progress)
        else:
            outcome = explored_in(laboratory, effort, progress)
        self._tell(outcome, number)
        return outcome

    def _tell(self, outcome: Exploration, number: str) -> None:
        console = self._console
        if outcome.found is not None and outcome.verdict is Verdict.VIOLATION:
            command = ""
            if self._store is not None:
                origin = Origin(self._identity, exploration=number)
                command = origin.keep(self._store, self._effort, outcome.found)
            text = interleaving_text(outcome.found, min(console.width, _WIDEST), command)
            console.print(text, markup=False, soft_wrap=True)
        for reason in outcome.reasons:
            console.print(reason, markup=False)
        name = f"{self._identity}, exploration {number}" if number else self._identity
        rate = outcome.executions / max(outcome.seconds, 1e-6)
        ending = "" if outcome.found is not None else f"; {outcome.coverage.value}"
        console.print(
            f"{outcome.verdict.value}  {name}: {outcome.executions} execution{_s(outcome.executions)}, "
            f"{outcome.distinct} distinct schedule{_s(outcome.distinct)}, {rate:.0f} executions/s{ending}",
            markup=False,
        )


def _s(number: int) -> str:
    return "" if number == 1 else "s"
