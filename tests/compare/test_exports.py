# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every output of one small comparison against golden/, and what its readers insist on.

DLMB_WRITE_GOLDEN=1 python3 run.py writes golden/ anew; read the difference before it is committed.
"""

from __future__ import annotations

import csv
import json
import os
import re
import unittest
from pathlib import Path
from xml.etree import ElementTree

from made import CELL, WithFolder, fault, launch, side
from test_exit_codes import SCATTERED, SLOW, US, run

from dlmb_launch.compare import plain_json
from dlmb_launch.compare.exports import github
from dlmb_launch.compare.markdown import CUT, cut

GOLDEN = Path(__file__).with_name("golden")
WRITE = "DLMB_WRITE_GOLDEN" in os.environ
UCX = CELL.replace("backend=mpi", "backend=ucx")
SHORT = [value / 1000 for value in US]


class WithComparison(WithFolder):
    """One cell of every state."""

    def setUp(self) -> None:
        super().setUp()
        baseline = {
            CELL: US,
            f"{UCX}/x=1": US,
            f"{UCX}/x=2": US[:5],
            f"{UCX}/x=3": US,
            f"{UCX}/x=4": SCATTERED,
            f"{UCX}/x=5": SLOW,
            f"{UCX}/x=6": US,
            f"{UCX}/x=7": SHORT,
        }
        candidate = {
            CELL: US,
            f"{UCX}/x=1": SLOW,
            f"{UCX}/x=2": SLOW[:5],
            f"{UCX}/x=4": SCATTERED,
            f"{UCX}/x=5": US,
            f"{UCX}/x=6": US,
            f"{UCX}/x=7": SHORT,
            f"{UCX}/x=8": US,
        }
        wrong = [launch("cand-8"), fault("cand-8", "invalid", f"{UCX}/x=6"), {"kind": "end", "launch_id": "cand-8"}]
        self.before, self.after = self.file("before", side("base", baseline)), self.file("after", side("cand", candidate) + wrong)

    def export(self, name: str, file: str) -> Path:
        self.assertEqual(run(self.before, self.after, "--export", name, self.folder / file)[0], 4)
        return self.folder / file

    def assert_golden(self, text: str, name: str) -> None:
        if WRITE:
            (GOLDEN / name).write_text(text)
        self.assertEqual(text, (GOLDEN / name).read_text())


class GoldenTest(WithComparison):
    def test_what_is_printed(self) -> None:
        for option, name in (
            ([], "table.txt"),
            (["--all"], "table_all.txt"),
            (["--markdown"], "table.md"),
            (["--json"], "comparison.json"),
        ):
            self.assert_golden(run(self.before, self.after, *option)[1], name)

    def test_files(self) -> None:
        for name, file in (
            ("junit", "junit.xml"),
            ("github", "github.txt"),
            ("bencher", "bencher.json"),
            ("otava", "otava.yaml"),
        ):
            self.assert_golden(self.export(name, file).read_text(), file)

    def test_json_is_the_same_printed_and_exported(self) -> None:
        self.assertEqual(self.export("json", "out.json").read_text(), (GOLDEN / "comparison.json").read_text())

    def test_github_action_benchmark_has_a_file_per_direction(self) -> None:
        self.export("gab", "gab.json")
        for name in ("gab.smaller.json", "gab.bigger.json"):
            self.assert_golden((self.folder / name).read_text(), name)

    def test_a_table_line_has_at_most_100_columns(self) -> None:
        for name in ("table.txt", "table_all.txt"):
            for line in (GOLDEN / name).read_text().splitlines():
                self.assertLessEqual(len(line), 100, line)


class JunitTest(WithComparison):
    def test_counts_are_those_of_the_elements(self) -> None:
        root = ElementTree.parse(self.export("junit", "junit.xml")).getroot()
        for suite in root:
            for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(attribute, "")), len(list(suite.iter(tag))))
        self.assertEqual([root.get(name) for name in ("tests", "failures", "errors")], ["8", "1", "1"])

    def test_times_are_plain_decimals(self) -> None:
        root = ElementTree.parse(self.export("junit", "junit.xml")).getroot()
        for case in root.iter("testcase"):
            self.assertRegex(case.get("time", "0.0"), r"^\d+\.\d+$")

    def test_a_reader_of_others_agrees(self) -> None:
        try:
            from junitparser import Error, Failure, JUnitXml
        except ImportError:
            self.skipTest("junitparser is not installed")
        read = JUnitXml.fromfile(str(self.export("junit", "junit.xml")))
        results = [result for suite in read for case in suite for result in case.result]
        self.assertEqual([sum(isinstance(result, kind) for result in results) for kind in (Failure, Error)], [1, 1])


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


SUMMARY = "GITHUB_STEP_SUMMARY"


class HistoryTest(WithComparison):
    def test_no_cell_is_no_file(self) -> None:
        empty = [launch("cand-0"), fault("cand-0", "skipped")]
        run(self.before, self.file("after", empty), "--export", "gab", self.folder / "gab.json")
        self.assertEqual(list(self.folder.glob("gab*")), [])

    def test_cells_below_the_floor_raise_no_alert(self) -> None:
        found = json.loads(self.export("bencher", "bencher.json").read_text())
        self.assertEqual([name for name in found if name.endswith("-bencher-ignore")], [f"{UCX}/x=7-bencher-ignore"])

    def test_bounds_are_ranks_one_and_eight_of_eight(self) -> None:
        found = json.loads(self.export("bencher", "bencher.json").read_text())[CELL]["latency"]
        self.assertEqual((found["lower_value"], found["value"], found["upper_value"]), (98500, 100250, 102000))

    def test_otava_is_given_rows_in_order_of_time_without_an_empty_field(self) -> None:
        self.export("otava", "otava.yaml")
        files = list(self.folder.glob("*.csv"))
        self.assertEqual(len(files), 4, "mpi; ucx; and two cells that one campaign lacks")
        for file in files:
            rows = list(csv.reader(file.open()))
            self.assertEqual(rows[0][:3], ["time", "commit", "version"])
            self.assertTrue(all(all(row) and len(row) == len(rows[0]) for row in rows))
            self.assertEqual([row[0] for row in rows[1:]], sorted(row[0] for row in rows[1:]))

    def test_otava_rows_are_medians_over_launches(self) -> None:
        self.export("otava", "otava.yaml")
        rows = list(csv.reader((self.folder / "dlmb.moe_alltoall.mpi.host.made.csv").open()))
        self.assertEqual(rows[1], ["2026-01-31T12:00:00+00:00", "ab12cd3", "0.1.0", "100250.000"])


class PlainNumbersTest(unittest.TestCase):
    def test_no_exponent_no_nan_and_absent_values_are_left_out(self) -> None:
        found = plain_json.dumps(
            {"small": 5.41e-6, "large": 1e22, "none": None, "nan": float("nan"), "text": "1e5", "list": [1, 2.5]}
        )
        self.assertEqual(json.loads(found), {"small": 5.41e-6, "large": 1e22, "text": "1e5", "list": [1, 2.5]})
        self.assertNotRegex(re.sub(r'"[^"]*"', "", found), r"\d[eE]")


if __name__ == "__main__":
    unittest.main()
