"""How stage reports add up: three-valued, with nothing green that was not looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.findings import Finding, Kind, StageReport, Verdict
from harness.gate import conclude

MUST, SHOULD = "AJT-TERM-ANY", "AJT-SHOULD"
OK, VIOLATION, UNKNOWN, SKIPPED = Verdict.OK, Verdict.VIOLATION, Verdict.UNKNOWN, Verdict.SKIPPED


@pytest.fixture(scope="session")
def conclude_of(ledger, request_for):
    """The report on stage reports, for a contract with a clause that is only advice."""
    advice = replace(ledger.clause(MUST), id=SHOULD, level=type(ledger.clause(MUST).level).SHOULD)
    contract = replace(ledger, clauses=(*ledger.clauses, advice))

    def report(*stages, **choices):
        return conclude(request_for(**choices), contract, stages, {})

    return report


def verdict_on(report, clause):
    """The row of a clause."""
    return next(item for item in report.clauses if item.clause.id == clause)


def advice():
    """A finding that is only advice."""
    return Finding(Kind.BROKEN_CLAUSE, SHOULD, "better not", "sequential", advisory=True)


def test_all_decided_and_none_broken_is_ok(conclude_of, decided):
    """The one way to be green: every MUST clause was checked, and held."""
    report = conclude_of(decided("canary"), decided("sequential"), decided("stress"))
    assert (OK, ()) == (report.verdict, report.reasons)
    assert 0 == report.verdict.exit_code
    assert {OK, UNKNOWN} == {item.verdict for item in report.clauses}
    assert [SHOULD] == [item.clause.id for item in report.clauses if item.verdict is UNKNOWN]


def test_checks_are_counted_over_all_stages(conclude_of, decided, ledger):
    """A clause's count is the sum of what each stage decided."""
    report = conclude_of(decided("sequential"), decided("stress"))
    for clause in ledger.clauses:
        ways = len({"sequential", "stress"} & set(clause.checked_by))
        assert (clause.id, ways) == (clause.id, verdict_on(report, clause.id).checked)


def cases(decided, broken):
    """Reports by what happened, the verdict, and what a reason says."""
    found = broken(MUST)
    crash = Finding(Kind.CRASH, "", "it crashed", "stress")
    return {
        "broken": ([decided("sequential", verdict=VIOLATION, findings=(found,))], VIOLATION, None),
        "crashed": (
            [decided("sequential"), StageReport("stress", VIOLATION, findings=(crash,))],
            VIOLATION,
            None,
        ),
        "broken beats unknown": (
            [
                decided("canary", verdict=UNKNOWN, unmet=("found it",)),
                decided("stress", verdict=VIOLATION, findings=(found,)),
            ],
            VIOLATION,
            None,
        ),
        "canary missed": (
            [
                decided("canary", verdict=UNKNOWN, unmet=("stress found a planted race",)),
                decided("sequential"),
            ],
            UNKNOWN,
            "canary: never happened: stress found a planted race",
        ),
        "sometimes never": (
            [decided("stress", verdict=UNKNOWN, unmet=("soak: a rejection",))],
            UNKNOWN,
            "stress: never happened: soak: a rejection",
        ),
        "undecided": ([decided("sequential", leaving=(MUST,))], UNKNOWN, f"{MUST}: nothing that was run"),
        "advice only": ([decided("sequential", findings=(advice(),))], OK, None),
        "nothing ran": ([], UNKNOWN, None),
    }


@pytest.mark.parametrize(
    "name",
    [
        "broken",
        "crashed",
        "broken beats unknown",
        "canary missed",
        "sometimes never",
        "undecided",
        "advice only",
        "nothing ran",
    ],
)
def test_a_gate_is_as_bad_as_the_worst_that_happened(conclude_of, decided, broken, name):
    """Any violation wins, then anything unknown, with the reason said."""
    stages, expected, reason = cases(decided, broken)[name]
    report = conclude_of(*stages)
    assert expected is report.verdict
    assert {OK: 0, VIOLATION: 1, UNKNOWN: 3}[expected] == report.verdict.exit_code
    assert reason is None or any(said.startswith(reason) for said in report.reasons)


def test_a_broken_clause_says_how(conclude_of, decided, broken):
    """Its reason is the first finding's message, and other clauses stay as they were."""
    stage = decided("sequential", verdict=VIOLATION, findings=(broken(MUST), broken("AJT-TIMES")))
    report = conclude_of(stage)
    assert (VIOLATION, f"{MUST} is broken") == (
        verdict_on(report, MUST).verdict,
        verdict_on(report, MUST).reason,
    )
    assert {MUST, "AJT-TIMES"} == {item.clause.id for item in report.clauses if item.verdict is VIOLATION}


