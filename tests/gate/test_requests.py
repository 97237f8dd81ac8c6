"""What is asked of a gate: budgets, seeds, stages, and the jobs that the stages are given."""

from __future__ import annotations

import pytest

from harness import coverage_report
from harness.contracts.adapter import Adapter
from harness.findings import StageReport, UsageError, Verdict
from harness.gate import chosen_stages, run_gate
from harness.job import STAGES
from harness.outcome import BUDGETS, Budget, GateRequest, Listener, parse_budget, parse_seed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quick", BUDGETS["quick"]),
        ("default", BUDGETS["default"]),
        ("thorough", BUDGETS["thorough"]),
        ("20s", BUDGETS["default"]),
        ("10s", Budget(100, 0.5, 75)),
        ("1m", Budget(600, 3.0, 450)),
        ("0.5m", Budget(300, 1.5, 225)),
        ("2h", Budget(72_000, 360.0, 54_000)),
        ("0.001s", Budget(1, 0.00005, 1)),
    ],
)
def test_a_budget_is_a_name_or_a_duration(text, expected):
    """A duration scales the counts of the default budget, and there is always a program to run."""
    assert expected == parse_budget(text)


@pytest.mark.parametrize(
    "text", ["", "s", "fast", "Quick", "10", "10 d", "-1s", "0s", "nans", "infs", "1e999h", "1,5s"]
)
def test_a_wrong_budget_is_told(text):
    """What is neither a name nor a duration is repeated, with what it may be."""
    with pytest.raises(UsageError) as caught:
        parse_budget(text)
    assert f"budget {text!r} is none of quick, default, thorough and no duration" in str(caught.value)


def test_a_budget_beyond_any_timer_is_told():
    """A stage's limit must be one that the child can keep: less than three centuries."""
    with pytest.raises(UsageError):
        parse_budget("1e300h")


def test_a_stage_has_time_beyond_its_budget():
    """The limit grows with either effort and never falls below its floor."""
    limits = [Budget(1, 0.01, 1).stage_limit_s, *(BUDGETS[name].stage_limit_s for name in BUDGETS)]
    assert sorted(limits) == limits
    assert limits[0] >= 30
    assert Budget(200, 10.0).stage_limit_s == Budget(2000, 1.0).stage_limit_s


@pytest.mark.parametrize(("text", "expected"), [("0", 0), ("7", 7), (" 12 ", 12), ("-3", -3)])
def test_a_seed_is_a_number(text, expected):
    """Any whole number will do."""
    assert expected == parse_seed(text)


def test_a_random_seed_is_drawn_afresh():
    """`random` gives a seed that can be typed again, and not the same one each time."""
    drawn = {parse_seed("random") for _ in range(8)}
    assert 1 < len(drawn)
    assert drawn == {parse_seed(str(seed)) for seed in drawn}


@pytest.mark.parametrize("text", ["", "x", "1.5", "Random", "0x10", "9" * 5000])
def test_a_wrong_seed_is_told(text):
    """What is no number is repeated."""
    with pytest.raises(UsageError, match="is neither a number nor 'random'"):
        parse_seed(text)


def test_stages_run_in_their_own_order(request_for):
    """All if none is named; the order and repeats of a request do not matter."""
    assert tuple(STAGES) == chosen_stages(request_for())
    assert ("canary", "stress") == chosen_stages(request_for(stages=("stress", "canary", "stress")))


def test_an_unknown_stage_is_told(request_for):
    """The sentence lists the stages there are."""
    with pytest.raises(
        UsageError, match=r"no stage 'smoke'; the stages are: canary, sequential, interleavings, stress"
    ):
        chosen_stages(request_for(stages=("stress", "smoke")))


@pytest.mark.parametrize(
    "request_",
    [
        GateRequest("nowhere"),
        GateRequest("reference.ledger:Ledger", "teapot"),
        GateRequest("reference.ledger:Ledger", stages=("smoke",)),
    ],
)
def test_a_wrong_request_starts_no_stage(stages, request_):
    """What can be seen to be wrong beforehand is told before a child is started."""
    jobs = stages()
    with pytest.raises(UsageError):
        run_gate(request_)
    assert [] == jobs


@pytest.mark.parametrize(
    "request_",
    [
        GateRequest("reference.ledger:Ledger", scenarios=("nonsense",)),
        GateRequest("reference.ledger:Ledger", stages=("sequential",), scenarios=("nonsense",)),
        GateRequest("reference.ledger:Ledger", counts=(("nonsense", 2),)),
        GateRequest("reference.ledger:Ledger", stages=("sequential",), counts=(("nonsense", 2),)),
    ],
    ids=["scenario", "scenario without stress", "role", "role without stress"],
)
def test_unknown_scenarios_and_roles_are_told_beforehand(stages, decided, request_):
    """They are data that the gate has; nothing need run to see that they are wrong."""
    jobs = stages(*(decided(stage) for stage in STAGES))
    with pytest.raises(UsageError, match="nonsense"):
        run_gate(request_)
    assert [] == jobs


