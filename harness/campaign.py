"""A longer exploration of one test from the command line, with its progress."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from harness.explore.exploration import Effort, Exploration
from harness.explore.explorer import explored_in, laboratory_for
from harness.explore.naming import test_named
from harness.findings import Verdict
from harness.report.interleaving import interleaving_text
from harness.seeds.schedule import Seed
from harness.seeds.store import SeedStore, replay_command

__all__ = ["explore_test"]

_WIDEST = 120


def explore_test(identity: str, effort: Effort, seeds: str, console: Console) -> Verdict:
    """Explore a test and print what came of it; raises UsageError and HarnessError."""
    laboratory = laboratory_for(test_named(identity, "harness explore"), effort)
    began = time.monotonic()
    line = Text()

    def progress(executions: int, steps: int, distinct: int) -> None:
        seconds = max(time.monotonic() - began, 1e-6)
        line.plain = (
            f"{executions} executions, {distinct} distinct schedules, {executions / seconds:.0f} executions/s"
        )

    if console.is_terminal:
        with Live(line, console=console, refresh_per_second=4):
            outcome = explored_in(laboratory, effort, progress)
    else:
        outcome = explored_in(laboratory, effort, progress)
    if outcome.found is not None and outcome.verdict is Verdict.VIOLATION:
        command = _kept(identity, effort, outcome, seeds)
        console.print(interleaving_text(outcome.found, min(console.width, _WIDEST), command), markup=False)
    for reason in outcome.reasons:
        console.print(reason, markup=False)
    rate = outcome.executions / max(outcome.seconds, 1e-6)
    console.print(
        f"{outcome.verdict.value}  {identity}: {outcome.executions} executions, {outcome.distinct} distinct "
        f"schedules, {rate:.0f} executions/s; {outcome.coverage.value}",
        markup=False,
    )
    return outcome.verdict


def _kept(identity: str, effort: Effort, outcome: Exploration, seeds: str) -> str:
    """Keep the schedule; the command that replays it, empty if nothing is kept."""
    found = outcome.found
    if not seeds or found is None:
        return ""
    failure = found.failure
    fields = {
        "test": identity,
        "instrument": " ".join(effort.instrument),
        "finding": failure.kind.value,
        "error": failure.error_type,
        "message": failure.message,
    }
    path = SeedStore(Path(seeds)).keep(Seed(found.schedule, fields), "test-" + identity.rpartition("::")[2])
    return replay_command(path)
