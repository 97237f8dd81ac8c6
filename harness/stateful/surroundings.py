"""Where sequential programs run: the implementation in a world of virtual time, or in real time.

The single-strand world makes time to live and wait budgets exact and sleeps never. An
implementation that starts threads of its own cannot live there; it runs in real time instead, and
the clauses that need virtual time are skipped, visibly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from harness.contracts.adapter import Adapter
from harness.contracts.records import Contract
from harness.control.virtual import Allocations, NeedsThreads, VirtualTime
from harness.control.watchdog import Guard
from harness.control.world import solo_world
from harness.findings import UsageError
from harness.targets.locate import OrdinaryImporter, Target
from harness.targets.made_of import Elsewhere
from harness.targets.subject import Binding, Subject

__all__ = ["Surroundings"]

__tracebackhide__ = True  # what is wrong with a target is said in one sentence

VIRTUAL_TIME = "virtual time"
FAILING_ALLOCATION = "failing allocation"
_BLOCKED_LOOKS = 10  # two seconds
_NEVER = 1 << 30


class Surroundings:
    """A binding and, where the implementation allows it, the virtual clock that it lives on."""

    def __init__(self, binding: Binding, clock: VirtualTime | None, allocations: Allocations | None) -> None:
        self.binding = binding
        self.clock = clock
        self._allocations = allocations
        self._sabotage: Callable[[Any], Any] | None = None
        self.calls = 0  # how often the implementation was entered
        self.inside = False  # whether it is being run right now
        self._armed = self._met = 0  # failures of allocations

    @classmethod
    def of(cls, target: Target, contract: Contract, adapter: Adapter) -> Surroundings:
        """Import the target, privately if it allows that, and examine it; raises UsageError."""
        target.prepare_path()
        elsewhere = Elsewhere()
        try:
            while True:
                world, clock, allocations = solo_world([*target.prefixes, *elsewhere.packages], target.roots)
                try:
                    binding = Binding(contract, target.factory(world), adapter)
                    known = {*target.prefixes, *world.modules}
                    if elsewhere.grows(binding.packages, known):
                        continue
                    binding.examine()
                except UsageError:
                    if not elsewhere.gives_in():
                        raise
                    continue
                if not elsewhere.grows(binding.packages, known):
                    return cls(binding, clock, allocations)
        except NeedsThreads as error:
            return cls.in_real_time(target, contract, adapter, str(error))

    @classmethod
    def in_real_time(cls, target: Target, contract: Contract, adapter: Adapter, why: str) -> Surroundings:
        """Import the target as anybody would; what needs virtual time is missing."""
        target.prepare_path()
        binding = Binding(contract, target.factory(OrdinaryImporter()), adapter)
        binding.examine()
        binding.missing[VIRTUAL_TIME] = f"no virtual time: {why}"
        return cls(binding, None, None)

    def sabotaged(self, saboteur: Callable[[Any], Any]) -> Surroundings:
        """The same, with a planted bug."""
        twin = Surroundings(self.binding, self.clock, self._allocations)
        twin._sabotage = saboteur
        twin.enter, twin.leave = self.enter, self.leave  # type: ignore[method-assign]
        return twin

    def make(self, configuration: Mapping[str, int], keep: Callable[[Any], None]) -> Subject:
        """A new implementation instance."""
        known = {name: value for name, value in configuration.items() if name not in self.binding.missing}
        self.enter()
        try:
            subject = self.binding.create(known, keep)
        finally:
            self.leave()
        if self._sabotage is not None:
            self._sabotage(subject)
        return subject

    def enter(self) -> None:
        """The implementation's code begins to run."""
        self.calls += 1
        self.inside = True

    def leave(self) -> None:
        """It is done."""
        self.inside = False

    def in_virtual_time(self) -> Guard:
        """Raises NeedsThreads, while the block lasts, for a call that blocks in real time."""
        idle = count(-1, -1)

        def stuck(frame: object, blocked: bool) -> None:
            if self.inside and blocked and self.clock is not None:
                raise NeedsThreads("a call blocks in real time, in something other than locks and sleeps")

        return Guard(lambda: self.calls if self.inside else next(idle), stuck, _BLOCKED_LOOKS, _NEVER)

    def reset(self) -> None:
        """Set the clock back, so that the same program sees the same times."""
        if self.clock and self._allocations:
            self.clock.reset()
            self._allocations.fail_at = 0
            self._allocations.failed = False

    def arm_failure(self) -> None:
        """Make the next lock allocation raise."""
        if self._allocations:
            self._allocations.fail_at = 1
            self._armed += 1

    def take_failure(self) -> bool:
        """Whether the last call met the failure that was armed. Disarms."""
        if self._allocations is None:
            return False
        failed, self._allocations.failed = self._allocations.failed, False
        self._allocations.fail_at = 0
        self._met += failed
        return failed

    def conclude(self) -> None:
        """At the end: what was tried again and again and cannot be done here is missing."""
        if self._armed and not self._met:
            self.binding.missing[FAILING_ALLOCATION] = (
                "no failing allocation: no call makes a lock, and that is what can be made to fail"
            )
