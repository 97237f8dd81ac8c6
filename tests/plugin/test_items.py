"""Clauses and stages as test items: what passes, fails and is skipped, with the gate run once."""

from __future__ import annotations

import pytest

from harness.contracts import contract_named
from harness.findings import Finding, Kind
from harness.job import STAGES
from harness.pytest_plugin import GateOutcome

SOUND = "reference.ledger:Ledger"
MISSING = "no implementation to gate: pass --harness-target"
CLAUSES = [clause.id for clause in contract_named("ledger").clauses]


def test_every_clause_and_every_stage_is_an_item(scenarios_on, calls):
    """They all pass when every stage is fine, and the header says what is gated."""
    session = scenarios_on(SOUND, "--harness-budget", "quick", "--harness-seed", "7", fake="")
    assert 0 == session.code
    assert dict.fromkeys([*CLAUSES, *STAGES], "PASSED") == session.outcomes
    assert f"harness: {SOUND}, contract ledger, budget quick, seed 7" in session.out.splitlines()
    assert [(stage, "7") for stage in STAGES] == [(stage, seed) for _, stage, seed in calls()]


@pytest.mark.parametrize("words", [(), ("-n", "1")], ids=["alone", "with workers"])
def test_without_a_target_there_is_nothing_to_gate(run_pytest, words):
    """`pytest --pyargs scenarios` alone is a usage error that says what to pass: it is never green."""
    session = run_pytest("--pyargs", "scenarios", *words)
    assert 4 == session.code
    assert [f"ERROR: {MISSING} package.module:factory or path/to/file.py:factory"] == [
        line for line in session.err.splitlines() if line
    ]


def test_without_a_target_the_items_are_skipped_among_others(run_pytest, tmp_path):
    """They can be collected beside tests of one's own, and listed; they say what to pass."""
    (tmp_path / "test_fine.py").write_text("def test_fine():\n    pass\n")
    session = run_pytest("--pyargs", "scenarios", "test_fine.py", "-rs")
    assert 0 == session.code
    assert {"SKIPPED"} == set(session.outcomes.values())
    assert MISSING in session.out
    assert "harness:" not in session.out.partition("collected")[0]
    assert 0 == run_pytest("--pyargs", "scenarios", "--collect-only").code


def outcome(**told):
    """What a gate came to, as a worker reads it: one clause, one stage, and what is told of them."""
    clause = {
        "id": "TEA",
        "level": "MUST",
        "verdict": "OK",
        "checked": 1,
        "reason": "",
        **told.get("clause", {}),
    }
    stage = {
        "stage": "stress",
        "verdict": "OK",
        "findings": [],
        "unmet": [],
        "notes": [],
        **told.get("stage", {}),
    }
    return GateOutcome({"clauses": [clause], "stages": [stage], "findings": told.get("findings", [])})


def decide(gate):
    """Decide the items of the clause and of the stage."""
    gate.decide_clause("TEA")
    gate.decide_stage("stress")


def found(clause, **more):
    """A finding in JSON."""
    return Finding(Kind.CRASH, clause, "it crashed", "stress", **more).to_json()


ADVICE = {"verdict": "UNKNOWN", "level": "SHOULD", "reason": "it crashed"}
SKIPPED = {
    "lacking": ({"clause": {"verdict": "SKIPPED", "reason": "no leaves"}}, "no leaves"),
    "undecided advice": ({"clause": ADVICE}, "TEA is UNKNOWN: it crashed"),
    "broken advice": (
        {"clause": ADVICE, "findings": [found("TEA", advisory=True)]},
        "TEA is broken, advice: it crashed",
    ),
    "stage": ({"stage": {"verdict": "SKIPPED", "notes": ["no kettle"]}}, "no kettle"),
}
FAILS = {
    "broken": ({"clause": {"verdict": "VIOLATION"}, "findings": [found("TEA")]}, "crash: it crashed"),
    "undecided": ({"clause": {"verdict": "UNKNOWN", "reason": "no tea"}}, "TEA is UNKNOWN: no tea"),
    "crashed": ({"stage": {"findings": [found("")]}}, "crash: it crashed"),
    "missed": (
        {"stage": {"unmet": ["a race", "a wait"]}},
        "stress is UNKNOWN; never happened: a race; a wait",
    ),
}
PASSES = {
    "fine": {},
    "of another clause": {"stage": {"findings": [found("TEA")]}},
    "of another stage": {"stage": {"stage": "canary", "unmet": ["a race"]}},
}


@pytest.mark.parametrize(("told", "said"), FAILS.values(), ids=FAILS)
def test_what_is_wrong_fails_its_item(told, said):
    """A broken or undecided clause fails its item; a crash or a missed canary the stage's."""
    with pytest.raises(pytest.fail.Exception) as caught:
        decide(outcome(**told))
    assert said == str(caught.value)
    assert caught.value.pytrace is False


@pytest.mark.parametrize("told", PASSES.values(), ids=PASSES)
def test_what_is_fine_passes(told):
    """Nothing fails two items."""
    decide(outcome(**told))


@pytest.mark.parametrize(("told", "said"), SKIPPED.values(), ids=SKIPPED)
def test_what_was_not_decided_is_never_passed(told, said):
    """A clause or stage without a verdict, and broken advice, are skipped with the reason."""
    with pytest.raises(pytest.skip.Exception) as caught:
        decide(outcome(**told))
    assert said == str(caught.value)


