# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""JUnit XML as Jenkins and GitLab read it (valid by junit-10.xsd of jenkinsci/xunit-plugin).

One suite per pattern and backend, one test case per cell. That schema has no properties in a test case, so a cell's numbers
are its system-out, one key=value per line.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from xml.etree import ElementTree

from dlmb_launch.compare import wording
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.document import decimal
from dlmb_launch.compare.verdict import State, Verdict

NOTHING = "dlmb_compare"  # the suite of a comparison that judged nothing
OUTCOMES = {
    State.REGRESSED: "failure",
    State.INVALID: "error",
    State.SUSPECT: "skipped",
    State.NOT_COMPARABLE: "failure",  # a skipped case would show green beside the exit code 3
    State.INCONCLUSIVE: "skipped",
}
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # a library's error text may hold any
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def numbers(verdict: Verdict, comparison: Comparison) -> str:
    if verdict.evidence is None:
        return ""
    facts = {**asdict(verdict.evidence), "unit": comparison.metric.unit}
    shown = {name: decimal(value) if isinstance(value, float) else value for name, value in facts.items() if value is not None}
    return "\n".join(f"{name}={value}" for name, value in shown.items())


def test_case(suite: ElementTree.Element, verdict: Verdict, comparison: Comparison) -> None:
    name = suite.get("name", "")
    case = ElementTree.SubElement(suite, "testcase", name=verdict.cell.name, classname=name)
    if verdict.evidence is not None and comparison.metric.unit == "ns":
        case.set("time", decimal(verdict.evidence.candidate / 1e9))
    if outcome := OUTCOMES.get(verdict.state):
        message = NOT_IN_XML.sub("?", wording.sentence(verdict, comparison.metric))
        ElementTree.SubElement(case, outcome, type=verdict.state.value, message=message)
    if text := numbers(verdict, comparison):
        ElementTree.SubElement(case, "system-out").text = text


def count(element: ElementTree.Element) -> None:
    element.set("tests", str(len(list(element.iter("testcase")))))
    for attribute, tag in COUNTED.items():
        if element.tag == "testsuite" or attribute != "skipped":  # the schema has no such count for the whole
            element.set(attribute, str(len(list(element.iter(tag)))))


def text(comparison: Comparison) -> str:
    root = ElementTree.Element("testsuites", name="dlmb_compare")
    suites: dict[str, ElementTree.Element] = {}
    for verdict in sorted(comparison.verdicts, key=lambda verdict: verdict.cell.id):
        name = f"{verdict.cell.pattern}.{verdict.cell.backend}"
        if name not in suites:
            suites[name] = ElementTree.SubElement(root, "testsuite", name=name)
        test_case(suites[name], verdict, comparison)
    if comparison.judged == 0:
        suites[NOTHING] = ElementTree.SubElement(root, "testsuite", name=NOTHING)
        case = ElementTree.SubElement(suites[NOTHING], "testcase", name="some cell could be judged", classname=NOTHING)
        ElementTree.SubElement(case, "failure", type=State.NOT_COMPARABLE.value, message="no cell has enough comparable launches on both sides")
    for element in (root, *suites.values()):
        count(element)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
