"""What the stress tests share: the reference as a target, and scenarios of a few lines."""

from __future__ import annotations

import threading

import pytest

from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.scenario import Role, Scenario
from harness.stress.judge import StressJudge
from harness.stress.records import SlowRecord
from harness.targets.subject import Binding
from reference.ledger import Ledger


@pytest.fixture
def judge():
    """A judge of the ledger's contract."""
    return StressJudge(LEDGER, "stress")


@pytest.fixture(scope="session")
def bound():
    """Binds a ledger to its contract, the reference if none is given."""

    def bind(factory=Ledger):
        binding = Binding(LEDGER, factory, Adapter(), SlowRecord)
        binding.examine()
        return binding

    return bind


@pytest.fixture(scope="session")
def scenario():
    """Makes a scenario from bodies by role name; a pair gives the number of strands too."""

    def make(roles, **others):
        made = []
        for name, body in roles.items():
            made.append(Role(name, *(body if isinstance(body, tuple) else (body,))))
        bounds = {"max_queue": 8, "job_ttl_ms": 300_000, "max_completed": 100}
        return Scenario("tiny", "ledger", "a test", tuple(made), bounds, seconds=0.0, **others)

    return make


@pytest.fixture
def release():
    """An event for strands that are to be stuck; it is set when the test is over."""
    event = threading.Event()
    yield event
    event.set()
