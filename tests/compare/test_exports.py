# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every output of one small comparison against golden/, and what its readers insist on.

DLMB_WRITE_GOLDEN=1 ctest -R compare writes golden/ anew; read the difference before it is committed.
"""

from __future__ import annotations

import csv
import json
import os
import re
import unittest

from every_state import GOLDEN, UCX, WithComparison
from made import CELL, WithFolder, fault, launch, side
from running import validated
from test_exit_codes import US, run

from dlmb_launch.compare.document import dumps

WRITE = "DLMB_WRITE_GOLDEN" in os.environ


class GoldenTest(WithComparison):
    def assert_golden(self, text: str, name: str) -> None:
        if WRITE:
            (GOLDEN / name).write_text(text)
        self.assertEqual(text, (GOLDEN / name).read_text())

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

    def test_json_follows_its_schema(self) -> None:
        done = validated("--strict", GOLDEN / "comparison.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        path = self.folder / "comparison.json"
        for name, value in (("exit_code", "five"), ("cells", [{}]), ("later", 1)):
            path.write_text(json.dumps(json.loads((GOLDEN / "comparison.json").read_text()) | {name: value}))
            self.assertEqual(validated("--strict", path).returncode, 1, name)

    def test_github_action_benchmark_has_a_file_per_direction(self) -> None:
        self.export("gab", "gab.json")
        for name in ("gab.smaller.json", "gab.bigger.json"):
            self.assert_golden((self.folder / name).read_text(), name)

    def test_a_table_line_has_at_most_100_columns(self) -> None:
        for name in ("table.txt", "table_all.txt"):
            for line in (GOLDEN / name).read_text().splitlines():
                self.assertLessEqual(len(line), 100, line)


class OperationTest(WithFolder):
    def test_every_output_names_the_operation_also_where_it_is_the_default(self) -> None:
        cell_id = "backend=mpi/method=blocking/p.message-size=1024/pattern=collective/ranks=2"
        sides = []
        for name, slower in (("before", 1), ("after", 2)):
            lines = side(name, {cell_id: [slower * value for value in US]})
            for line in [line for line in lines if line["kind"] == "cell"]:
                line["parameters"] = {"operation": "allreduce", "window": 64, "pairs": "all", "message-size": 1024}
            sides.append(self.file(name, lines))
        whole = cell_id.replace("/pattern=", "/p.operation=allreduce/pattern=")
        for name, file in (("junit", "o.xml"), ("github", "o.txt"), ("gab", "o.json"), ("bencher", "b.json"), ("json", "c.json"), ("otava", "o.yaml")):
            self.assertEqual(run(*sides, "--export", name, self.folder / file)[0], 1)
            self.assertIn(whole, (self.folder / file.replace("o.json", "o.smaller.json")).read_text(), name)
        for option in ("--all", "--markdown", "--json"):
            self.assertIn("allreduce", run(*sides, option)[1], option)


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
        found = dumps(
            {"small": 5.41e-6, "large": 1e22, "none": None, "nan": float("nan"), "text": "1e5", "list": [1, 2.5]}
        )
        self.assertEqual(json.loads(found), {"small": 5.41e-6, "large": 1e22, "text": "1e5", "list": [1, 2.5]})
        self.assertNotRegex(re.sub(r'"[^"]*"', "", found), r"\d[eE]")


if __name__ == "__main__":
    unittest.main()