def test_a_clause_that_lacks_what_it_needs_is_skipped_with_the_reason(scenarios_on):
    """A missing operation is shown where users look for it."""
    session = scenarios_on(SOUND, "-rs", fake="lacking")
    needy = {clause.id for clause in contract_named("ledger").clauses if "wait" in clause.needs}
    assert 0 == session.code
    assert needy == {name for name, outcome in session.outcomes.items() if outcome == "SKIPPED"}
    assert "wait: no operation wait" in session.out


UNUSABLE = {
    "no module": (
        "nothing_of_this_name:Ledger",
        "target 'nothing_of_this_name:Ledger': no module named 'nothing_of_this_name'; is it",
    ),
    "other names": ("odd.py:Odd", "Odd has no submit and no finish and no snapshot (it offers enqueue)"),
}


@pytest.mark.parametrize("words", [(), ("-n", "1")], ids=["alone", "with workers"])
@pytest.mark.parametrize(("target", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_target_that_cannot_be_used_is_one_usage_error(scenarios_on, tmp_path, target, said, words):
    """It is told once, before any item, with the option that pytest has for an adapter."""
    (tmp_path / "odd.py").write_text("class Odd:\n    def enqueue(self, load):\n        return 1\n")
    session = scenarios_on(target, *words)
    assert (4, {}) == (session.code, session.outcomes)
    [line] = [line for line in session.err.splitlines() if line]
    assert line.startswith(f"ERROR: {said}")
    assert "--adapter" not in line
    assert line.endswith("pass it with --harness-adapter") == (target == "odd.py:Odd")


def test_workers_share_one_gate(scenarios_on, calls):
    """With -n 2 each item has its outcome, and the stages were run by one worker, once.

    A broken clause fails alone, without a traceback; what is only advice is skipped with what it says.
    """
    session = scenarios_on(SOUND, "-n", "2", "-rs", fake="broken")
    assert 1 == session.code
    assert {*CLAUSES, *STAGES} == set(session.outcomes)
    assert ["AJT-TERM-ANY"] == [name for name, outcome in session.outcomes.items() if outcome == "FAILED"]
    assert "SKIPPED" == session.outcomes["AJT-ADMIT-FAILSAFE"]
    assert "AJT-ADMIT-FAILSAFE is broken, advice: only advice" in session.out
    assert "broken clause: it was refused" in session.out
    assert "Traceback" not in session.out
    assert 1 == len({process for process, _, _ in calls()})
    assert list(STAGES) == [stage for _, stage, _ in calls()]


PER_WORKER = """
import pathlib
import time

import pytest


@pytest.mark.parametrize("number", range(6))
def test_seed(request, number):
    from harness import pytest_plugin

    time.sleep(0.1)
    worker = request.config.workerinput["workerid"]
    with open(pathlib.Path(__file__).parent / "seeds.txt", "a") as seeds:
        seeds.write(f"{worker} {pytest_plugin._seed(request.config)}\\n")
"""


def test_a_random_seed_is_the_same_for_all_workers(run_pytest, tmp_path):
    """It is drawn once, by the session that the user started, and is not the default."""
    (tmp_path / "test_seeds.py").write_text(PER_WORKER)
    session = run_pytest("test_seeds.py", "-n", "2", "--harness-target", SOUND, "--harness-seed", "random")
    assert 0 == session.code
    noted = [line.split() for line in (tmp_path / "seeds.txt").read_text().splitlines()]
    assert {"gw0", "gw1"} == {worker for worker, _ in noted}
    [seed] = {seed for _, seed in noted}
    assert int(seed) > 0


def test_a_random_seed_is_drawn_and_printed(scenarios_on, calls):
    """The header has the seed that the stages got. Chosen items do not change that the gate is whole."""
    session = scenarios_on(SOUND, "--harness-seed", "random", "-k", "AJT-TIMES or AJT-SNAPSHOT", fake="")
    assert {"AJT-TIMES": "PASSED", "AJT-SNAPSHOT": "PASSED"} == session.outcomes
    [seed] = {seed for _, _, seed in calls()}
    assert f", seed {seed}\n" in session.out
    assert "0" != seed


@pytest.mark.stress
def test_the_reference_passes(scenarios_on):
    """The whole gate of a sound ledger as items, shared by two workers."""
    session = scenarios_on(SOUND, "--harness-budget", "quick", "-n", "2")
    assert 0 == session.code
    assert dict.fromkeys([*CLAUSES, *STAGES], "PASSED") == session.outcomes


@pytest.mark.stress
def test_a_mutant_fails_with_its_clause(scenarios_on):
    """A bug that one strand shows fails its clause's item, with program and command."""
    mutant = "reference.mutants.ledger.lifecycle:LateEndIsTrue"
    session = scenarios_on(mutant, "--harness-budget", "0.5s")
    assert 1 == session.code
    assert "FAILED" == session.outcomes["AJT-TERM-ABSORB"]
    assert "def test_ajt_term_absorb():" in session.out
    assert f"again: harness gate {mutant} --contract ledger --stage sequential" in session.out
