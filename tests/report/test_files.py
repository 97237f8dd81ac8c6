"""A gate's outcome as files: JSON that says all, and JUnit XML that any reader takes."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from harness.findings import Finding, Kind, StageReport, Verdict
from harness.gate import conclude
from harness.report.files import finding_text, gate_json, junit_xml

GATES = ("ok", "violation", "unknown", "advice", "skipped", "covered")
AWKWARD = "nul \0 bell \a escape \x1b[2J half \ud800 none \ufffe last \uffff next \x85 < & > \" ' é 😀 ]]>"


def pretty(value):
    """JSON as people and golden files read it."""
    return json.dumps(value, indent=2) + "\n"


@pytest.mark.parametrize("name", GATES)
def test_a_gate_is_written_as_agreed(gates, golden, name):
    """The JSON of a gate, field by field."""
    golden(f"gate_{name}.json", pretty(gate_json(gates[name])))


@pytest.mark.parametrize("name", GATES)
def test_json_loses_nothing(gates, name):
    """What is written is plain: read back it is the same, and the stages in it are the stages."""
    value = gate_json(gates[name])
    assert value == json.loads(json.dumps(value))
    assert gates[name].stages == tuple(StageReport.from_json(stage) for stage in value["stages"])
    assert gates[name].findings == tuple(Finding.from_json(finding) for finding in value["findings"])


def test_json_has_its_keys(gates):
    """These are what other programs rely on; `format` changes when they do."""
    value = gate_json(gates["covered"])
    assert "job-harness-gate/1" == value["format"]
    assert {
        "format",
        "target",
        "contract",
        "seed",
        "verdict",
        "reasons",
        "stages",
        "clauses",
        "findings",
        "coverage",
    } == set(value)
    assert {"id", "level", "verdict", "checked", "reason"} == set(value["clauses"][0])
    assert [clause.id for clause in gates["covered"].contract.clauses] == [
        row["id"] for row in value["clauses"]
    ]


@pytest.mark.parametrize("name", GATES)
def test_junit_is_written_as_agreed(gates, golden, name):
    """A test case per clause, and one per stage."""
    golden(f"junit_{name}.xml", junit_xml(gates[name]))


@pytest.mark.parametrize("name", GATES)
def test_junit_counts_what_it_holds(gates, name):
    """The suite's numbers are those of its cases."""
    suite = ET.fromstring(junit_xml(gates[name])).find("testsuite")  # noqa: S314 - we wrote it
    cases = suite.findall("testcase")
    counted = {"tests": len(cases)}
    for attribute, element in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        counted[attribute] = sum(case.find(element) is not None for case in cases)
    assert counted == {attribute: int(suite.attrib[attribute]) for attribute in counted}
    assert len(gates[name].clauses) + len(gates[name].stages) == len(cases)
    assert len(cases) == len({case.attrib["name"] for case in cases})


@pytest.mark.parametrize(
    ("name", "red"),
    [("ok", False), ("violation", True), ("unknown", True), ("skipped", False), ("covered", False)],
)
def test_junit_is_red_when_the_gate_is_not_ok(gates, name, red):
    """CI that reads the file comes to the verdict that the exit code tells."""
    suite = ET.fromstring(junit_xml(gates[name])).find("testsuite")  # noqa: S314 - we wrote it
    assert red == (suite.attrib["failures"] != "0" or suite.attrib["errors"] != "0")
    assert red == (gates[name].verdict is not Verdict.OK)


def test_junit_is_not_red_for_advice(gates):
    """A SHOULD clause does not decide the verdict, in no report."""
    assert Verdict.OK is gates["advice"].verdict
    suite = ET.fromstring(junit_xml(gates["advice"])).find("testsuite")  # noqa: S314 - we wrote it
    assert ("0", "0") == (suite.attrib["failures"], suite.attrib["errors"])


def awkward_gate(gates, text):
    """A gate all of whose texts are the same."""
    clause = Finding(Kind.EXCEPTION, "TEA-HOT", text, "stress", text, (text,), text, text)
    stages = [
        StageReport("sequential", Verdict.OK, skipped=(f"virtual time: {text}",), unmet=(text,)),
        StageReport("stress", Verdict.VIOLATION, findings=(clause, replace(clause, clause=""))),
    ]
    return conclude(gates["ok"].request, gates["ok"].contract, stages, {})


def test_junit_survives_control_characters(gates):
    """What XML can carry is kept to the letter, the rest is a question mark."""
    text = AWKWARD.replace("\ufffe", "").replace("\uffff", "")
    failure = ET.fromstring(junit_xml(awkward_gate(gates, text))).find(".//failure")  # noqa: S314 - we wrote it
    expected = "nul ? bell ? escape ?[2J half ? none  last  next \x85 < & > \" ' é 😀 ]]>"
    assert expected == failure.attrib["message"]
    assert failure.text.startswith(f"exception: {expected}\n")
    junit_xml(awkward_gate(gates, text)).encode("utf-8")


def test_junit_survives_what_is_no_character(gates):
    """U+FFFE and U+FFFF are not characters of XML either."""
    ET.fromstring(junit_xml(awkward_gate(gates, AWKWARD)))  # noqa: S314 - we wrote it


def test_junit_survives_an_awkward_target(gates):
    """A folder's name may hold a control character."""
    gate = replace(gates["ok"], request=replace(gates["ok"].request, target="te\aa.py:Pot"))
    ET.fromstring(junit_xml(gate))  # noqa: S314 - we wrote it


def test_json_survives_awkward_texts(gates):
    """Everything comes back to the letter, and the file is ASCII."""
    text = json.dumps(gate_json(awkward_gate(gates, AWKWARD)))
    assert text.isascii()
    assert AWKWARD == json.loads(text)["findings"][0]["message"]


def test_a_finding_as_text_is_whole(gates):
    """The text of a finding has all that is known of it."""
    finding = gates["violation"].findings[0]
    text = finding_text(finding)
    parts = [finding.kind.value, finding.message, *finding.evidence, finding.program, finding.reproduce]
    assert [] == [part for part in parts if part not in text]


def test_a_finding_as_text_says_where(gates):
    """The line that raised an exception is what one looks for first."""
    finding = gates["violation"].findings[1]
    assert finding.where in finding_text(finding)
