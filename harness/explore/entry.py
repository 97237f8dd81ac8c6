"""`harness.explore`: controlled exploration in people's own tests.

A failing exploration raises `Violated`, an AssertionError whose text is the shrunk interleaving; its
schedule is kept as a seed, and the next run of the same test replays the kept seeds first. An exploration
that could not decide raises `Undecided`: green is only ever said of something that was explored.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.control.trace import TraceRecorder
from harness.explore.exploration import Coverage, Effort, Exploration, Found
from harness.explore.explorer import explored_in, laboratory_for
from harness.explore.inline import origin_of_call, present_conductor, refuse_nesting
from harness.explore.laboratory import Laboratory
from harness.explore.origin import Origin, plain_arguments
from harness.explore.program import Program
from harness.findings import HarnessError, UsageError, Verdict
from harness.report.interleaving import interleaving_text
from harness.seeds.schedule import Seed
from harness.seeds.store import DEFAULT_FOLDER, SeedStore, stale
from harness.strategies import strategy_named
from harness.strategies.replay import Replay
from harness.targets.locate import check_packages

__all__ = ["SeedWarning", "Undecided", "Violated", "explore"]

_WIDTH = 76  # what pytest leaves of 80 columns


class Violated(AssertionError):
    """A claim does not hold under some schedule. `exploration` has everything that is known of it."""

    def __init__(self, text: str, exploration: Exploration) -> None:
        super().__init__(text)
        self.exploration = exploration


class Undecided(HarnessError):
    """The exploration can neither confirm nor refute: nothing ran concurrently, or all was cut."""


class SeedWarning(UserWarning):
    """A kept seed that protects nothing any more: it no longer applies, or nobody can read it."""


for _public in (SeedWarning, Undecided, Violated):
    _public.__module__ = "harness.explore"  # where people find them, and short enough for a summary


def explore(
    subject: Any = None,
    tasks: Iterable[Callable[[Any], object]] | None = None,
    check: Callable[[Any], bool | None] | None = None,
    *,
    invariant: Callable[[Any], bool | None] | None = None,
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

    As a decorator, `subject` is the test, run as a whole with whatever threads it starts. With `tasks`, it
    is the setup: it makes the state that each task, `check` (at the end) and `invariant` (after every step)
    are called with; these two raise AssertionError or answer False when what they claim does not hold.

    `executions`, `seconds` and `steps` (per execution) are the budget, `jobs` the processes that spend it;
    `seed` is the number that all choices follow from, `strategy` a name of `harness.strategies.STRATEGIES`;
    with `racing_start` the tasks do not start together but one by one, while those before run already;
    `seeds` is where failing schedules are kept, None for nowhere; `name` tells an exploration from
    others of the same test; `instrument` names packages that are neither yours nor installed ones but are
    under test.

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
    _check(effort)
    store = None if seeds is None else SeedStore(Path(seeds))
    if tasks is not None:
        if not callable(subject):
            raise UsageError("harness.explore(setup, tasks, check): setup is a function that makes the state")
        return _tasks_explored(Program(name, subject, tuple(tasks), check, invariant), effort, store)
    if check is not None or invariant is not None or racing_start or name:
        raise UsageError(
            "check, invariant, racing_start and name belong to harness.explore(setup, tasks, check); "
            "a decorated test asserts what it claims itself"
        )
    if subject is None:
        return functools.partial(_decorated, effort=effort, store=store)
    if not callable(subject):
        raise UsageError("harness.explore decorates a function, or takes a setup and tasks")
    return _decorated(subject, effort=effort, store=store)


def _tasks_explored(program: Program, effort: Effort, store: SeedStore | None) -> Exploration:
    __tracebackhide__ = True
    refuse_nesting()
    conductor = present_conductor()
    if conductor is not None:
        return conductor(program, effort)
    return _Explorer(effort, store, origin_of_call(program.name)).explored(program)


def _check(effort: Effort) -> None:
    __tracebackhide__ = True
    for name in ("executions", "steps", "jobs"):
        if getattr(effort, name) < 1:
            raise UsageError(f"harness.explore: {name} is {getattr(effort, name)}, and has to be 1 or more")
    strategy_named(effort.strategy, 0)
    check_packages(effort.instrument)


def _decorated(function: Callable[..., Any], effort: Effort, store: SeedStore | None) -> Callable[..., None]:
    __tracebackhide__ = True
    if inspect.iscoroutinefunction(function):
        raise UsageError(f"{function.__qualname__} is async: asyncio is not under control, threads are")
    test = _identity(function)

    @functools.wraps(function)
    def explored_test(*instance: Any, **arguments: Any) -> None:
        __tracebackhide__ = True
        refuse_nesting()
        origin = Origin(test, plain_arguments(arguments, function.__qualname__))
        whole = functools.partial(function, **arguments) if arguments else function
        _Explorer(effort, store, origin).explored(whole)

    return explored_test


def _identity(function: Callable[..., Any]) -> str:
    path = Path(inspect.getsourcefile(inspect.unwrap(function)) or "").resolve()
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{shown}::{function.__qualname__}"


@dataclass(frozen=True, slots=True)
class _Explorer:
    """One exploration within somebody's test: kept seeds first, then new schedules."""

    effort: Effort
    store: SeedStore | None
    origin: Origin

    def explored(self, source: Program | Callable[[], Any]) -> Exploration:
        """Explore; raises Violated, Undecided and HarnessError."""
        __tracebackhide__ = True
        laboratory = laboratory_for(source, self.effort)
        if self.store is not None:
            for path, seed in self.origin.kept(self.store):
                if isinstance(seed, UsageError):
                    warnings.warn(SeedWarning(f"seed ignored: {seed}"), stacklevel=4)
                else:
                    self._replay(laboratory, path, seed)
        exploration = explored_in(laboratory, self.effort, lambda executions, steps, distinct: None)
        found = exploration.found
        if exploration.verdict is Verdict.VIOLATION and found is not None:
            command = "" if self.store is None else self.origin.keep(self.store, self.effort, found)
            raise Violated(interleaving_text(found, _WIDTH, command), exploration)
        if exploration.verdict is Verdict.UNKNOWN:
            raise Undecided(f"{self.origin.test}: {'; '.join(exploration.reasons)}")
        return exploration

    def _replay(self, laboratory: Laboratory, path: Path, seed: Seed) -> None:
        """Replay a kept seed; raises Violated if it fails again, and warns if it no longer applies."""
        __tracebackhide__ = True
        recorder, replay = TraceRecorder(), Replay(seed.schedule)
        ended = laboratory.run(replay, recorder)
        if ended.failure is None:
            if replay.missed:
                warnings.warn(SeedWarning(stale(path, replay.missed)), stacklevel=5)
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
        outcome = Exploration(Verdict.VIOLATION, Coverage.BUDGET, found, 1, 0.0, ended.steps, 1)
        raise Violated(interleaving_text(found, _WIDTH, self.origin.command(path)), outcome)
