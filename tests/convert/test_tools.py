# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the schema, dlmb_compare and dlmb_plot say of converted lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import outputs
from dlmb_launch.compare.comparison import Rules, compare
from dlmb_launch.compare.metrics import METRICS
from dlmb_launch.compare.reading import read_campaign
from dlmb_launch.compare.verdict import State
from dlmb_plotting.charts import Limits
from dlmb_plotting.findings import findings
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.plots import curves, phases, trend
from dlmb_plotting.results import read
from outputs import WithFolder

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Limits(charts=12)
TABLE = os.environ.get("DLMB_PICO_TABLE", "")


def python_with(module: str) -> str:
    """numpy and jsonschema may be packages of different installations; empty: none has it."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    return ""


WITH_SCHEMAS = python_with("jsonschema")


class SchemaTest(WithFolder):
    @unittest.skipUnless(WITH_SCHEMAS, "no python3 here has jsonschema")
    def test_every_line_is_as_the_schema_says_and_has_no_other_field(self) -> None:
        made = [
            self.converted(outputs.OSU_FULL, "--ranks", "2", name="osu.txt"),
            self.converted(outputs.OSU_MANY, "--ranks", "16", "--system", "mine", name="many.txt"),
            self.converted(outputs.NCCL_ALLREDUCE, name="nccl.txt"),
            self.converted(json.dumps(outputs.NCCL_DOCUMENT), name="document.json"),
            self.converted(outputs.UCC_ALLREDUCE, "--ranks", "4", name="ucc.txt"),
            self.converted(outputs.PICO, name="pico.csv"),
            self.converted(outputs.COMMS_LOGGER, "--ranks", "4", name="logger.json"),
        ]
        command = [WITH_SCHEMAS, ROOT / "results-schema" / "validate.py", "--strict", *made]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(WITH_SCHEMAS, "no python3 here has jsonschema")
    def test_a_statistic_that_no_program_has_is_refused(self) -> None:
        lines = self.lines(outputs.OSU_ALLREDUCE, "--ranks", "4")
        lines[1]["time_ns"]["median_low"] = 1.0
        path = self.file("more.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        command = [WITH_SCHEMAS, str(ROOT / "results-schema" / "validate.py"), str(path)]
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 1)


class CompareTest(WithFolder):
    def verdicts(self, metric: str = "time") -> list:
        faster = outputs.OSU_ALLREDUCE.replace("104.30", "52.15") + outputs.OSU_MANY
        sides = [self.converted(text, "--ranks", "4", name=name) for name, text in (("before.txt", faster), ("after.txt", outputs.OSU_ALLREDUCE + outputs.OSU_MANY))]
        campaigns = [read_campaign(name, path, METRICS[metric]) for name, path in zip(("baseline", "candidate"), sides)]
        comparison = compare(*campaigns, METRICS[metric], Rules())
        self.assertEqual(comparison.judged, 0)
        return comparison.verdicts

    def test_a_ratio_is_shown_and_a_verdict_refused(self) -> None:
        reasons = {verdict.cell.id: verdict for verdict in self.verdicts()}
        of_large = next(verdict for name, verdict in reasons.items() if "message-size=1048576" in name)
        self.assertEqual(of_large.state, State.NOT_COMPARABLE)
        self.assertEqual(of_large.reason, "ratio 2.000, no verdict: osu recorded no launches, no machine, no check")

    def test_bandwidths_are_compared_as_such(self) -> None:
        shown = [verdict.reason for verdict in self.verdicts("busbw") if "operation=bandwidth/" in verdict.cell.id]
        self.assertEqual(shown, ["ratio 1.000, no verdict: osu recorded no launches, no machine, no check"])

    def test_eight_files_per_side_change_nothing(self) -> None:
        sides = []
        for side in ("before", "after"):
            texts = [self.file(f"{side}{index}.txt", outputs.OSU_ALLREDUCE.replace("1.98", f"{side == 'after'}.{index}".replace("True", "3").replace("False", "1"))) for index in range(8)]
            sides.append(self.folder / f"{side}.jsonl")
            self.assertEqual(outputs.main([*map(str, texts), "--ranks", "4", "-o", str(sides[-1])])[0], 0)
        comparison = compare(*(read_campaign(side.stem, side, METRICS["time"]) for side in sides), METRICS["time"], Rules())
        self.assertEqual((comparison.judged, comparison.count(State.NOT_COMPARABLE)), (0, 2))


class PlotTest(WithFolder):
    def test_a_mean_is_called_one_and_has_no_interval(self) -> None:
        results = read([self.converted(outputs.OSU_ALLREDUCE, "--ranks", "4")])
        (plot, _) = curves.size_plots(results, LIMITS)
        (chart,) = plot.charts
        self.assertIn("mean", chart.y.title)
        self.assertNotIn("median", chart.y.title)
        self.assertEqual(list(chart.series), ["mpi default (osu mean)"])
        self.assertTrue(all(point.low == point.y == point.high for point in chart.series["mpi default (osu mean)"]))

    def test_what_has_only_a_bandwidth_is_no_point_at_time_zero(self) -> None:
        results = read([self.converted(outputs.OSU_MANY, "--ranks", "16")])
        shown = [cell.parameters for cell in results.cells if not cell.timed]
        self.assertEqual(len(shown), 3)
        for plot in curves.size_plots(results, LIMITS):
            for chart in plot.charts:
                self.assertTrue(all(point.y > 0 for points in chart.series.values() for point in points))
        remarks = [remark for chart in phases.plots(results, LIMITS)[0].charts for remark in chart.remarks.values()]
        self.assertEqual(remarks, [])

    def test_no_method_of_others_is_called_the_fastest(self) -> None:
        (finding,) = findings(Inputs(read([self.converted(outputs.PICO, name="m.csv")])))
        self.assertEqual(finding.summary, "Results of pico, without intervals: which method is surely the fastest cannot be said.")
        self.assertEqual(finding.lines, [])

    def test_campaigns_of_others_make_no_trend(self) -> None:
        once = outputs.PICO.splitlines()
        again = [once[2].replace("2025_04_06", "2025_04_07").replace("12.5", "13.5")]
        self.assertEqual(trend.plots(read([self.converted("\n".join(once + again) + "\n", name="m.csv")]), LIMITS), [])


class WholeTableTest(WithFolder):
    @unittest.skipUnless(TABLE, "DLMB_PICO_TABLE names no measurements.csv of PICO")
    def test_every_line_of_the_table_becomes_a_cell_that_can_be_drawn(self) -> None:
        self.assertEqual(outputs.main([TABLE, "-o", str(self.folder / "pico.jsonl")])[0], 0)
        results = read([self.folder / "pico.jsonl"])
        self.assertTrue(results.cells and all(cell.timed for cell in results.cells))
        self.assertTrue(curves.size_plots(results, LIMITS))


if __name__ == "__main__":
    unittest.main()