def test_advice_counts_only_when_strict(conclude_of, decided):
    """A broken SHOULD clause is shown, is no violation, and is one with --strict."""
    stage = decided("sequential", findings=(advice(),))
    lenient, strict = conclude_of(stage), conclude_of(stage, strict=True)
    assert (OK, UNKNOWN) == (lenient.verdict, verdict_on(lenient, SHOULD).verdict)
    assert (VIOLATION, VIOLATION) == (strict.verdict, verdict_on(strict, SHOULD).verdict)
    assert "better not" == verdict_on(lenient, SHOULD).reason
    assert (True, False) == (lenient.findings[0].advisory, strict.findings[0].advisory)


def test_undecided_advice_is_a_reason_only_when_strict(conclude_of, decided):
    """A SHOULD clause that nothing decided does not spoil the verdict, unless it was asked to."""
    stages = decided("sequential"), decided("stress")
    assert OK is conclude_of(*stages).verdict
    strict = conclude_of(*stages, strict=True)
    assert (UNKNOWN, (f"{SHOULD}: nothing that was run could decide it",)) == (strict.verdict, strict.reasons)


def test_a_clause_that_lacks_what_it_needs_is_skipped_and_shown(conclude_of, decided, ledger):
    """Skipped clauses say what is missing, are never OK though something was counted, and spoil nothing."""
    needy = [clause for clause in ledger.clauses if "wait" in clause.needs]
    stage = decided("sequential", skipped=("wait: no operation wait", "virtual time: it starts a thread"))
    report = conclude_of(stage, decided("stress"))
    assert needy
    for clause in needy:
        row = verdict_on(report, clause.id)
        assert SKIPPED is row.verdict
        assert "wait: no operation wait" in row.reason
    assert OK is report.verdict


def test_a_finding_on_a_skipped_clause_is_a_violation(conclude_of, decided, broken, ledger):
    """What was seen was seen."""
    clause = next(clause.id for clause in ledger.clauses if "wait" in clause.needs)
    stage = decided(
        "sequential", verdict=VIOLATION, findings=(broken(clause),), skipped=("wait: no operation wait",)
    )
    assert VIOLATION is verdict_on(conclude_of(stage), clause).verdict


def test_a_clause_that_no_chosen_stage_checks_is_skipped(conclude_of, decided, ledger):
    """With --stage sequential, what only stress can see is skipped, and the rest decides."""
    report = conclude_of(decided("sequential"))
    others = {clause.id for clause in ledger.clauses if "sequential" not in clause.checked_by}
    assert others
    assert others == {item.clause.id for item in report.clauses if item.verdict is SKIPPED}
    assert {"what checks it was not run"} == {verdict_on(report, name).reason for name in others}
    assert OK is report.verdict


def test_a_chosen_scenario_leaves_other_clauses_skipped(conclude_of, decided, ledger):
    """With --scenario a stage is partial: what it did not decide is skipped rather than unknown."""
    others = {clause.id for clause in ledger.clauses if clause.id != "AJT-ADMIT-CAS"}
    report = conclude_of(decided("stress", leaving=others), scenarios=("admission",))
    assert (OK, OK) == (report.verdict, verdict_on(report, "AJT-ADMIT-CAS").verdict)
    assert others <= {item.clause.id for item in report.clauses if item.verdict is SKIPPED}


def test_a_gate_that_decided_nothing_is_not_ok(conclude_of):
    """The canary alone proves the gate, not the implementation."""
    report = conclude_of(StageReport("canary", OK))
    assert {SKIPPED} == {item.verdict for item in report.clauses}
    assert UNKNOWN is report.verdict


def test_findings_come_in_the_order_of_the_stages(conclude_of, decided, broken):
    """As they were run, and within a stage as it told them."""
    first, second, third = broken("AJT-TIMES"), broken(MUST), broken("AJT-ADMIT-CAS", "stress")
    report = conclude_of(
        decided("sequential", findings=(first, second)), decided("stress", findings=(third,))
    )
    assert (first, second, third) == report.findings


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], UNKNOWN),
        ([OK], OK),
        ([OK, OK], OK),
        ([SKIPPED], UNKNOWN),
        ([SKIPPED, OK], OK),
        ([OK, UNKNOWN], UNKNOWN),
        ([UNKNOWN, VIOLATION, OK], VIOLATION),
    ],
)
def test_the_worst_of_verdicts(verdicts, expected):
    """Violation, unknown, OK, in this order; nothing decided is unknown."""
    assert expected is Verdict.worst(verdicts)
    assert expected is Verdict.worst(reversed(verdicts))


def test_reports_survive_json(decided, broken):
    """What crosses the process boundary comes back as it was."""
    stage = decided(
        "stress", findings=(broken(MUST), advice()), unmet=("a",), skipped=("b: c",), notes=("d",)
    )
    assert stage == StageReport.from_json(stage.to_json())
