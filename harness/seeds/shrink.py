"""Shrinking a schedule: fewest deviations, then fewest preemptions, then earliest.

Each candidate is replayed; it is kept if the same failure shows. Deterministic, and bounded in replays.
"""

from __future__ import annotations

from collections.abc import Iterator
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


@dataclass
class Shrunk:
    """The smallest schedule found, with the failure and the steps of its last replay."""

    laboratory: Laboratory
    schedule: Schedule
    failure: Failure
    steps: list[Step]
    replays: int = 0

    def shows_again(self) -> bool:
        """Replay the schedule as it is; whether the same failure shows."""
        return self._shown(self.schedule) is not None

    def attempt(self, candidate: Schedule) -> bool:
        """Keep this schedule if it shows the same failure and is smaller than the present one."""
        if self.replays >= _MOST_REPLAYS:
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
    while _pass(present):
        pass
    _search(present)
    return present


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
            if last.failure is not None and present.same(last.failure):
                recorder = TraceRecorder()
                present.laboratory.run(Rerun(last.decisions), recorder)
                present.attempt(deviations_of(recorder.steps))
                return
        except Nondeterminism:
            return


def _pass(present: Shrunk) -> bool:
    return any(present.attempt(candidate) for candidate in _candidates(present.schedule, present.steps))


def _candidates(schedule: Schedule, steps: list[Step]) -> Iterator[Schedule]:
    """Without the first or second half, without each one, then with one moved earlier."""
    half = len(schedule) // 2
    if half > 1:
        yield schedule[:half]
        yield schedule[half:]
    for place in reversed(range(len(schedule))):
        yield schedule[:place] + schedule[place + 1 :]
    arrivals = [step.at for step in steps]
    for place, deviation in enumerate(schedule):
        here = next((n for n, at in enumerate(arrivals) if at == deviation.at), 0)
        for at in arrivals[:here]:
            if at.task == deviation.at.task:
                yield (*schedule[:place], Deviation(at, deviation.to), *schedule[place + 1 :])


def _size(schedule: Schedule, steps: list[Step]) -> tuple[int, int, int, tuple[int, ...]]:
    preemptions = sum(step.preempts for step in steps)
    places = tuple(number for number, step in enumerate(steps) if not step.default)
    return len(schedule), preemptions, len(steps), places