USELESS = {
    "scenario": ({"scenarios": ("soak",)}, "--scenario is for the stages interleavings and stress"),
    "count": ({"counts": (("submitter", 2),)}, "--count is for the stages interleavings and stress"),
    "duration": ({"soak_seconds": 1.0}, "--duration is for the stage stress"),
}


@pytest.mark.parametrize(("choices", "said"), USELESS.values(), ids=USELESS)
def test_an_option_that_reaches_no_stage_is_told_beforehand(stages, request_for, choices, said):
    """An option that would silently do nothing is a mistake."""
    jobs = stages()
    with pytest.raises(UsageError) as caught:
        run_gate(request_for(stages=("canary", "sequential"), **choices))
    assert f"{said}, and only canary and sequential were asked for" == str(caught.value)
    assert [] == jobs


def test_the_seconds_of_a_soak_need_real_threads(stages, decided, request_for):
    """Under control a soak takes a few turns: seconds for it are a mistake there, and none with stress."""
    jobs = stages(decided("interleavings"), decided("stress"))
    with pytest.raises(UsageError, match="--duration is for the stage stress, and only interleavings"):
        run_gate(request_for(stages=("interleavings",), soak_seconds=1.0))
    run_gate(request_for(stages=("interleavings", "stress"), soak_seconds=1.0))
    assert ["interleavings", "stress"] == [job.stage for job, _ in jobs]


def test_a_contract_that_is_not_named_is_found(stages, decided):
    """A request without a contract is for the ledger, and every job says so."""
    jobs = stages(*(decided(stage) for stage in STAGES))
    report = run_gate(GateRequest("reference.ledger:Ledger"))
    assert "ledger" == report.contract.name
    assert {"ledger"} == {job.contract for job, _ in jobs}


def test_jobs_carry_the_whole_request(stages, decided, request_for):
    """Nothing of a request is lost on the way to a stage, and the limit covers its budget and a soak."""
    wanted = {"seed": 5, "stop_at_first": True, "scenarios": ("soak",), "soak_seconds": 7.0}
    adapter = Adapter(operations={"submit": "enqueue"}, time="s")
    budget = Budget(11, 0.25)
    jobs = stages(*(decided(stage) for stage in STAGES))
    run_gate(request_for(budget=budget, adapter=adapter, counts=(("submitter", 9),), **wanted))
    assert list(STAGES) == [job.stage for job, _ in jobs]
    for job, limit in jobs:
        assert wanted == {name: getattr(job, name) for name in wanted}
        assert (11, 0.25, (("submitter", 9),)) == (job.examples, job.pace, job.counts)
        assert adapter == Adapter.from_tables(job.adapter)
        assert job == type(job).from_json(job.to_json())
        assert budget.stage_limit_s + 7 == limit


class Ear(Listener):
    """Remembers what it heard."""

    def __init__(self):
        self.heard = []

    def stage_began(self, stage):
        self.heard.append(("began", stage))

    def stage_moved(self, stage, executions, operations):
        self.heard.append(("moved", stage, executions, operations))

    def stage_ended(self, report):
        self.heard.append(("ended", report.stage))


def test_a_listener_hears_the_course_in_order(stages, decided, request_for):
    """Each stage begins, moves and ends before the next."""
    stages(*(decided(stage) for stage in STAGES))
    ear = Ear()
    run_gate(request_for(), ear)
    assert [
        step for stage in STAGES for step in (("began", stage), ("moved", stage, 1, 10), ("ended", stage))
    ] == ear.heard


def test_a_gate_may_stop_at_its_first_finding(stages, decided, broken, request_for):
    """`stop_at_first` spares the stages after a finding, and they are not reported."""
    found = decided("sequential", verdict=Verdict.VIOLATION, findings=(broken("AJT-TERM-ANY"),))
    jobs = stages(decided("canary"), found, decided("stress"))
    report = run_gate(request_for(stop_at_first=True))
    assert ["canary", "sequential"] == [job.stage for job, _ in jobs]
    assert (Verdict.VIOLATION, found.findings) == (report.verdict, report.findings)


def test_coverage_that_is_not_installed_is_told(stages, request_for, monkeypatch):
    """The sentence says what to install, and nothing runs."""
    monkeypatch.setattr(coverage_report.importlib.util, "find_spec", lambda name: None)
    jobs = stages()
    with pytest.raises(UsageError, match=r"pip install 'job-harness\[cov\]'"):
        run_gate(request_for(coverage=True))
    assert [] == jobs


def test_stages_without_coverage_data_report_none(stages, request_for):
    """A child that died before it saved anything leaves no coverage, and no error."""
    stages(*(StageReport(stage, Verdict.OK) for stage in STAGES))
    assert {} == run_gate(request_for(coverage=True)).coverage
