"""`harness.explore`: controlled exploration in people's own tests.

A failing exploration raises `Violated`, an AssertionError whose text is the shrunk interleaving; its
schedule is kept as a seed, and the next run of the same test replays the kept seeds first. An exploration
that could not decide raises `Undecided`: green is only ever said of something that was explored.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.control.trace import TraceRecorder
from harness.explore.exploration import Effort, Exploration, Found
from harness.explore.explorer import explored_in, laboratory_for
from harness.explore.laboratory import Laboratory
from harness.explore.program import Program
from harness.findings import HarnessError, UsageError, Verdict
from harness.report.interleaving import interleaving_text
from harness.seeds.schedule import Seed
from harness.seeds.store import DEFAULT_FOLDER, SeedStore, replay_command
from harness.strategies.replay import Replay

__all__ = ["Undecided", "Violated", "explore"]

_WIDTH = 100


class Violated(AssertionError):
    """A claim does not hold under some schedule. `exploration` has everything that is known of it."""

    def __init__(self, text: str, exploration: Exploration) -> None:
        super().__init__(text)
        self.exploration = exploration


class Undecided(HarnessError):
    """The exploration can neither confirm nor refute: nothing ran concurrently, or all was cut."""


def explore(
    subject: Any = None,
    tasks: Iterable[Callable[[Any], object]] | None = None,
    check: Callable[[Any], None] | None = None,
    *,
    invariant: Callable[[Any], None] | None = None,
    name: str = "",
    executions: int = 2_000,
    seconds: float | None = None,
    steps: int = 20_000,
    seed: int = 0,
    strategy: str = "portfolio",
    racing_start: bool = False,
    jobs: int = 1,
    instrument: Iterable[str] = (),
    seeds: str | Path | None = DEFAULT_FOLDER,
) -> Any:
    """Explore the interleavings of a test function, or of tasks over a state.

    As a decorator, with or without options, `subject` is the test; it runs as a whole, and whatever
    threads it starts are controlled. Called with `tasks`, `subject` is the setup: it makes the state that
    each task, `check` and `invariant` (checked after every step) are called with. `executions`,
    `seconds` and `steps` (per execution) are the budget, `jobs` the processes that spend it; `seeds` is
    where failing schedules are kept, None
    for nowhere; `instrument` names packages that are neither yours nor installed ones but are under test.

    Returns the `Exploration` when called with tasks. Raises `Violated`, `Undecided` and UsageError.
    """
    __tracebackhide__ = True
    effort = Effort(
        executions=executions,
        seconds=seconds,
        steps=steps,
        seed=seed,
        strategy=strategy,
        racing_start=racing_start,
        jobs=jobs,
        every_step=invariant is not None,
        instrument=tuple(instrument),
    )
    store = None if seeds is None else SeedStore(Path(seeds))
    if tasks is not None:
        if not callable(subject):
            raise UsageError("harness.explore(setup, tasks, check): setup is a function that makes the state")
        program = Program(name or _caller(), subject, tuple(tasks), check, invariant)
        return _explored(program, program.name, effort, store)
    if subject is None:
        return functools.partial(_decorated, effort=effort, store=store)
    if not callable(subject):
        raise UsageError("harness.explore decorates a function, or takes a setup and tasks")
    return _decorated(subject, effort=effort, store=store)


def _decorated(function: Callable[[], Any], effort: Effort, store: SeedStore | None) -> Callable[[], None]:
    parameters = inspect.signature(function).parameters
    if parameters:
        raise UsageError(
            f"{function.__qualname__} takes {', '.join(parameters)}: an explored test makes what it needs "
            "itself, anew in every execution; fixtures would be shared between executions"
        )

    @functools.wraps(function)
    def explored_test() -> None:
        __tracebackhide__ = True
        _explored(function, _identity(function), effort, store)

    return explored_test


def _identity(function: Callable[..., Any]) -> str:
    path = Path(inspect.getsourcefile(inspect.unwrap(function)) or "").resolve()
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{shown}::{function.__qualname__}"


def _caller() -> str:
    """The test that pytest is running, else the place of the call."""
    running = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if running:
        return running
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("harness.explore"):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}" if frame is not None else "program"


def _explored(
    source: Program | Callable[[], Any], identity: str, effort: Effort, store: SeedStore | None
) -> Exploration:
    __tracebackhide__ = True
    laboratory = laboratory_for(source, effort)
    for path, seed in store or ():
        if isinstance(seed, Seed) and seed.fields.get("test") == identity:
            _replayed(laboratory, path, seed, effort)
    exploration = explored_in(laboratory, effort, lambda executions, steps, distinct: None)
    found = exploration.found
    if exploration.verdict is Verdict.VIOLATION and found is not None:
        command = ""
        if store is not None:
            path = store.keep(_seed_of(identity, effort, found), "test-" + identity.rpartition("::")[2])
            command = replay_command(path) if "::" in identity else f"seed {path}"
        raise Violated("\n" + interleaving_text(found, _WIDTH, command), exploration)
    if exploration.verdict is Verdict.UNKNOWN:
        raise Undecided(f"{identity}: {'; '.join(exploration.reasons)}")
    return exploration


def _seed_of(identity: str, effort: Effort, found: Found) -> Seed:
    failure = found.failure
    return Seed(
        found.schedule,
        {
            "test": identity,
            "instrument": " ".join(effort.instrument),
            "finding": failure.kind.value,
            "error": failure.error_type,
            "message": failure.message,
        },
    )


def _replayed(laboratory: Laboratory, path: Path, seed: Seed, effort: Effort) -> None:
    """Replay a kept seed; raises Violated if it fails again. A stale one is no reason to fail."""
    __tracebackhide__ = True
    recorder = TraceRecorder()
    ended = laboratory.run(Replay(seed.schedule), recorder)
    if ended.failure is None:
        return
    found = Found(
        failure=ended.failure,
        schedule=seed.schedule,
        execution=1,
        strategy=f"kept seed {path.name}",
        steps=tuple(recorder.steps),
        preemptions=sum(step.preempts for step in recorder.steps),
        replayed=1,
        replays=1,
    )
    from harness.explore.exploration import Coverage

    outcome = Exploration(Verdict.VIOLATION, Coverage.BUDGET, found, 1, 0.0, ended.steps, 1)
    raise Violated("\n" + interleaving_text(found, _WIDTH, replay_command(path)), outcome)
