"""A gate's outcome as files: one JSON object, and JUnit XML with a test case per clause."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from harness.contracts.records import Level
from harness.findings import Finding, Verdict
from harness.outcome import ClauseVerdict, GateReport

__all__ = ["finding_text", "gate_json", "junit_xml"]


def gate_json(report: GateReport) -> dict[str, Any]:
    """The whole outcome as plain values; `format` versions the shape."""
    return {
        "format": "job-harness-gate/1",
        "target": report.request.target,
        "contract": report.contract.name,
        "seed": report.request.seed,
        "verdict": report.verdict.value,
        "reasons": list(report.reasons),
        "stages": [stage.to_json() for stage in report.stages],
        "clauses": [
            {
                "id": item.clause.id,
                "level": item.clause.level.value,
                "verdict": item.verdict.value,
                "checked": item.checked,
                "reason": item.reason,
            }
            for item in report.clauses
        ],
        "findings": [finding.to_json() for finding in report.findings],
        "coverage": report.coverage,
    }


def junit_xml(report: GateReport) -> str:
    """JUnit XML: clauses as test cases, so that CI shows and tracks them as it does tests."""
    suite = ET.Element("testsuite", name=f"harness.{report.contract.name}")
    target = _xml_text(report.request.target)
    by_clause: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_clause.setdefault(finding.clause, []).append(finding)
    failures = skipped = errors = 0
    for item in report.clauses:
        case = ET.SubElement(suite, "testcase", classname=target, name=item.clause.id, time="0")
        if item.verdict is Verdict.VIOLATION:
            failures += 1
            failure = ET.SubElement(case, "failure", message=_xml_text(item.reason))
            failure.text = "\n\n".join(finding_text(finding) for finding in by_clause[item.clause.id])
        elif item.verdict is Verdict.SKIPPED or (
            item.verdict is Verdict.UNKNOWN and not _binds(report, item)
        ):
            skipped += 1
            ET.SubElement(case, "skipped", message=_xml_text(item.reason))
        elif item.verdict is Verdict.UNKNOWN:
            errors += 1
            ET.SubElement(case, "error", message=_xml_text(item.reason))
    for stage in report.stages:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=target,
            name=f"stage {stage.stage}",
            time=f"{stage.seconds:.3f}",
        )
        homeless = [finding for finding in stage.findings if not finding.clause]
        if homeless:
            failures += 1
            failure = ET.SubElement(case, "failure", message=_xml_text(homeless[0].message))
            failure.text = "\n\n".join(finding_text(finding) for finding in homeless)
        elif stage.unmet:
            errors += 1
            ET.SubElement(case, "error", message=_xml_text(f"never happened: {'; '.join(stage.unmet)}"))
    suite.attrib |= {
        "tests": str(len(suite)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(skipped),
        "time": f"{sum(stage.seconds for stage in report.stages):.3f}",
    }
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _binds(report: GateReport, item: ClauseVerdict) -> bool:
    return item.clause.level is Level.MUST or report.request.strict


def finding_text(finding: Finding) -> str:
    """A finding as plain text, safe for XML."""
    lines = [f"{finding.kind.value}: {finding.message}", *finding.evidence]
    if finding.where:
        lines.insert(1, f"at {finding.where}")
    if finding.program:
        lines += ["", finding.program]
    if finding.reproduce:
        lines.append(f"again: {finding.reproduce}")
    return _xml_text("\n".join(lines))


def _xml_text(text: str) -> str:
    """Without the characters that XML cannot carry."""
    return "".join(char if _is_xml(char) else "?" for char in text)


def _is_xml(char: str) -> bool:
    code = ord(char)
    return char in "\t\n\r" or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
