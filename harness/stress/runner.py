"""Running one scenario on real threads: rounds, their audits, and what the claims say of them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any

from harness.contracts.records import Malformed, Raised
from harness.findings import Kind
from harness.history import Recorded, Recorder
from harness.scenario import Round, Scenario
from harness.stress.crew import Crew, Member, Stuck
from harness.stress.hang import evidence_of, names_of
from harness.stress.judge import StressJudge, call_of, shown
from harness.stress.noise import Noise
from harness.targets.subject import Binding, NotMade, Subject

__all__ = ["ScenarioRun", "lowered_switch_interval"]

SWITCH_INTERVAL_S = 1e-6
_MOST_THREADS = 250


@contextmanager
def lowered_switch_interval() -> Iterator[None]:
    """Make the interpreter switch threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class ScenarioRun:
    """Runs one scenario for its seconds. `rounds`, `operations` and `held` tell what happened.

    An instance that cannot be made, as others could, is a finding and ends the scenario.
    """

    def __init__(
        self,
        scenario: Scenario,
        binding: Binding,
        judge: StressJudge,
        seed: int,
        noise: Noise | None = None,
        sabotage: Callable[[Any], Any] | None = None,
        record: bool = True,
        progress: Callable[[int, int], None] = lambda rounds, operations: None,
        judging: Callable[[bool], None] = lambda begins: None,
    ) -> None:
        self.scenario = scenario
        self.rounds = 0
        self.operations = 0
        self.held: set[str] = set()
        self._binding = binding
        self._judge = judge
        self._seed = seed
        self._noise = noise
        self._sabotage = sabotage
        self._record = record
        self._progress = progress
        self._judging = judging

    def run(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Play rounds until the time is up or there is enough; a stuck strand ends the scenario."""
        self._judge.scenario = self.scenario.name
        crew = Crew(self.scenario, self._noise, time.sleep, self._budget_ms)
        ends = time.monotonic() + seconds
        try:
            with lowered_switch_interval():
                while True:
                    self._play_round(crew, seconds if self.scenario.soak else 0.0)
                    self._progress(self.rounds, self.operations)
                    if self.scenario.soak or enough() or time.monotonic() >= ends:
                        return
                    if threading.active_count() > _MOST_THREADS:
                        return  # every instance leaves threads behind: more would exhaust the system
        except Stuck as stuck:
            self._report_stuck(crew, stuck)
        except NotMade as error:
            self._judge.record("", error.kind, str(error), (), error.where)
        finally:
            crew.dismiss()

    def unmet(self) -> tuple[str, ...]:
        """The *sometimes* claims that never held."""
        return tuple(name for name in self.scenario.sometimes if name not in self.held)

    def _play_round(self, crew: Crew, seconds: float) -> None:
        subject = self._binding.create(self._known_configuration())
        if self._sabotage is not None:
            self._sabotage(subject)
        shared = SimpleNamespace(history=[])
        for member in (*crew.members, crew.auditor):
            self._equip(member, subject, shared)
        try:
            crew.audit(self.scenario.setup)
            crew.play(self.scenario.noise if self.rounds % 2 else 0.0, lambda: _sleep(seconds))
            shared.history = [item for member in crew.members for item in member.recorder.operations()]
            crew.audit(self.scenario.closing)
        except Malformed as error:
            self._report_error(crew.auditor, error)
        for member in crew.members:
            if member.error is not None:
                self._report_error(member, member.error)
        self._conclude(crew, shared)

    def _budget_ms(self, pending: Recorded) -> int:
        operation = self._binding.contract.operation(pending.operation)
        return operation.budget_ms(pending.arguments)

    def _known_configuration(self) -> dict[str, int]:
        missing = self._binding.missing
        return {name: value for name, value in self.scenario.configuration.items() if name not in missing}

    def _equip(self, member: Member, subject: Subject, shared: SimpleNamespace) -> None:
        member.error = None
        member.shared = shared
        seed = f"{self._seed}/{self.scenario.name}/{self.rounds}/{member.name}"
        member.random, member.noise = Random(seed), Random(f"{seed}/noise")
        member.recorder = Recorder(member.name)
        wrap = member.recorder.wrap if self._record or member.role == "audit" else member.recorder.count
        member.system = SimpleNamespace(**{name: wrap(name, call) for name, call in subject.calls.items()})

    def _conclude(self, crew: Crew, shared: SimpleNamespace) -> None:
        history = [item for member in (*crew.members, crew.auditor) for item in member.recorder.operations()]
        history.sort(key=lambda item: item.called)
        self.rounds += 1
        self.operations += sum(len(member.recorder) for member in crew.members)
        if not self._record:
            return
        if self.scenario.hang:
            self._judge.checked[self.scenario.hang] += 1  # everybody came back
        for item in history:
            if isinstance(item.response, Raised):
                self._report_raised(item)
        played = Round(tuple(history), self.scenario.configuration, frozenset(self._binding.missing), shared)
        self._judging(True)
        self._judge.judge_round(self.scenario.claims, played)
        for name, holds in self.scenario.sometimes.items():
            if name not in self.held and holds(played):
                self.held.add(name)
        self._judging(False)

    def _report_raised(self, item: Recorded) -> None:
        raised: Raised = item.response
        evidence = [shown(item, item.called)]
        if item.operation == self._binding.contract.creates:
            evidence.append(
                f"if this is how it rejects, name {raised.type} under [exceptions] rejected of an adapter"
            )
        self._judge.record(
            self._blame(item.operation),
            Kind.EXCEPTION,
            f"{item.operation} raised {raised.type}: {raised.message}",
            evidence,
            raised.where,
        )

    def _blame(self, operation: str) -> str:
        """The clause by which this operation answers at all."""
        model = self._binding.contract.model
        return model.owner(operation)

    def _report_error(self, member: Member, error: BaseException) -> None:
        if not isinstance(error, Malformed):
            raise error
        pending = member.recorder.operations()[-1:]
        operation = pending[0].operation if pending else self._binding.contract.probe
        self._judge.record(
            self._blame(operation),
            Kind.MALFORMED_ANSWER,
            f"{operation}: {error}",
            [f"the answer of {call_of(item)}" for item in pending],
        )

    def _report_stuck(self, crew: Crew, stuck: Stuck) -> None:
        members = (*crew.members, crew.auditor)
        for member in members:  # what led to the hang comes first; a mistake of ours is no finding at all
            if member.name not in stuck.stacks and member.error is not None:
                self._report_error(member, member.error)
        for member in members:
            for item in member.recorder.operations():
                if isinstance(item.response, Raised):
                    self._report_raised(item)
        histories = {member.name: member.recorder.operations() for member in members}
        evidence = evidence_of(self._binding.contract, stuck.stacks, histories)
        self.rounds += 1
        self._judge.record(
            self.scenario.hang, Kind.HANG, f"never returned: {names_of(stuck.stacks)}", evidence
        )


def _sleep(seconds: float) -> None:
    if seconds:
        time.sleep(seconds)
