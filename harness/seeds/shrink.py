"""Shrinking a schedule: fewest preemptions, then fewest deviations, then earliest.

Each candidate is replayed; it is kept if the same failure shows. Deterministic, and bounded in replays
and in steps, so that a long execution is shrunk less, not for longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.control.failures import Failure
from harness.control.trace import Step, TraceRecorder
from harness.seeds.schedule import Deviation, Schedule, deviations_of
from harness.strategies.bounded import BoundedSearch
from harness.strategies.nondeterminism import Nondeterminism
from harness.strategies.replay import Replay
from harness.strategies.rerun import Rerun

if TYPE_CHECKING:
    from harness.control.runtime import Ended
    from harness.explore.laboratory import Laboratory

__all__ = ["Shrunk", "shrunk"]

_MOST_REPLAYS = 400
_MOST_SEARCHED = 500
_MOST_STEPS = 1_000_000
_FEW = 2


@dataclass
class Shrunk:
    """The smallest schedule found, with the failure and the steps of its last replay."""

    laboratory: Laboratory
    schedule: Schedule
    failure: Failure
    steps: list[Step]
    replays: int = 0
    stepped: int = 0

    def shows_again(self) -> bool:
        """Replay the schedule as it is; whether the same failure shows."""
        return self._shown(self.schedule) is not None

    def attempt(self, candidate: Schedule) -> bool:
        """Keep this schedule if it shows the same failure and is smaller than the present one."""
        if self.replays >= _MOST_REPLAYS or self.stepped >= _MOST_STEPS:
            return False
        self.replays += 1
        shown = self._shown(candidate)
        if shown is None:
            return False
        failure, steps = shown
        schedule = deviations_of(steps)
        if self.steps and _size(schedule, steps) >= _size(self.schedule, self.steps):
            return False
        self.schedule, self.failure, self.steps = schedule, failure, steps
        return True

    def _shown(self, schedule: Schedule) -> tuple[Failure, list[Step]] | None:
        recorder = TraceRecorder()
        try:
            ended = self.laboratory.run(Replay(schedule), recorder)
        except Nondeterminism:
            return None
        self.stepped += ended.steps
        failure = ended.failure
        if failure is None or not self.same(failure):
            return None
        return failure, recorder.steps

    def same(self, failure: Failure) -> bool:
        """Whether another failure is of the same sort."""
        return failure.kind is self.failure.kind and failure.error_type == self.failure.error_type


def shrunk(laboratory: Laboratory, schedule: Schedule, failure: Failure) -> Shrunk:
    """Make a failing schedule small."""
    present = Shrunk(laboratory, schedule, failure, [])
    present.attempt(schedule)
    _drop(present)
    _restart(present)
    _search(present)
    while present.steps:
        before = present.schedule
        _move(present)
        _restart(present)
        _drop(present)
        if present.schedule == before:
            break
    return present


def _drop(present: Shrunk) -> None:
    """Leave out ever smaller parts, from the end, as long as the failure shows (ddmin)."""
    size = max(1, len(present.schedule) // 2)
    while True:
        place = len(present.schedule)
        dropped = False
        while place > 0:
            start = max(0, place - size)
            schedule = present.schedule
            if present.attempt(schedule[:start] + schedule[place:]):
                dropped = True
                place = min(start, len(present.schedule))
            else:
                place = start
        if size == 1 and not dropped:
            return
        if not dropped or size > len(present.schedule):
            size = max(1, size // 2)


def _restart(present: Shrunk) -> None:
    """Let another task begin, which costs nothing, in place of the first preemptions."""
    if len(present.schedule) < _FEW or not present.steps:
        return
    first = present.steps[0]
    for place in range(len(present.schedule) - 1, 0, -1):
        tail = present.schedule[place:]
        for task in first.runnable:
            if present.attempt((Deviation(first.at, task), *tail)):
                return


def _move(present: Shrunk) -> None:
    """Let each deviation come earlier, at another point of the same task."""
    for place in range(len(present.schedule)):
        schedule = present.schedule
        if place >= len(schedule):
            return
        deviation = schedule[place]
        arrivals = [step.at for step in present.steps if step.at.task == deviation.at.task]
        for at in dict.fromkeys(arrivals):
            if at == deviation.at:
                break
            if present.attempt((*schedule[:place], Deviation(at, deviation.to), *schedule[place + 1 :])):
                break


def _search(present: Shrunk) -> None:
    """Look for the failure among all executions with fewer preemptions, fewest first."""
    preemptions = sum(step.preempts for step in present.steps)
    if not preemptions:
        return
    search = BoundedSearch(last_bound=preemptions - 1)
    last: Ended | None = None
    for _ in range(_MOST_SEARCHED):
        if not search.begin(last):
            return
        try:
            last = present.laboratory.run(search)
            present.stepped += last.steps
            if present.stepped >= _MOST_STEPS:
                return
            if last.failure is not None and last.failure.key[:2] == present.failure.key[:2]:
                recorder = TraceRecorder()
                present.laboratory.run(Rerun(last.decisions), recorder)
                present.attempt(deviations_of(recorder.steps))
                return
        except Nondeterminism:
            return


def _size(schedule: Schedule, steps: list[Step]) -> tuple[int, int, int, tuple[int, ...]]:
    preemptions = sum(step.preempts for step in steps)
    places = tuple(number for number, step in enumerate(steps) if not step.default)
    return preemptions, len(schedule), len(steps), places
