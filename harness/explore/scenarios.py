"""A scenario under control: the same record that runs on real threads, its strands as tasks.

The system under test is imported privately; roles, claims and the binding are ours and run between
two scheduling points. Times in the history are virtual, with one nanosecond per event so that they keep
the order in which things happened. A soak's loops end after a few turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any

from harness.contracts.adapter import Adapter
from harness.contracts.records import Contract, Malformed, Raised
from harness.control.task import Resource, Task
from harness.control.watchdog import Watchdog
from harness.explore.group import Group
from harness.explore.laboratory import Laboratory
from harness.findings import Finding, Kind, UsageError
from harness.history import Recorded, Recorder
from harness.scenario import Round, Scenario
from harness.strategies.undisturbed import Undisturbed
from harness.stress.judge import StressJudge
from harness.targets.locate import Target
from harness.targets.subject import Binding, NotMade, Subject

__all__ = ["ClauseBroken", "ScenarioLaboratory"]

STAGE = "interleavings"
_TURNS_OF_A_SOAK = 2


class ClauseBroken(AssertionError):
    """A claim did not hold; `finding` says which, and by what."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.clause}: {finding.message}" if finding.clause else finding.message)
        self.finding = finding
        self.kind_of_failure = finding.clause or finding.kind.value


class _Parked(Resource):
    """Free while every one of the tasks is blocked inside a call, or one has finished."""

    __slots__ = ("_tasks",)
    noun = "others to be parked"

    def __init__(self, tasks: list[Task]) -> None:
        self._tasks = tasks
        self.waiters = []

    @property
    def owner(self) -> Task | None:  # type: ignore[override]
        if any(task.finished for task in self._tasks):
            return None
        return next((task for task in self._tasks if not task.blocked), None)


class _Strand:
    """One strand on a controlled task; the `Strand` that role bodies see."""

    def __init__(
        self, laboratory: ScenarioLaboratory, role: str, index: int, shared: SimpleNamespace
    ) -> None:
        self.role = role
        self.index = index
        self.name = f"{role}-{index}"
        self.shared = shared
        self.random = Random(f"{laboratory.seed}/{laboratory.scenario.name}/{self.name}")
        self.recorder = Recorder(self.name, laboratory.now)
        self.system = SimpleNamespace()
        self.error: BaseException | None = None
        self._laboratory = laboratory
        self._turns = 0
        self._count = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many strands play each role."""
        return self._laboratory.scenario.counts

    def equip(self, subject: Subject) -> None:
        """Give the strand its recorded calls."""
        wrap = self.recorder.wrap
        self.system = SimpleNamespace(**{name: wrap(name, call) for name, call in subject.calls.items()})

    def offers(self, operation: str) -> bool:
        """Whether the implementation has this operation."""
        return hasattr(self.system, operation)

    def running(self) -> bool:
        """Whether a soak goes on: for a few turns of each strand."""
        self._turns += 1
        return self._turns <= _TURNS_OF_A_SOAK

    def fresh(self, prefix: str) -> str:
        """A value that nobody else in this execution gets."""
        self._count += 1
        return f"{prefix}-{self.name}-{self._count}"

    def pause(self, milliseconds: float) -> None:
        """Let virtual time pass."""
        self._laboratory.sleep(milliseconds / 1000)

    def await_parked(self, role: str) -> bool:
        """Wait until every strand of a role is blocked inside a call."""
        return self._laboratory.await_parked(role)

    def play(self, body: Callable[[Any], None]) -> None:
        """Run a role's body; what it could not read is kept for the judge."""
        try:
            body(self)
        except Malformed as error:
            self.error = error


