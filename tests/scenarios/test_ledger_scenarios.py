"""The ledger's scenarios as data: what they name exists, and their roles keep to their strand."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from random import Random
from types import SimpleNamespace

import pytest

import scenarios.ledger
import scenarios.ledger_moves
import scenarios.ledger_races
from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.claims import CLAIMS
from harness.contracts.records import Malformed
from harness.findings import UsageError
from harness.scenario import Strand, chosen_scenarios, installed_scenarios
from reference.ledger import Ledger
from scenarios.ledger import SCENARIOS

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
STRAND = {name for name in (*Strand.__annotations__, *vars(Strand)) if not name.startswith("_")}
CLOCKS_AND_THREADS = {
    "asyncio",
    "concurrent",
    "datetime",
    "multiprocessing",
    "queue",
    "sched",
    "threading",
    "time",
}
STRESS_CLAUSES = [clause.id for clause in LEDGER.clauses if "stress" in clause.checked_by]


def module_tree():
    """The syntax trees of the scenarios' modules, as one."""
    modules = (scenarios.ledger, scenarios.ledger_moves, scenarios.ledger_races)
    return ast.parse(
        "\n".join(inspect.getsource(module) for module in modules).replace("from __future__", "#")
    )


def imported(tree):
    """Top-level names of the modules that a tree imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def strand_attributes(tree):
    """The attributes that functions use of an argument called `strand`."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "strand"
    }


def operations_used(tree):
    """The operations that functions call as `strand.system.name`."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and (node.value.attr, getattr(node.value.value, "id", "")) == ("system", "strand")
    }


def test_the_scenarios_are_installed():
    """The entry point leads to these very records, in this order."""
    assert SCENARIOS == installed_scenarios("ledger")


def test_names_are_unique():
    """A name on the command line means one scenario."""
    assert {} == {
        name: count for name, count in Counter(item.name for item in SCENARIOS).items() if count > 1
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: item.name)
def test_a_scenario_names_what_exists(scenario):
    """Clauses are the contract's and checked by stress, needs are capabilities, bounds are configurable."""
    assert scenario.hang in STRESS_CLAUSES
    assert set(scenario.clauses) <= set(STRESS_CLAUSES)
    capabilities = {operation.name for operation in LEDGER.operations} | set(LEDGER.configuration)
    assert scenario.needs <= capabilities
    assert set(LEDGER.configuration) == set(scenario.configuration)
    assert CLAIMS == scenario.claims[: len(CLAIMS)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: item.name)
def test_a_scenario_can_be_played(scenario):
    """Somebody plays in it, for some time, and its roles have different names."""
    assert scenario.seconds > 0
    assert 0 <= scenario.noise <= 1
    assert len(scenario.roles) == len({role.name for role in scenario.roles})
    assert all(role.count > 0 for role in scenario.roles)
    assert scenario.about


def test_scenarios_need_neither_threads_nor_clocks():
    """Role bodies leave threads and time to their runner."""
    assert set() == CLOCKS_AND_THREADS & set(imported(module_tree()))


def test_role_bodies_keep_to_their_strand():
    """Functions use what every strand offers, and operations that the contract has."""
    tree = module_tree()
    assert set() == strand_attributes(tree) - STRAND
    assert set() == operations_used(tree) - {operation.name for operation in LEDGER.operations}


def test_a_planted_stray_is_seen():
    """The checks above can fail: a clock, an attribute and an operation that are not offered."""
    tree = ast.parse(
        "import time\ndef role(strand):\n    strand.thread.join()\n    strand.system.cancel(1)\n"
    )
    assert CLOCKS_AND_THREADS & set(imported(tree)) == {"time"}
    assert strand_attributes(tree) - STRAND == {"thread"}
    assert operations_used(tree) == {"cancel"}


def test_the_soak_is_the_historical_one():
    """Four submitters, two runners, three pollers and two waiters share 32 slots for three seconds."""
    soak = BY_NAME["soak"]
    assert {"submitter": 4, "runner": 2, "poller": 3, "waiter": 2} == {
        role.name: role.count for role in soak.roles
    }
    assert (32, 500) == (soak.configuration["max_queue"], soak.configuration["max_completed"])
    assert (True, 3.0) == (soak.soak, soak.seconds)


def test_counts_change_what_they_name_and_nothing_else():
    """Other counts make another record; bodies, other roles and the original stay."""
    soak = BY_NAME["soak"]
    changed = soak.with_counts({"runner": 5})
    assert {"submitter": 4, "runner": 5, "poller": 3, "waiter": 2} == {
        role.name: role.count for role in changed.roles
    }
    assert [role.body for role in soak.roles] == [role.body for role in changed.roles]
    assert 2 == soak.roles[1].count
    assert soak == soak.with_counts({})


def test_counts_of_unknown_roles_are_refused():
    """A role that no chosen scenario has is the user's mistake, and the message lists those there are."""
    with pytest.raises(UsageError, match=r"role 'writer'; there are: poller, runner, submitter, waiter"):
        chosen_scenarios("ledger", ["soak"], [("runner", 1), ("writer", 1)])


def test_counts_reach_the_scenarios_that_have_the_role():
    """Of several chosen scenarios, each takes the counts that are meant for it."""
    soak, takers = chosen_scenarios("ledger", ["soak", "takers"], [("runner", 5), ("taker", 2)])
    assert [4, 5, 3, 2] == [role.count for role in soak.roles]
    assert [2] == [role.count for role in takers.roles]


class Alone:
    """A strand without threads, for a soak that ends when `shared.over` is set."""

    def __init__(self, ledger, shared):
        self.system = SimpleNamespace(
            **{operation.name: getattr(ledger, operation.name) for operation in LEDGER.operations}
        )
        self.shared = shared
        self.random = Random(0)
        self.role, self.index = "alone", 0
        self.counts = {"submitter": 1}
        self.fresh_count = 0

    def offers(self, operation):
        return hasattr(self.system, operation)

    def running(self):
        return not self.shared.over

    def fresh(self, prefix):
        self.fresh_count += 1
        return f"{prefix}-{self.fresh_count}"

    def pause(self, milliseconds):
        """Time does not pass here."""

    def await_parked(self, role):
        return False


def test_a_runner_stays_until_the_last_submitter_has_left():
    """A submit that returns after the soak is over still has its job ended by somebody."""
    ledger = Ledger()
    shared = SimpleNamespace(over=True, history=[])
    runner = Alone(ledger, shared)
    scenarios.ledger._open_table(runner)

    def pause(milliseconds):
        if shared.submitting:  # its only submitter, which had not begun, comes and goes while it waits
            shared.known.append(ledger.submit("request", "payload").job_id)
            shared.waiting.append(shared.known[0])
            shared.submitting.clear()

    runner.pause = pause
    scenarios.ledger.runner(runner)
    assert ledger.snapshot(shared.known[0]).state.terminal


def test_a_runner_does_not_stay_for_a_submitter_that_was_cut_short():
    """A malformed answer ends the submitter that got it, and the round can end as well."""
    ledger = Ledger()
    shared = SimpleNamespace(over=False, history=[])
    submitter, runner = Alone(ledger, shared), Alone(ledger, shared)
    scenarios.ledger._open_table(submitter)

    def malformed(request_id, payload):
        raise Malformed("submit status 'NOPE' is neither an acceptance nor a rejection")

    def pause(milliseconds):
        raise AssertionError("the runner waits for a submitter that has left")

    submitter.system.submit = malformed
    with pytest.raises(Malformed, match="NOPE"):
        scenarios.ledger.submitter(submitter)
    shared.over = True
    runner.pause = pause
    scenarios.ledger.runner(runner)
