# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the schema, dlmb_compare and dlmb_plot say of converted lines."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path

import outputs
import own
from outputs import WithFolder
from running import validated

from dlmb_launch.compare import tables
from dlmb_launch.compare.campaign import METRICS
from dlmb_launch.compare.comparison import Rules, compare
from dlmb_launch.compare.reading import read_campaign
from dlmb_launch.compare.verdict import BareRatio, State
from dlmb_plotting.charts import Limits, Plot
from dlmb_plotting.findings import findings
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.plots import plots
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.results import Results, read

ROOT = Path(__file__).resolve().parents[2]
NO_VERDICT = "no verdict: osu recorded no launches, no machine, no check"
TABLE = os.environ.get("DLMB_PICO_TABLE", "")


class SchemaTest(WithFolder):
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
        done = validated("--strict", *made)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_statistic_that_no_program_has_is_refused(self) -> None:
        lines = self.lines(outputs.OSU_ALLREDUCE, "--ranks", "4")
        lines[1]["time_ns"]["median_low"] = 1.0
        path = self.file("more.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.assertEqual(validated(path).returncode, 1)


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
        self.assertEqual((of_large.reason, of_large.bare_ratio), (NO_VERDICT, BareRatio(2.0, 52150.0, 104300.0)))

    def test_bandwidths_are_compared_as_such(self) -> None:
        shown = [(verdict.reason, verdict.bare_ratio) for verdict in self.verdicts("busbw") if "operation=bandwidth/" in verdict.cell.id]
        self.assertEqual(shown, [(NO_VERDICT, BareRatio(1.0, 27.16133, 27.16133))])

    def test_eight_files_per_side_change_nothing(self) -> None:
        sides = []
        for side in ("before", "after"):
            texts = [self.file(f"{side}{index}.txt", outputs.OSU_ALLREDUCE.replace("1.98", f"{side == 'after'}.{index}".replace("True", "3").replace("False", "1"))) for index in range(8)]
            sides.append(self.folder / f"{side}.jsonl")
            self.assertEqual(outputs.main([*map(str, texts), "--ranks", "4", "-o", str(sides[-1])])[0], 0)
        comparison = compare(*(read_campaign(side.stem, side, METRICS["time"]) for side in sides), METRICS["time"], Rules())
        self.assertEqual((comparison.judged, comparison.counts[State.NOT_COMPARABLE]), (0, 2))


OSU_7_4 = outputs.OSU_ALLREDUCE.replace("# Size", "# Datatype: MPI_CHAR.\n# Size").replace("1048576 ", "8       ")


class BesideOwnTest(WithFolder):
    """Numbers of others beside those of `--timing osu` and `--timing nccl`."""

    def compared(self, before: Path, after: Path, metric: str = "time"):
        sides = (read_campaign(name, path, METRICS[metric]) for name, path in (("baseline", before), ("candidate", after)))
        return compare(*sides, METRICS[metric], Rules())

    def own(self, *cells: dict) -> Path:
        return self.file("own.jsonl", own.launch(*cells))

    def test_the_same_operation_size_ranks_and_definition_stand_side_by_side(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        ours = self.own(*(own.cell(size=size, mean_us=3, median_us=2) for size in (4, 8, 16)))
        found = self.compared(osu, ours)
        self.assertEqual([(each.state, each.reason, each.bare_ratio) for each in found.verdicts],
                         [(State.NOT_COMPARABLE, NO_VERDICT, BareRatio(3000 / 1980, 1980.0, 3000.0)), (State.NOT_COMPARABLE, NO_VERDICT, BareRatio(3000 / 104300, 104300.0, 3000.0))])
        self.assertEqual((found.judged, len(found.only_in_candidate)), (0, 1))
        turned = self.compared(ours, osu)
        self.assertEqual([(each.reason, each.bare_ratio and each.bare_ratio.ratio) for each in turned.verdicts],
                         [("only in the baseline", None), (NO_VERDICT, 1980 / 3000), (NO_VERDICT, 104300 / 3000)])

    def test_the_program_says_both_numbers_and_that_there_is_no_verdict(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        ours = self.own(*(own.cell(size=size, mean_us=3) for size in (4, 8)))
        done = subprocess.run([str(ROOT / "launch" / "dlmb_compare"), str(osu), str(ours)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stdout, r"NOT_COMPARABLE: no verdict: osu recorded no launches.*\nNOT_COMPARABLE  1\.515 none +none +1\.98 us +3\.00 us  4/allreduce\n")
        self.assertIn("no verdict on 2 cells, by the mean where their definition has one: ratios of 0.209 in geometric mean", done.stdout)
        self.assertNotIn("kernel differs", done.stderr)

    def test_what_osu_calls_and_what_dlmb_calls_so_are_paired_by_their_parameters(self) -> None:
        osu = self.converted(outputs.OSU_MANY, "--ranks", "8")
        window = {"traffic": None, "median_us": 4, "mean_us": 8, "size": 1024, "ranks": 8, "busbw": 4.0}
        ours = self.own(
            own.cell("barrier", size=0, ranks=8, mean_us=2.82, definition=own.without_barrier("ranks of (done - enter)")),
            own.cell("sendrecv", size=8, ranks=2, mean_us=3.02, route="ping_pong", definition=own.without_barrier("the first ranks of pairs of (done - enter) / 2")),
            own.cell("message_rate", definition=own.RATE_DEFINITION, **window),
            own.cell("allreduce", size=4, ranks=8, mean_us=8.86, method="nonblocking"), own.cell("allreduce", size=4, ranks=8, mean_us=1),
            own.cell("allreduce", size=4, ranks=8, mean_us=9, method="nonblocking", compute="busy"))
        ratios = {each.cell.id.partition("p.operation=")[2].partition("/")[0]: each.bare_ratio.ratio for each in self.compared(osu, ours).verdicts if each.bare_ratio}
        self.assertEqual({name: round(ratio, 6) for name, ratio in ratios.items()}, {"barrier": 2, "sendrecv": 2, "allreduce": 2})
        of_rate = [each for each in self.compared(osu, ours, "busbw").verdicts if each.bare_ratio and "message_rate" in each.cell.id]
        # 4 GB/s at the median of 4 us are 2 at the mean of 8 us, as many as OSU's 8000 MB/s of 4 pairs
        self.assertEqual([each.bare_ratio.ratio for each in of_rate], [1.0])

    def test_cells_of_another_definition_or_method_stay_apart_and_say_why(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        for what, reason in (({"mode": "isolated"}, "mode isolated, not osu"), ({"method": "algorithm:allreduce=ring"}, "method algorithm+3Aallreduce+3Dring, not default"),
                             ({"element": "fp32", "reduction": "max"}, "element fp32, not int8, reduction max, not sum")):
            first = self.compared(osu, self.own(own.cell(size=4, **what))).verdicts[0]
            self.assertEqual((first.state, first.reason, first.bare_ratio), (State.NOT_COMPARABLE, f"only in the baseline; the candidate's has {reason}", None))

    def test_definitions_in_other_words_are_not_compared(self) -> None:
        first = self.compared(self.converted(OSU_7_4, "--ranks", "4"), self.own(own.cell(size=4, definition="osu: otherwise"))).verdicts[0]
        self.assertIsNone(first.bare_ratio)
        self.assertIn("definition differs", first.reason)

    def test_another_element_is_compared_and_named(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        first = self.compared(osu, self.own(own.cell(size=4, element="fp32", mean_us=1.98))).verdicts[0]
        self.assertEqual((first.reason, first.bare_ratio.ratio), (f"{NO_VERDICT}; element int8 and fp32", 1.0))
        older = self.converted(outputs.OSU_ALLREDUCE, "--ranks", "4")  # before 7.2 it does not say its type
        small = [each for each in self.compared(older, self.own(own.cell(size=4, element="fp32"))).verdicts if each.bare_ratio]
        self.assertEqual([each.reason for each in small], [NO_VERDICT])

    def test_of_two_that_may_be_it_none_is_taken(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        first = self.compared(osu, self.own(own.cell(size=4), own.cell(size=4, seed=2))).verdicts[0]
        self.assertEqual(first.reason, "only in the baseline; 2 cells of the candidate may be it; they differ in seed")

    def test_cells_whose_ids_say_nothing_are_no_partners(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        ours = self.own(own.cell(size=4) | {"cell_id": "a/b", "parameters": {}}, own.cell(size=4) | {"cell_id": "ranks=4/p.pairs=" + "9" * 5000})
        compared = self.compared(osu, ours)
        self.assertEqual([each.bare_ratio for each in compared.verdicts], [None, None])
        self.assertIn("9" * 20, tables.terminal(compared, True))
        windows = self.converted(outputs.OSU_MANY, "--ranks", "8", name="many.txt")
        ours = self.own(own.cell("message_rate", size=1024, ranks=8, pairs=4, definition=own.RATE_DEFINITION))
        self.assertEqual(sum(each.bare_ratio is not None for each in self.compared(windows, ours, "busbw").verdicts), 1, "4 pairs of 8 ranks are all")

    def test_both_kinds_of_buffers_of_nccl_tests_go_with_their_own(self) -> None:
        nccl = self.converted(outputs.NCCL_ALLREDUCE)
        ours = self.own(*(own.cell(size=1024, ranks_per_node=2, backend="nccl", method="native", memory="cuda", mode="nccl", element="fp32", mean_us=mean,
                                   definition=own.NCCL_DEFINITION, **{"in-place": place}) for place, mean in (("off", 41), ("on", 20.1))))
        ratios = [round(each.bare_ratio.ratio, 6) for each in self.compared(nccl, ours).verdicts if each.bare_ratio]
        self.assertEqual(ratios, [2.0, 1.0])

    def test_ucc_perftest_has_the_definition_of_osu(self) -> None:
        ucc = self.converted(outputs.UCC_ALLREDUCE, "--ranks", "4")
        ours = self.own(own.cell(size=512, backend="ucc", method="collective", element="fp32", mean_us=6.5))
        self.assertEqual([each.bare_ratio.ratio for each in self.compared(ucc, ours).verdicts if each.bare_ratio], [2.0])

    def test_bytes_that_differ_are_no_ratio(self) -> None:
        osu = self.converted(OSU_7_4, "--ranks", "4")
        first = self.compared(osu, self.own(own.cell(size=4, traffic={"payload_bytes": 17, "wire_bytes": 24}))).verdicts[0]
        self.assertEqual((first.reason, first.bare_ratio), ("payload_bytes differs: 16 and 17", None))


def drawn(name: str, results: Results) -> list[Plot]:
    return plots(Inputs(results), Machine(), Limits(charts=12), name)


class PlotTest(WithFolder):
    def test_a_mean_is_called_one_and_has_no_interval(self) -> None:
        results = read([self.converted(outputs.OSU_ALLREDUCE, "--ranks", "4")])
        (plot, _) = drawn("sizes", results)
        (chart,) = plot.charts
        self.assertIn("mean", chart.y.title)
        self.assertNotIn("median", chart.y.title)
        self.assertEqual(list(chart.series), ["mpi default (osu mean)"])
        self.assertTrue(all(point.low == point.y == point.high for point in chart.series["mpi default (osu mean)"]))

    def test_what_has_only_a_bandwidth_is_no_point_at_time_zero(self) -> None:
        results = read([self.converted(outputs.OSU_MANY, "--ranks", "16")])
        shown = [cell.parameters for cell in results.cells if not cell.timed]
        self.assertEqual(len(shown), 3)
        for plot in drawn("sizes", results):
            for chart in plot.charts:
                self.assertTrue(all(point.y > 0 for points in chart.series.values() for point in points))
        remarks = [remark for chart in drawn("phases", results)[0].charts for remark in chart.remarks.values()]
        self.assertEqual(remarks, [])

    def test_no_method_of_others_is_called_the_fastest(self) -> None:
        (finding,) = findings(Inputs(read([self.converted(outputs.PICO, name="m.csv")])))
        self.assertEqual(finding.summary, "Results of pico, without intervals, so no method is called the fastest.")
        self.assertEqual(finding.lines, [])

    def test_campaigns_of_others_make_no_trend(self) -> None:
        once = outputs.PICO.splitlines()
        again = [once[2].replace("2025_04_06", "2025_04_07").replace("12.5", "13.5")]
        self.assertEqual(drawn("trend", read([self.converted("\n".join(once + again) + "\n", name="m.csv")])), [])


class WholeTableTest(WithFolder):
    @unittest.skipUnless(TABLE, "DLMB_PICO_TABLE names no measurements.csv of PICO")
    def test_every_line_of_the_table_becomes_a_cell_that_can_be_drawn(self) -> None:
        self.assertEqual(outputs.main([TABLE, "-o", str(self.folder / "pico.jsonl")])[0], 0)
        results = read([self.folder / "pico.jsonl"])
        self.assertTrue(results.cells and all(cell.timed for cell in results.cells))
        self.assertTrue(drawn("sizes", results))


if __name__ == "__main__":
    unittest.main()