class ScenarioLaboratory(Laboratory):
    """Runs one scenario on one target. `checked`, `held` and `operations` add up over all executions."""

    def __init__(
        self,
        scenario: Scenario,
        target: Target,
        contract: Contract,
        adapter: Adapter,
        seed: int = 0,
        sabotage: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        self.scenario = scenario
        self.seed = seed
        self.held: set[str] = set()
        self.operations = 0
        self.judge = StressJudge(contract, STAGE)
        self.judge.keep_latest = True
        self._target, self._contract, self._adapter = target, contract, adapter
        self._sabotage = sabotage
        self._ticks = 0
        self._roles: dict[str, list[Task]] = {}
        self.binding: Binding
        super().__init__(instrument=target.prefixes, roots=target.roots, **options)

    def turn_to(self, scenario: Scenario) -> None:
        """Run another scenario from now on, in the same world."""
        self.scenario = scenario
        self.held = set()

    def refusal(self, scenario: Scenario) -> str:
        """Why the implementation does not accept a scenario's bounds; empty if it does."""
        failed: list[str] = []

        def make() -> None:
            try:
                self.binding.create(self._bounds(scenario))
            except NotMade:  # no refusal but a finding, which the first execution makes
                return
            except UsageError as error:
                failed.append(str(error))

        with Watchdog(self.runtime):
            self.runtime.execute(make, Undisturbed())
        self.world.restore()
        return failed[0] if failed else ""

    def _bounds(self, scenario: Scenario) -> dict[str, int]:
        missing = self.binding.missing
        return {name: value for name, value in scenario.configuration.items() if name not in missing}

    def now(self) -> int:
        """Virtual nanoseconds, each event later than the one before."""
        self._ticks += 1
        return self.runtime.now_ns + self._ticks

    def sleep(self, seconds: float) -> None:
        """Let the running task sleep in virtual time."""
        self._sleep(seconds)

    def await_parked(self, role: str) -> bool:
        """Block the running task until the role's tasks are blocked; false if one has finished."""
        tasks = self._roles.get(role, [])
        parked = _Parked(tasks)
        if parked.owner is not None:
            self.runtime.block(parked)
        return bool(tasks) and not any(task.finished for task in tasks)

    def _made_of(self) -> set[str]:
        return self.binding.packages

    def _import(self) -> None:
        self._target.prepare_path()
        self._sleep: Callable[[float], None] = self.world.modules["time"].sleep
        self.binding = Binding(self._contract, self._target.factory(self.world), self._adapter)
        failed: list[BaseException] = []

        def examine() -> None:
            try:
                self.binding.examine()
            except Exception as error:
                failed.append(error)

        self.world.remember()
        with Watchdog(self.runtime):
            self.runtime.execute(examine, Undisturbed())
        self.world.restore()
        if failed:
            raise failed[0]

    def _main(self) -> None:
        self._ticks = 0
        runtime, scenario = self.runtime, self.scenario
        subject = self.binding.create(self._bounds(scenario))
        if self._sabotage is not None:
            self._sabotage(subject)
        shared = SimpleNamespace(history=[])
        auditor = _Strand(self, "audit", 0, shared)
        strands = [
            (_Strand(self, role.name, index, shared), role.body)
            for role in scenario.roles
            for index in range(role.count)
        ]
        for strand in (auditor, *(strand for strand, _ in strands)):
            strand.equip(subject)
        auditor.play(scenario.setup)
        group = Group(runtime)
        self._roles = {}
        for strand, body in strands:
            task = group.spawn(partial(strand.play, body), strand.name)
            self._roles.setdefault(strand.role, []).append(task)
        runtime.explore(True)
        group.join()
        runtime.explore(False)
        shared.history = [item for strand, _ in strands for item in strand.recorder.operations()]
        auditor.play(scenario.closing)
        self._conclude([*(strand for strand, _ in strands), auditor], shared)

    def _conclude(self, strands: list[_Strand], shared: SimpleNamespace) -> None:
        """Let the claims judge the history; raises ClauseBroken for the first breach."""
        judge = self.judge
        judge.scenario = self.scenario.name
        before = dict(judge.breaches)
        history = [item for strand in strands for item in strand.recorder.operations()]
        history.sort(key=_by_call)
        self.operations += len(history)
        for strand in strands:
            if strand.error is not None:
                judge.record(
                    self._contract.model.owner(_last(strand)), Kind.MALFORMED_ANSWER, str(strand.error), []
                )
        for item in history:
            if isinstance(item.response, Raised):
                raised = item.response
                clause = self._contract.model.owner(item.operation)
                text = f"{item.operation} raised {raised.type}: {raised.message}"
                judge.record(clause, Kind.EXCEPTION, text, [], raised.where)
        if self.scenario.hang:
            judge.checked[self.scenario.hang] += 1
        played = Round(tuple(history), self.scenario.configuration, frozenset(self.binding.missing), shared)
        judge.judge_round(self.scenario.claims, played)
        for name, holds in self.scenario.sometimes.items():
            if name not in self.held and holds(played):
                self.held.add(name)
        for clause, count in judge.breaches.items():
            if count > before.get(clause, 0):
                raise ClauseBroken(judge.latest(clause))


def _by_call(item: Recorded) -> int:
    return item.called


def _last(strand: _Strand) -> str:
    operations = strand.recorder.operations()
    return operations[-1].operation if operations else ""
