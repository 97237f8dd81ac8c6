"""Explorations that a test makes itself, and the commands that run the test for the sake of one of them.

A test that calls `harness.explore(setup, tasks, check)` runs as an ordinary function. For a command that
explores it for longer, or replays a seed of it, a *conductor* takes the place of each of its explorations.
"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

from harness.explore.exploration import Coverage, Effort, Exploration
from harness.explore.laboratory import Laboratory
from harness.explore.origin import Origin
from harness.explore.program import Program
from harness.findings import UsageError, Verdict
from harness.strategies.random_walk import RandomWalk

__all__ = [
    "Conductor",
    "NestedExploration",
    "conducted",
    "explores_by_itself",
    "numbered",
    "origin_of_call",
    "refuse_nesting",
    "unexplored",
]

Conductor = Callable[[Program, Effort], Exploration]
"""Called with the program and the effort that the test asks for."""

_conductor: ContextVar[Conductor | None] = ContextVar("conductor", default=None)
_counted: list[str] = []


class NestedExploration(UsageError):
    """Code that is being explored asks for an exploration."""


@contextmanager
def conducted(conductor: Conductor) -> Iterator[None]:
    """Explorations of tasks are handed to the conductor."""
    token = _conductor.set(conductor)
    _counted.clear()
    try:
        yield
    finally:
        _conductor.reset(token)
        _counted.clear()


def present_conductor() -> Conductor | None:
    """Who takes the place of explorations, if anybody does."""
    return _conductor.get()


def refuse_nesting() -> None:
    """Raise NestedExploration, out of the exploration, if one is going on or being made ready."""
    if Laboratory.importing:
        raise NestedExploration(
            "harness.explore is called while its module is imported, which happens again for an exploration; "
            "call it in a test, or below: if __name__ == '__main__':"
        )
    if Laboratory.busy is not None:
        Laboratory.busy.runtime.abort(
            NestedExploration(
                "the test is explored as a whole and calls harness.explore itself; leave out the decorator"
            )
        )


def explores_by_itself(laboratory: Laboratory) -> bool:
    """Whether the test of this laboratory calls `harness.explore`; raises HarnessError."""
    try:
        laboratory.run(RandomWalk(0))
    except NestedExploration:
        return True
    return False


def unexplored() -> Exploration:
    """What a conductor answers for an exploration that it was not asked for."""
    return Exploration(Verdict.OK, Coverage.BUDGET, None, 0, 0.0, 0, 0)


def numbered(test: str) -> str:
    """The number of this call of `harness.explore` within the run of a test, from 1."""
    if _counted and _counted[0] != test:
        _counted.clear()
    _counted.append(test)
    return str(len(_counted))


def origin_of_call(name: str) -> Origin:
    """The test that pytest is running, else the file that calls; `name` is the exploration's."""
    running = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    frame = _caller()
    if running:
        runner = f"pytest {shlex.quote(running)}" if _takes_arguments(running, frame) else ""
        return Origin(running, exploration=name or numbered(running), runner=runner)
    file = Path(frame.f_code.co_filename).name if frame is not None else "program"
    return Origin(file, exploration=name or numbered(file), runner=f"python {shlex.quote(file)}")


def _caller() -> FrameType | None:
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("harness.explore"):
        frame = frame.f_back
    return frame


def _takes_arguments(running: str, frame: FrameType | None) -> bool:
    """Whether the running test is a method or has arguments, so that nobody but pytest can call it."""
    name = running.rpartition("::")[2]
    while frame is not None and frame.f_code.co_name != name:
        frame = frame.f_back
    return frame is None or frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount > 0
