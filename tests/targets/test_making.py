"""Making instances: whose fault it is when one cannot be made, the user's or the implementation's."""

from __future__ import annotations

import pytest

from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.findings import Kind, UsageError
from harness.targets.subject import Binding, NotMade
from reference.ledger import Ledger

BOUNDS = {"max_queue": 3, "job_ttl_ms": 1_500, "max_completed": 2}


def bind(factory, adapter):
    """A binding that has been examined."""
    binding = Binding(LEDGER, factory, adapter)
    binding.examine()
    return binding


class Leaking(Ledger):
    """A ledger that cannot be made again once `made` of them are there; with `often`, every so often."""

    made, most, often = 0, 40, 0

    def __init__(self, **bounds):
        super().__init__(**bounds)
        type(self).made += 1
        if self.made > self.most and not (self.often and self.made % self.often):
            raise OSError("too many open files")


@pytest.fixture
def leaking():
    """Makes classes of leaking ledgers, each with a count of its own."""
    return lambda **choices: type("Leak", (Leaking,), choices)


@pytest.mark.parametrize("bounds", [LEDGER.configuration, BOUNDS], ids=["made before", "never made before"])
def test_a_factory_that_raises_later_is_no_mistake(leaking, bounds):
    """What could be made and cannot any more speaks against the implementation, with the place."""
    binding = bind(leaking(), Adapter())
    while binding._factory.made < 40:
        binding.create(LEDGER.configuration)
    with pytest.raises(NotMade, match=r"raised OSError: too many open files .*, after 40 that") as caught:
        binding.create(bounds)
    assert (Kind.EXCEPTION, True) == (caught.value.kind, caught.value.where.endswith("in __init__"))


def test_a_factory_that_raises_now_and_then_is_no_mistake(leaking):
    """New bounds that cannot be had now, and can at once afterwards, are not what is at fault."""
    binding = bind(leaking(often=50), Adapter())
    while binding._factory.made < 49:
        binding.create(LEDGER.configuration)
    with pytest.raises(NotMade):
        binding.create(BOUNDS)
    assert binding.create(BOUNDS).call("queue_depth", ()) == 0


def test_bounds_refused_together_are_a_mistake():
    """Bounds that were never accepted are refused, also when each alone is fine."""

    class Picky(Ledger):
        def __init__(self, max_queue=1, max_completed=1, **others):
            if max_queue == max_completed == 2:
                raise ValueError("two and two")
            super().__init__(max_queue, max_completed=max_completed, **others)

    binding = bind(Picky, Adapter())
    with pytest.raises(UsageError, match="two and two"):
        binding.create({**LEDGER.configuration, "max_queue": 2, "max_completed": 2})


def test_a_factory_that_never_makes_a_second_is_a_mistake(leaking):
    """Nothing can be checked on one instance; that its bounds were refused is not the reason."""
    with pytest.raises(UsageError, match="too many open files"):
        bind(leaking(most=1), Adapter())
