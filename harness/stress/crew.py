"""The threads that play a scenario's roles, round after round.

Threads are made once per scenario and meet at a spinning barrier at the start of each round, so
that they enter the system under test together. Waiting for the end of a round is liveness, not
timing: a strand counts as stuck only after the waiting thread itself has run many times while that
strand got nowhere, so a starved machine delays a verdict and never causes one. Nor does a call that
was given a budget to wait: it gets nowhere by right until the budget is over, and so may whoever
waits for it.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

from harness.history import Recorded, Recorder
from harness.scenario import Scenario
from harness.stress.hang import stack_of
from harness.stress.noise import Noise
from harness.stress.parking import are_parked, parking_is_visible

__all__ = ["Crew", "Member", "Stuck"]

_BEAT_S = 0.05
_BEATS_TO_STUCK = 160  # 8 s in which this thread ran and the strand got nowhere
_BEATS_PARKED = 60  # 3 s in which the strands still out were blocked without a single switch
_PARKING_LOOKS = 200
_LOUDNESS = (
    0.0,
    0.3,
    1.0,
    3.0,
)  # strands differ: a quiet one passes through the window a loud one holds open


class Stuck(Exception):
    """Strands that did not come back; `stacks` has each one's name and stack."""

    def __init__(self, stacks: Mapping[str, str]) -> None:
        super().__init__(", ".join(stacks))
        self.stacks = dict(stacks)


class Member:
    """One strand on a real thread; the `Strand` that role bodies see."""

    def __init__(self, crew: Crew, role: str, index: int, body: Callable[[Any], None]) -> None:
        self.role = role
        self.index = index
        self.name = f"{role}-{index}"
        self.system: Any = SimpleNamespace()
        self.shared = SimpleNamespace()
        self.counts = crew.counts
        self.random = Random(0)
        self.noise = Random(0)  # apart, or what a role draws would depend on how much noise there was
        self.recorder = Recorder(self.name)
        self.error: BaseException | None = None
        self.native_id = 0
        self.ident = 0
        self.inside = False  # whether the body is running
        self._crew = crew
        self.body = body
        self._count = 0

    def offers(self, operation: str) -> bool:
        """Whether the implementation has this operation."""
        return hasattr(self.system, operation)

    def running(self) -> bool:
        """Whether a soak goes on."""
        return not self._crew.over.is_set()

    def fresh(self, prefix: str) -> str:
        """A value that nobody else in this run gets."""
        self._count += 1
        return f"{prefix}-{self.name}-{self._count}"

    def pause(self, milliseconds: float) -> None:
        """Let time pass."""
        self._crew.sleep(milliseconds / 1000)

    def await_parked(self, role: str) -> bool:
        """Wait until every strand of a role is blocked inside a call; false if that cannot be known."""
        if not parking_is_visible():
            return False
        others = [member for member in self._crew.members if member.role == role]
        if not others:
            return False
        for _ in range(_PARKING_LOOKS):
            if not all(member.inside for member in others):
                self._crew.sleep(0.001)
            elif are_parked([member.native_id for member in others]):
                return all(member.inside for member in others)
        return False

    def play(self) -> None:
        """Run the body once."""
        self.inside = True
        try:
            self.body(self)
        except BaseException as error:  # kept for the judge: a malformed answer, or a mistake in a role
            self.error = error
        finally:
            self.inside = False


class Crew:
    """All strands of one scenario, and an auditor for what happens before and after a round."""

    def __init__(
        self,
        scenario: Scenario,
        noise: Noise | None,
        sleep: Callable[[float], None],
        budget_ms: Callable[[Recorded], int] = lambda pending: 0,
    ) -> None:
        self.over = threading.Event()
        self.sleep = sleep
        self.counts = scenario.counts
        self.members = [
            Member(self, role.name, index, role.body)
            for role in scenario.roles
            for index in range(role.count)
        ]
        self.auditor = Member(self, "audit", 0, scenario.setup)
        self._noise = noise
        self._budget_ms = budget_ms
        self._loud = 0.0
        self._everybody = [*self.members, self.auditor]
        self._expected = 0
        self._arrived: list[int] = []
        self._go: list[queue.SimpleQueue[bool]] = [queue.SimpleQueue() for _ in self._everybody]
        self._back: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number, member in enumerate(self._everybody):
            threading.Thread(target=self._serve, args=(number,), name=member.name, daemon=True).start()

    def play(self, loud: float, during: Callable[[], None]) -> None:
        """Play one round: all bodies at once, and `during` in the calling thread. Raises Stuck."""
        self.over.clear()
        self._run(range(len(self.members)), loud if self._noise else 0.0, during)

    def audit(self, body: Callable[[Any], None]) -> None:
        """Let the auditor run a body, alone. Raises Stuck, or what the body raised."""
        self.auditor.body = body
        self._run([len(self.members)], 0.0, lambda: None)
        if self.auditor.error is not None:
            raise self.auditor.error

    def dismiss(self) -> None:
        """Send the threads home; stuck ones are daemons and stay behind."""
        for go in self._go:
            go.put(False)

    def _run(self, numbers: Sequence[int], loud: float, during: Callable[[], None]) -> None:
        self._loud = loud
        self._arrived = []
        self._expected = len(numbers)
        for number in numbers:
            self._go[number].put(True)
        during()
        self.over.set()
        self._await(set(numbers))

    def _serve(self, number: int) -> None:
        member = self._everybody[number]
        member.native_id = threading.get_native_id()
        member.ident = threading.get_ident()
        while self._go[number].get():
            arrived, expected, noise = self._arrived, self._expected, self._noise if self._loud else None
            arrived.append(number)
            while len(arrived) < expected:
                time.sleep(0)  # spinning without a yield costs ten times as much and overlaps no more
            if noise:
                noise.install(member.noise, self._loud * member.noise.choice(_LOUDNESS))
            member.play()
            if noise:
                noise.remove()
            self._back.put(number)

    def _await(self, missing: set[int]) -> None:
        beats, parked, progress = 0, 0, self._progress(missing)
        while missing:
            try:
                missing.discard(self._back.get(timeout=_BEAT_S))
                beats, parked = 0, 0
            except queue.Empty:
                now = self._progress(missing)
                beats = 0 if now != progress or self._waits_by_right(missing) else beats + 1
                parked = parked + 1 if beats and self._all_parked(missing) else 0
                progress = now
                if beats >= _BEATS_TO_STUCK or parked >= _BEATS_PARKED:
                    raise Stuck(self._stacks(missing)) from None

    def _all_parked(self, numbers: set[int]) -> bool:
        return are_parked([self._everybody[number].native_id for number in sorted(numbers)])

    def _waits_by_right(self, numbers: set[int]) -> bool:
        """Whether one of them is in a call whose budget to wait is not over."""
        calls = [self._everybody[number].recorder.pending() for number in sorted(numbers)]
        now = time.perf_counter_ns()
        return any(call and now < call.called + self._budget_ms(call) * 1_000_000 for call in calls)

    def _progress(self, numbers: set[int]) -> list[int]:
        return [len(self._everybody[number].recorder) for number in sorted(numbers)]

    def _stacks(self, numbers: set[int]) -> dict[str, str]:
        frames = sys._current_frames()  # noqa: SLF001  there is no public way to other threads' stacks
        stacks = {}
        for number in sorted(numbers):
            member = self._everybody[number]
            frame = frames.get(member.ident)
            stacks[member.name] = stack_of(frame) if frame else "(no stack)"
        return stacks
