# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who wins, by how much, where, and how sure."""

from __future__ import annotations

import math
import unittest

from made import EXAMPLE, WithFolder, cell_line, comparison_document, launch_line, lines, run, table_document

from dlmb_plotting.findings import Finding, Judge, findings, how_sure
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.results import read
from dlmb_statistics.student import over_launches


class FindingsTest(WithFolder):
    def of(self, *cells: dict) -> Finding:
        launches = [launch_line(name) for name in sorted({cell["launch_id"] for cell in cells})]
        self.results = read([self.file(lines(*launches, *cells))])
        (found,) = findings(Inputs(self.results))
        return found

    def test_a_lead_whose_interval_is_above_one_is_a_win(self) -> None:
        found = self.of(cell_line(1024, 3000, "mpi"), cell_line(1024, 2000, "ucx"))
        # intervals of made lines are 0.9 to 1.2 of the median: exp(log 1.5 -+ hypot(log 0.9, log 1.2)) and the other way round
        self.assertEqual(found.title, "collective: 4 ranks, host memory")
        self.assertEqual(found.lines, [("", "ucx default is 1.5 (1.22 to 1.85) times as fast as mpi default: 2.00 µs instead of 3.00 µs")])
        self.assertIn("from one launch", how_sure(self.results))

    def test_too_few_samples_of_one_launch_win_nothing_and_have_no_interval(self) -> None:
        def few(time: float, backend: str, samples: int = 4, **interval: float | None) -> dict:
            return cell_line(1024, time, backend) | {"time_ns": {"median": time, "p99": None, "max": 10000, "median_low": None, "median_high": None, "samples": samples, **interval}}

        text = "open: fewer than 6 samples, so there is no interval; ucx default took least time, mpi default 1.5 times as much"
        self.assertEqual(self.of(few(3000, "mpi"), few(2000, "ucx")).lines, [("", text)])
        self.assertEqual(self.of(few(3000, "mpi"), cell_line(1024, 2000, "ucx")).lines, [("", text)])
        old = {"median_low": 2000, "median_high": 2000}  # files of before: one sample is its own interval
        self.assertEqual(self.of(few(3000, "mpi"), few(2000, "ucx", 1, **old)).lines, [("", text)])
        self.assertNotIn("fastest in", self.of(few(3000, "mpi"), few(2000, "ucx")).summary)
        self.assertEqual(self.of(few(3000, "mpi")).lines[0][1], "mpi default, 3.00 µs at 1 KiB per rank")

    def test_too_few_samples_of_several_launches_are_judged_over_the_launches(self) -> None:
        none = {"p99": None, "max": 10000, "median_low": None, "median_high": None, "samples": 2}
        cells = [cell_line(1024, time, backend, launch) | {"time_ns": {"median": time, **none}}
                 for launch, *pair in (("l1", 2000, 1000), ("l2", 4000, 1900), ("l3", 1000, 520)) for time, backend in zip(pair, ("mpi", "ucx"))]
        self.assertIn("ucx default is 2.01 (1.79 to 2.25) times as fast as mpi default", self.of(*cells).lines[0][1])

    def test_the_operation_is_named(self) -> None:
        cells = [cell_line(1024, time, backend) for time, backend in ((3000, "mpi"), (2000, "ucx"))]
        for cell in cells:
            cell["parameters"] |= {"operation": "message_rate", "window": "64", "pairs": "all"}
        self.assertEqual(self.of(*cells).title, "collective: message_rate window 64 pairs all, 4 ranks, host memory")
        for cell in cells:
            cell["parameters"] |= {"operation": "allreduce"}
        self.assertEqual(self.of(*cells).title, "collective: allreduce, 4 ranks, host memory")

    def test_a_lead_whose_interval_has_one_inside_is_open(self) -> None:
        found = self.of(cell_line(1024, 2100, "mpi"), cell_line(1024, 2000, "ucx"))
        self.assertEqual(found.lines[0][1], "open: mpi default or ucx default may be the fastest; ucx default leads mpi default by 1.05 (0.851 to 1.3) times with 2.00 µs")

    def test_a_third_method_that_is_not_surely_slower_leaves_the_setting_open(self) -> None:
        # the second is slower for sure, the third has a wider interval
        wide = cell_line(1024, 2600, "nccl") | {"time_ns": {"median": 2600, "p99": None, "max": 10000, "median_low": 1000, "median_high": 9000}}
        found = self.of(cell_line(1024, 2550, "mpi") | {"time_ns": {"median": 2550, "p99": None, "max": 10000, "median_low": 2540, "median_high": 2560}}, cell_line(1024, 2000, "ucx"), wide)
        self.assertEqual(found.lines[0][1], "open: nccl default or ucx default may be the fastest; ucx default leads mpi default by 1.27 (1.06 to 1.42) times with 2.00 µs")

    def test_a_cell_too_short_for_the_clock_wins_nothing(self) -> None:
        found = self.of(*(cell_line(1024, time, backend) | {"below_floor": True} for time, backend in ((3000, "mpi"), (2000, "ucx"))))
        self.assertEqual(found.lines[0][1], "open: too short for the clock")

    def test_neighbouring_sizes_with_the_same_winner_are_one_line(self) -> None:
        times = {1024: (10, 20), 2048: (20, 30), 4096: (60, 40), 8192: (80, 81)}
        found = self.of(*(cell_line(size, 1000 * time, backend) for size, pair in times.items() for time, backend in zip(pair, ("mpi", "ucx"))))
        self.assertEqual([where for where, _ in found.lines], ["1 KiB to 2 KiB per rank", "4 KiB per rank", "8 KiB per rank"])
        self.assertTrue(found.lines[0][1].startswith("mpi default is 1.5 to 2 times as fast as ucx default (intervals from 1.2"), found.lines)
        self.assertIn("mpi default is the fastest in 2 of 4 settings, ucx default in 1; 1 is open.", found.summary)
        self.assertIn("at worst it takes 1.5 times as long as the fastest (ucx default: 4 KiB per rank)", found.summary)

    def test_sizes_that_are_no_neighbours_are_listed_and_many_are_counted(self) -> None:
        def cells(count: int) -> list[dict]:
            return [cell_line(1024 << size, 1000 * (20 if (size % 2 == 0) == (backend == "mpi") else 10), backend) for size in range(count) for backend in ("mpi", "ucx")]

        self.assertEqual([where for where, _ in self.of(*cells(5)).lines], ["1 KiB, 4 KiB and 16 KiB per rank", "2 KiB and 8 KiB per rank"])
        self.assertEqual(self.of(*cells(10)).lines[0][0], "5 of the 10 sizes from 1 KiB to 256 KiB per rank")

    def test_with_several_launches_the_interval_is_over_their_ratios(self) -> None:
        times = (("l1", 2000, 1000), ("l2", 4000, 1900), ("l3", 1000, 520))
        found = self.of(*(cell_line(1024, time, backend, launch) for launch, *pair in times for time, backend in zip(pair, ("mpi", "ucx"))))
        # logarithms 0.6931, 0.7444, 0.6539: mean 0.6972, deviation 0.0454, times 4.30 / sqrt 3 = 0.1127
        self.assertIn("ucx default is 2.01 (1.79 to 2.25) times as fast as mpi default", found.lines[0][1])
        self.assertIn("1 setting: over the launches", how_sure(self.results))

    def test_a_launch_whose_median_is_zero_counts_in_no_ratio(self) -> None:
        written = [line for launch, own in (("a", 0), ("b", 20), ("c", 20)) for line in (
            launch_line(launch), cell_line(8, own, launch=launch), cell_line(8, 10, "nccl", launch=launch))]
        results = read([self.file(lines(*written))])
        (contest,) = Judge(results).contests(results.cells)
        self.assertAlmostEqual(contest.lead.value, 2.0)
        self.assertEqual(contest.lead.launches, 2)

    def test_two_equal_launches_have_an_interval_of_no_width(self) -> None:
        self.assertEqual(tuple(over_launches([math.log(2)] * 2)), (2, 2, 2, 2))

    def test_methods_that_never_ran_in_one_launch_are_compared_by_their_samples(self) -> None:
        self.of(cell_line(8, 3000, "mpi", "l1"), cell_line(8, 2000, "ucx", "l2"))
        self.assertEqual(Judge(self.results).contests(self.results.cells)[0].lead.launches, 1)

    def test_one_method_is_told_with_its_times(self) -> None:
        found = self.of(cell_line(1024, 2000), cell_line(4096, 5000))
        self.assertEqual(found.summary, "Nothing to compare: mpi default ran, one method in each of 2 settings.")
        self.assertEqual(found.lines[0][1], "mpi default, 2.00 µs (1.80 to 2.40 µs) at 1 KiB to 5.00 µs (4.50 to 6.00 µs) at 4 KiB per rank")

    def test_where_nothing_ran_the_reason_is_said(self) -> None:
        self.assertEqual(self.of(cell_line(8, 1) | {"status": "skipped", "reason": "no GPU"}).summary, "Nothing ran: no GPU.")

    def test_many_settings_keep_the_widest_leads(self) -> None:
        found = self.of(*(cell_line(8, 1000 * (1 + index * (backend == "ucx")), backend, skew=f"zipf:{index}") for index in range(30) for backend in ("mpi", "ucx")))
        self.assertEqual(len(found.lines), 10)
        self.assertIn("zipf:29", found.lines[-1][0])
        self.assertIn("The 10 widest leads of 30:", found.summary)

    def test_verdicts_and_tables_are_told_too(self) -> None:
        comparison, table = findings(Inputs(comparisons={"c": comparison_document()}, tables={"t": table_document()}))
        self.assertEqual(comparison.lines[0], ("collective", "the candidate takes 1.2 times the baseline in the geometric mean of 2 cells (1.1 to 1.3)"))
        self.assertIn("REGRESSED 1.5 (1.4 to 1.6)", comparison.lines[1][1])
        (many,) = findings(Inputs(comparisons={"c": comparison_document() | {"patterns": 12 * comparison_document()["patterns"]}}))
        self.assertEqual(len(many.lines), 12, "no room is left for cells")
        (rates,) = findings(Inputs(comparisons={"c": comparison_document() | {"metric": {"name": "busbw", "unit": "GB/s"}}}))
        self.assertIn("ratios are baseline over candidate, above 1 is worse", rates.summary)
        self.assertEqual(rates.lines[0][1], "the baseline has 1.2 times the candidate in the geometric mean of 2 cells (1.1 to 1.3)")
        self.assertEqual(table.lines, [("allreduce, size of buffer, 1 KiB to 64 KiB", "ucx default saves 20% of the default's time (10% to 30%)")])
        foreign = table_document()
        for rule in foreign["rules"]:
            rule.get("evidence", {}).pop("ci", None)
        (table,) = findings(Inputs(tables={"t": foreign}))
        self.assertEqual(table.lines[0][1], "ucx default saves 20% of the default's time")

    def test_the_command_prints_the_sentences_of_the_report_for_a_terminal(self) -> None:
        text = self.folder / "findings.txt"
        self.assertEqual(run("findings", str(EXAMPLE), "-o", str(text))[0], 0)
        printed = text.read_text().splitlines()
        (found,) = findings(Inputs(read([EXAMPLE])))
        self.assertEqual(printed[0], found.title)
        words = " ".join(printed).split()
        for _, sentence in found.lines:
            self.assertIn(" ".join(sentence.split()), " ".join(words))
        self.assertLessEqual(max(map(len, printed)), 100)


if __name__ == "__main__":
    unittest.main()
