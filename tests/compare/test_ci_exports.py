# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What continuous integration reads: JUnit files, GitHub's workflow commands and summaries."""

from __future__ import annotations

import os
import unittest
from xml.etree import ElementTree

from every_state import GOLDEN, WithComparison
from made import CELL, fault, side
from test_exit_codes import SLOW, US, run

from dlmb_launch.compare.exports import github
from dlmb_launch.compare.tables import CUT, code, cut

SUMMARY = "GITHUB_STEP_SUMMARY"


class JunitTest(WithComparison):
    def test_counts_are_those_of_the_elements(self) -> None:
        root = ElementTree.parse(self.export("junit", "junit.xml")).getroot()
        for suite in root:
            for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(attribute, "")), len(list(suite.iter(tag))))
        self.assertEqual([root.get(name) for name in ("tests", "failures", "errors")], ["8", "2", "1"])

    def test_a_comparison_that_judges_nothing_has_a_failure(self) -> None:
        self.after = self.file("after", side("cand", {CELL: US[:2]}))
        self.assertEqual(run(self.before, self.after, "--export", "junit", self.folder / "junit.xml")[0], 3)
        root = ElementTree.parse(self.folder / "junit.xml").getroot()
        self.assertGreater(int(root.get("failures", "0")), 0)
        self.before = self.file("before", side("base", {CELL: US[:2]}))
        self.assertEqual(run(self.before, self.after, "--export", "junit", self.folder / "junit.xml")[0], 3)
        root = ElementTree.parse(self.folder / "junit.xml").getroot()
        self.assertEqual([case.get("name") for case in root.iter("testcase") if case.find("failure") is not None], ["some cell could be judged"])

    def test_times_are_plain_decimals(self) -> None:
        root = ElementTree.parse(self.export("junit", "junit.xml")).getroot()
        for case in root.iter("testcase"):
            self.assertRegex(case.get("time", "0.0"), r"^\d+\.\d+$")

    def test_a_reason_may_hold_any_sign(self) -> None:
        odd = fault("cand-0", "failed") | {"reason": "\x1b[31m <died> & \x00"}
        self.after = self.file("after", [*side("cand", {CELL: US}), odd])
        run(self.before, self.after, "--export", "junit", self.folder / "junit.xml")
        failure = next(ElementTree.parse(self.folder / "junit.xml").getroot().iter("failure"))
        self.assertIn("?[31m <died> & ?", failure.get("message", ""))

    def test_a_reader_of_others_agrees(self) -> None:
        try:
            from junitparser import Error, Failure, JUnitXml
        except ImportError:
            self.skipTest("junitparser is not installed")
        read = JUnitXml.fromfile(str(self.export("junit", "junit.xml")))
        results = [result for suite in read for case in suite for result in case.result]
        self.assertEqual([sum(isinstance(result, kind) for result in results) for kind in (Failure, Error)], [2, 1])


class MarkdownTest(WithComparison):
    def test_a_code_span_ends_behind_what_it_holds(self) -> None:
        # CommonMark 0.30, 6.1: as many backticks as it began with; one blank on both sides is stripped.
        self.assertEqual(code("a=b"), "`a=b`")
        self.assertEqual(code("a`b``c"), "```a`b``c```")
        self.assertEqual(code("`a"), "`` `a ``")
        self.assertEqual(code("a|b\nc"), "`a\\|b c`")

    def test_a_preset_and_a_reason_cannot_leave_their_place(self) -> None:
        name = f"{CELL}/preset=`<img src=x>`"
        self.before = self.file("before", side("base", {CELL: US, name: US}))
        self.after = self.file("after", [*side("cand", {CELL: US}), fault("cand-0", "failed", name) | {"reason": "a | b\n<script>*"}])
        text = run(self.before, self.after, "--markdown")[1]
        (row,) = [line for line in text.splitlines() if "preset" in line]
        self.assertIn(f"`` {name} ``", row)
        self.assertIn(r"a \| b \<script\>\*", row)


class GithubTest(WithComparison):
    def test_signs_with_a_meaning_are_escaped(self) -> None:
        self.assertEqual(github.escaped_text("5 %\r\n"), "5 %25%0D%0A")
        self.assertEqual(github.escaped_property("a: b, 5 %"), "a%3A b%2C 5 %25")

    def test_ten_regressions_are_errors_and_the_rest_is_one_notice(self) -> None:
        cells = {f"{CELL}/x={index}": US for index in range(12)}
        self.before, self.after = self.file("before", side("base", cells)), self.file(
            "after", side("cand", {name: SLOW for name in cells})
        )
        run(self.before, self.after, "--export", "github", self.folder / "out.txt")
        lines = (self.folder / "out.txt").read_text().splitlines()
        self.assertEqual([line.split(" ")[0] for line in lines], ["::error"] * 10 + ["::notice"])
        self.assertIn("2 regressed cells are not shown one by one", lines[-1])

    def test_the_summary_of_the_step_is_appended_to(self) -> None:
        summary = self.folder / "summary.md"
        summary.write_text("before\n")
        os.environ[SUMMARY] = str(summary)
        self.addCleanup(os.environ.pop, SUMMARY)
        self.export("github", "out.txt")
        self.assertEqual(summary.read_text(), "before\n" + (GOLDEN / "table.md").read_text())

    def test_a_large_summary_is_cut_at_the_end_of_a_line(self) -> None:
        whole = "".join(f"| row {index} é |\n" for index in range(100))
        found = cut(whole, 400)
        self.assertLessEqual(len(found.encode()), 400)
        self.assertTrue(found.endswith(CUT))
        self.assertTrue(whole.startswith(found[: -len(CUT)] + "\n"))

    def test_a_summary_without_room_gets_nothing(self) -> None:
        self.assertEqual(cut("| row |\n" * 100, 10), "")


if __name__ == "__main__":
    unittest.main()
