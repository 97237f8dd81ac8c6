"""Many executions of one program: run lean, and when one fails, run it again to show it.

Executions come in batches. Batch b of a sampling strategy depends on nothing but the seed and b, so
that any number of processes finds the same; a search (bounded, DPOR) is one long batch. What fails first,
by batch and place in it, is what is reported, after it was run again with full tracing and shrunk.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from harness.control.failures import Failure, FailureKind
from harness.control.livelock import LivelockTracer
from harness.control.runtime import Ended
from harness.control.trace import TraceRecorder
from harness.control.watchdog import Watchdog
from harness.explore.exploration import Coverage, Effort, Exploration, Found
from harness.explore.laboratory import Laboratory, ProgramLaboratory
from harness.explore.processes import batches_by_processes, can_fork
from harness.explore.program import Program
from harness.findings import Verdict
from harness.seeds.schedule import deviations_of
from harness.seeds.shrink import Shrunk, shrunk
from harness.strategies import SEARCHES, strategy_named
from harness.strategies.nondeterminism import Nondeterminism
from harness.strategies.protocol import derived
from harness.strategies.rerun import Rerun

__all__ = ["BATCH", "Batch", "explored", "explored_in", "laboratory_for", "run_batch", "show"]

BATCH = 250
_REPLAYS = 10
_LOOKED_INTO = 3  # executions of a batch that were cut and are looked into
_SHOWN_STEPS = 400
_REMEMBERED_SCHEDULES = 1 << 20

Progress = Callable[[int, int, int], None]


@dataclass
class Batch:
    """What one batch did: the failing execution, if any, ended it."""

    executions: int = 0
    steps: int = 0
    racing: int = 0
    points: int = 0
    cut: int = 0
    fair: int = 0
    complete: bool = False
    through: bool = False
    schedules: set[int] = field(default_factory=set)
    failed: Ended | None = None
    early: bool = True
    strategy: str = ""


def explored(
    program: Program | Callable[[], Any],
    effort: Effort,
    report: Progress = lambda executions, steps, distinct: None,
) -> Exploration:
    """Explore until something fails, everything is explored, or the budget is spent."""
    return explored_in(laboratory_for(program, effort), effort, report)


def laboratory_for(program: Program | Callable[[], Any], effort: Effort) -> Laboratory:
    """The laboratory that an exploration with this effort uses."""
    return ProgramLaboratory(
        program,
        steps=effort.steps,
        racing_start=effort.racing_start,
        instrument=effort.instrument,
        every_step=effort.every_step,
    )


def explored_in(laboratory: Laboratory, effort: Effort, report: Progress) -> Exploration:
    """As `explored`, in a laboratory that is there already."""
    if effort.jobs > 1 and effort.strategy not in SEARCHES and can_fork():
        return _explored_by_processes(laboratory, effort, report)
    began = time.perf_counter()
    total = Batch()
    number = 0
    while total.executions < effort.executions and not total.through:
        size = effort.executions - total.executions
        if effort.strategy not in SEARCHES:
            size = min(BATCH, size)
        left = None if effort.seconds is None else effort.seconds - (time.perf_counter() - began)
        if left is not None and left <= 0:
            break
        batch = run_batch(laboratory, effort, number, size, left, lambda done, steps: None)
        before = total.executions
        _add(total, batch)
        report(total.executions, total.steps, len(total.schedules))
        if batch.failed is not None:
            found = show(laboratory, batch, before + batch.executions, effort.shrink)
            return _outcome(total, found, effort, time.perf_counter() - began)
        number += 1
    return _outcome(total, None, effort, time.perf_counter() - began)


def _explored_by_processes(laboratory: Laboratory, effort: Effort, report: Progress) -> Exploration:
    """As `explored_in`, over several processes."""
    began = time.perf_counter()
    whole, rest = divmod(effort.executions, BATCH)
    sizes = [BATCH] * whole + ([rest] if rest else [])
    heard = Batch()

    def run(number: int, left: float | None) -> Batch:
        return run_batch(laboratory, effort, number, sizes[number], left, lambda done, steps: None)

    def hear(number: int, batch: Batch) -> None:
        _add(heard, batch)
        report(heard.executions, heard.steps, len(heard.schedules))

    batches = batches_by_processes(run, len(sizes), effort.jobs, effort.seconds, hear)
    total = Batch()
    for batch in batches.values():
        before = total.executions
        _add(total, batch)
        if batch.failed is not None:
            found = show(laboratory, batch, before + batch.executions, effort.shrink)
            return _outcome(total, found, effort, time.perf_counter() - began)
    return _outcome(total, None, effort, time.perf_counter() - began)


def run_batch(
    laboratory: Laboratory,
    effort: Effort,
    number: int,
    size: int,
    seconds: float | None,
    report: Callable[[int, int], None],
) -> Batch:
    """Run up to `size` executions of batch `number`; stops at the first failure."""
    strategy = strategy_named(effort.strategy, derived(effort.seed, number))
    batch = Batch(strategy=effort.strategy)
    deadline = None if seconds is None else time.perf_counter() + seconds
    last: Ended | None = None
    with _no_collection(), Watchdog(laboratory.runtime):
        while batch.executions < size and strategy.begin(last):
            last = laboratory.run(strategy)
            batch.executions += 1
            batch.steps += last.steps
            batch.racing += last.racing
            batch.points += max(0, last.explored - last.tasks + 1)  # the ends of tasks are no accesses
            batch.cut += last.cut
            batch.fair += last.fair
            if len(batch.schedules) < _REMEMBERED_SCHEDULES:
                batch.schedules.add(hash(last.decisions))
            if last.cut and batch.cut <= _LOOKED_INTO:
                last = _livelock(laboratory, last, strategy.early_timeouts) or last
            if last.failure is not None:
                batch.failed = last
                batch.early = strategy.early_timeouts
                batch.strategy = type(getattr(strategy, "present", strategy)).__name__
                return batch
            if deadline is not None and time.perf_counter() > deadline:
                return batch
    batch.complete = getattr(strategy, "complete", False) and not batch.fair
    batch.through = getattr(strategy, "complete", False)
    return batch


def _livelock(laboratory: Laboratory, cut: Ended, early: bool) -> Ended | None:
    """The execution as a failed one, if it went round in circles until its bound."""
    tracer = LivelockTracer(cut.steps * 3 // 4)
    try:
        laboratory.run(Rerun(cut.decisions, early), tracer)
    except Nondeterminism:
        return None
    return replace(cut, failure=tracer.failure) if tracer.failure is not None else None


def show(laboratory: Laboratory, batch: Batch, execution: int, shrink: bool = True) -> Found:
    """Run the failing execution again with full tracing, shrink it, and replay the result."""
    assert batch.failed is not None
    failure = batch.failed.failure
    assert failure is not None
    if failure.kind is FailureKind.LIVELOCK:
        return _circling(laboratory, batch, execution, failure)
    recorder = TraceRecorder()
    try:
        again = laboratory.run(Rerun(batch.failed.decisions, batch.early), recorder)
    except Nondeterminism as error:
        return _undetermined(batch, execution, failure, recorder, str(error))
    if again.failure is None or again.failure.key != failure.key:
        seen = again.failure.message if again.failure is not None else "no failure"
        return _undetermined(batch, execution, failure, recorder, f"the second run showed {seen}")
    if not shrink:
        preemptions = sum(step.preempts for step in recorder.steps)
        schedule = deviations_of(recorder.steps)
        steps = tuple(recorder.steps)
        return Found(again.failure, schedule, execution, batch.strategy, steps, preemptions, 1, 1)
    small: Shrunk = shrunk(laboratory, deviations_of(recorder.steps), again.failure)
    replayed = sum(small.shows_again() for _ in range(_REPLAYS))
    return Found(
        failure=small.failure,
        schedule=small.schedule,
        execution=execution,
        strategy=batch.strategy,
        steps=tuple(small.steps),
        preemptions=sum(step.preempts for step in small.steps),
        replayed=replayed,
        replays=_REPLAYS,
    )


def _circling(laboratory: Laboratory, batch: Batch, execution: int, failure: Failure) -> Found:
    """A livelock as found: its schedule up to where it goes in circles is not shrunk."""
    assert batch.failed is not None
    recorder = TraceRecorder()
    laboratory.run(Rerun(batch.failed.decisions, batch.early), recorder)
    steps = recorder.steps[:_SHOWN_STEPS]
    preemptions = sum(step.preempts for step in steps)
    return Found(failure, deviations_of(steps), execution, batch.strategy, tuple(steps), preemptions, 1, 1)


def _undetermined(batch: Batch, execution: int, failure: Failure, recorder: TraceRecorder, why: str) -> Found:
    told = Failure(
        FailureKind.NONDETERMINISM,
        f"an execution failed ({failure.message}) and did not when its decisions were made again: {why}",
        task=failure.task,
        where=failure.where,
    )
    return Found(
        told, deviations_of(recorder.steps), execution, batch.strategy, tuple(recorder.steps), 0, 0, 1
    )


def _outcome(total: Batch, found: Found | None, effort: Effort, seconds: float) -> Exploration:
    coverage = (
        Coverage.CUT
        if total.cut
        else Coverage.EXHAUSTED
        if total.complete
        else Coverage.BOUNDED
        if total.through
        else Coverage.BUDGET
    )
    reasons: list[str] = []
    verdict = Verdict.OK
    if found is not None:
        verdict = Verdict.VIOLATION
        if found.failure.kind is FailureKind.NONDETERMINISM:
            verdict = Verdict.UNKNOWN
            reasons.append(found.failure.message)
    elif total.executions == 0:
        verdict = Verdict.UNKNOWN
        reasons.append("the budget allowed no execution")
    elif total.racing == 0:
        verdict = Verdict.UNKNOWN
        reasons.append(
            "no concurrency was exercised: there never were two runnable tasks; is the code under test "
            "imported privately (--instrument), and does it start more than one task?"
        )
    elif total.points == 0:
        verdict = Verdict.UNKNOWN
        reasons.append(
            "the tasks passed no scheduling point: they share nothing that is announced; is the code under "
            "test imported privately (--instrument), or made outside of the setup?"
        )
    elif total.cut == total.executions:
        verdict = Verdict.UNKNOWN
        reasons.append(f"every execution reached the bound of {effort.steps} steps")
    return Exploration(
        verdict=verdict,
        coverage=coverage,
        found=found,
        executions=total.executions,
        seconds=seconds,
        steps=total.steps,
        distinct=len(total.schedules),
        cut=total.cut,
        reasons=tuple(reasons),
    )


def _add(total: Batch, batch: Batch) -> None:
    total.executions += batch.executions
    total.steps += batch.steps
    total.racing += batch.racing
    total.points += batch.points
    total.cut += batch.cut
    total.fair += batch.fair
    total.complete = batch.complete
    total.through = batch.through
    if len(total.schedules) < _REMEMBERED_SCHEDULES:
        total.schedules |= batch.schedules


@contextmanager
def _no_collection() -> Iterator[None]:
    """The cyclic collector runs where we say: a weak reference's callback must not fall on a random step.

    What is there already is set aside, so that the collections in between are cheap.
    """
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
