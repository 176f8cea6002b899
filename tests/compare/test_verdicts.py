# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a cell with these medians."""

from __future__ import annotations

import unittest

from made import CELL, WithFolder, side

from dlmb_launch.compare.comparison import Rules
from dlmb_launch.compare.verdict import State
from dlmb_results.cells import median_of_rounds, odd_to_even

US = [100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]  # around 100 us, so the margin is 3 %
SLOWER = [105, 104, 106, 103, 107, 104.5, 105.5, 103.5]


def times(factor: float, values: list[float] = US) -> list[float]:
    return [factor * value for value in values]


class StateTest(WithFolder):
    def test_hand_computed_comparisons(self) -> None:
        same = self.verdict(US, [value + 0.2 for value in US])
        self.assertEqual(same.state, State.SAME)
        self.assertAlmostEqual(same.evidence.ratio, 1.00200, 5)
        slower = self.verdict(US, SLOWER)
        self.assertEqual((slower.state, slower.evidence.test), (State.REGRESSED, "rank-sum"))
        self.assertAlmostEqual(slower.evidence.ratio, 1.04511, 5)
        self.assertEqual(self.verdict(SLOWER, US).state, State.IMPROVED)

    def test_halved_bandwidth_is_a_regression_and_doubled_an_improvement(self) -> None:
        halved = self.verdict(US, times(2), "busbw")
        self.assertEqual(halved.state, State.REGRESSED)
        self.assertAlmostEqual(halved.evidence.ratio, 2, 6)
        self.assertAlmostEqual(halved.evidence.candidate / halved.evidence.baseline, 0.5, 6)
        self.assertEqual(self.verdict(US, times(0.5), "busbw").state, State.IMPROVED)

    def test_a_real_difference_within_the_margin_is_not_the_same_and_no_regression(self) -> None:
        found = self.verdict(times(1, [100 + k / 100 for k in range(8)]), times(1.0255, [100 + k / 10 for k in range(8)]))
        self.assertEqual((found.state, found.reason), (State.INCONCLUSIVE, "below_margin"))

    def test_scattered_launches_leave_it_open(self) -> None:
        found = self.verdict([80, 90, 100, 110, 120, 130, 140, 150], [85, 95, 105, 115, 125, 135, 145, 155])
        self.assertEqual((found.state, found.reason), (State.INCONCLUSIVE, "wide"))

    def test_an_interval_that_holds_1_is_no_regression_and_no_improvement(self) -> None:
        one = [94, 120, 89, 113, 104, 127, 80, 122]
        other = [139, 145, 116, 116, 114, 140, 92, 136]  # slower by a one-sided test with p = 0.039
        for found in (self.verdict(one, other), self.verdict(other, one)):
            self.assertLess(min(found.evidence.p_worse, found.evidence.p_better), 0.05)
            self.assertTrue(found.evidence.low < 1 < found.evidence.high)
            self.assertEqual((found.state, found.reason), (State.INCONCLUSIVE, "wide"))

    def test_fewer_than_8_launches_only_raise_suspicion(self) -> None:
        found = self.verdict(US[:5], times(1.2, US[:5]))
        self.assertEqual((found.state, found.reason), (State.SUSPECT, "few_launches"))
        self.assertEqual(self.verdict(US[:5], times(0.8, US[:5])).state, State.INCONCLUSIVE)
        self.assertEqual(self.verdict([100, 100.1, 100.2, 100.3, 100.4], [100, 100.1, 100.2, 100.3, 100.4]).state, State.SAME)

    def test_fewer_than_5_launches_are_not_judged(self) -> None:
        found = self.verdict(US[:4], times(2))
        self.assertEqual((found.state, found.reason, found.evidence), (State.INCONCLUSIVE, "few_launches", None))

    def test_a_cell_too_short_for_the_clock_is_shown_but_not_gated(self) -> None:
        found = self.verdict(times(0.002), times(0.004))  # 0.2 us, and 20 clock reads take 0.48 us
        self.assertEqual((found.state, found.reason, found.gated), (State.INCONCLUSIVE, "below_floor", False))
        self.assertGreater(found.evidence.ratio, 1.9)

    def test_one_regression_among_many_cells_is_found_with_8_launches_and_not_with_5(self) -> None:
        for launches, state in ((8, State.REGRESSED), (5, State.SUSPECT)):
            cells = {f"{CELL}/x={index}": US[:launches] for index in range(100)}
            slow = cells | {f"{CELL}/x=7": times(1.2, US[:launches])}
            verdicts = self.compared(side("base", cells), side("cand", slow)).verdicts
            self.assertEqual([verdict.cell.id for verdict in verdicts if verdict.state == state], [f"{CELL}/x=7"])


class ManyCellsTest(WithFolder):
    def test_a_slowdown_beyond_the_margin_that_may_be_by_chance_is_suspect(self) -> None:
        """8 and 8 launches have no p value below 1 / 12870, and of 700 cells one alone needs 0.05 / 700."""
        cells = {f"{CELL}/x={index}": US for index in range(700)}
        slow = cells | {f"{CELL}/x=7": times(1.2)}
        found = self.compared(side("base", cells), side("cand", slow))
        self.assertEqual([(verdict.cell.id, verdict.reason) for verdict in found.verdicts if verdict.state == State.SUSPECT], [(f"{CELL}/x=7", "among_many")])


class PairsTest(WithFolder):
    def test_twelve_pairs_are_tested_as_pairs(self) -> None:
        drift = [100 * 1.1**index for index in range(12)]
        slower = times(1.05, drift)
        self.assertEqual(self.verdict(drift, slower).state, State.INCONCLUSIVE)
        found = self.verdict(drift, slower, rules=Rules(paired=True))
        self.assertEqual((found.state, found.evidence.test), (State.REGRESSED, "signed-rank"))
        self.assertAlmostEqual(found.evidence.p_worse, 2**-12)
        self.assertAlmostEqual(found.evidence.ratio, 1.05)

    def test_launches_without_a_partner_are_not(self) -> None:
        self.assertEqual(
            self.verdict(times(1, US + US), times(1, US + US[:5]), rules=Rules(paired=True)).evidence.test, "rank-sum"
        )

    def test_fewer_pairs_are_not(self) -> None:
        self.assertEqual(self.verdict(US, SLOWER, rules=Rules(paired=True)).evidence.test, "rank-sum")


class MarginTest(WithFolder):
    def test_short_isolated_cells_have_5_percent_and_others_3(self) -> None:
        self.assertAlmostEqual(self.verdict(times(0.4), times(0.4)).evidence.margin, 0.05)
        self.assertAlmostEqual(self.verdict(US, US).evidence.margin, 0.03)
        stream = [side(name, {CELL: times(0.4)}) for name in ("base", "cand")]
        for lines in stream:
            for line in lines:
                line["mode"] = "stream"
        self.assertAlmostEqual(self.compared(*stream).verdicts[0].evidence.margin, 0.03)

    def test_a_given_margin_takes_their_place(self) -> None:
        found = self.verdict(US, SLOWER, rules=Rules(margin=0.1))
        self.assertEqual((found.state, found.evidence.margin), (State.SAME, 0.1))

    def test_rounds_that_alternate_inside_launches_widen_nothing_and_are_said(self) -> None:
        lines = [side("base", {CELL: US}), side("cand", {CELL: times(1.4)})]
        for line in (*lines[0], *lines[1]):
            if line["kind"] == "cell":
                line["rounds"]["aa_ratio"] = 1.25
        for margin in (None, 0.03, 0.0003):
            found = self.compared(*lines, rules=Rules(margin=margin))
            self.assertEqual((found.verdicts[0].state, found.verdicts[0].evidence.margin), (State.REGRESSED, margin or 0.03))
        self.assertIn("odd and even rounds inside the launches differ by more than the margin in 1 cell, most by 25 %", found.remarks[0])

    def test_a_slowdown_beyond_the_stated_margin_is_never_the_same(self) -> None:
        """The step of the clock is 2 us, so 6 % of 100 us may be one of reading it."""
        for slower, state, reason in ((1.0, State.SAME, ""), (1.05, State.INCONCLUSIVE, "clock"), (1.2, State.REGRESSED, "")):
            coarse = side("cand", {CELL: times(slower)})
            coarse[0]["calibration"] = {"timer": {"cost_ns": 30, "step_ns": 2000}}
            found = self.compared(side("base", {CELL: US}), coarse).verdicts[0]
            self.assertEqual((found.state, found.reason), (state, reason))
            self.assertEqual(found.evidence.margin, 0.03)
            self.assertAlmostEqual(found.evidence.resolution, 0.06, places=3)  # 3 * 2000 ns of 100 us


class FloorTest(WithFolder):
    def test_it_is_twenty_reads_of_the_launchs_clock_or_what_the_record_says(self) -> None:
        for fields, cost_ns, below in (({}, 30, False), ({}, 6000, True), ({"below_floor": True}, 30, True), ({"below_floor": False}, 6000, False)):
            lines = side("base", {CELL: US}), side("cand", {CELL: US})
            for line in (*lines[0], *lines[1]):
                line |= {"calibration": {"timer": {"cost_ns": cost_ns, "step_ns": 20}}} if line["kind"] == "launch" else fields
            self.assertEqual(self.compared(*lines).verdicts[0].gated, not below, (fields, cost_ns))

    def test_a_call_takes_what_its_slowest_rank_took_where_the_sample_is_a_part_of_it(self) -> None:
        """A ping-pong of 2 * 100 us is 33 reads of 6 us, and three steps of 2 us are 3 % of it."""
        lines = side("base", {CELL: US}), side("cand", {CELL: US})
        for line in (*lines[0], *lines[1]):
            line |= {"calibration": {"timer": {"cost_ns": 6000, "step_ns": 2000}}} if line["kind"] == "launch" else {"rank_medians_ns": [150e3, 200e3]}
        found = self.compared(*lines).verdicts[0]
        self.assertTrue(found.gated)
        self.assertAlmostEqual(found.evidence.resolution, 0.03)


class NumberOfALaunchTest(unittest.TestCase):
    def test_it_is_the_median_of_round_medians_else_of_samples(self) -> None:
        for of_rounds, expected in ((6.0, 6), (None, 7)):
            self.assertEqual(median_of_rounds({"rounds": {"median_of_rounds_ns": of_rounds}, "time_ns": {"median": 7}}), expected)

    def test_one_round_cannot_differ_from_itself(self) -> None:
        for ratio, expected in ((1.5, 1.5), (None, 1)):
            self.assertEqual(odd_to_even({"rounds": {"aa_ratio": ratio}}), expected)


class SummaryTest(WithFolder):
    def test_geometric_mean_per_pattern_and_its_interval(self) -> None:
        other = CELL.replace("moe_alltoall", "collective")
        cells = {CELL: US, f"{CELL}/x=1": US, other: US}
        candidate = {CELL: times(2), f"{CELL}/x=1": times(0.5), other: times(1.5)}
        patterns = self.compared(side("base", cells), side("cand", candidate)).patterns
        self.assertEqual([(pattern.pattern, pattern.cells) for pattern in patterns], [("collective", 1), ("moe_alltoall", 2)])
        self.assertAlmostEqual(patterns[0].ratio, 1.5)
        self.assertAlmostEqual(patterns[1].ratio, 1)
        self.assertTrue(1.45 < patterns[0].low < 1.5 < patterns[0].high < 1.55)

    def test_one_slow_launch_does_not_move_it_out_of_its_rows(self) -> None:
        """One of eight launches ten times as slow: the mean of launches would be 1.33 times as large."""
        cells = {f"{CELL}/x={index}": US for index in range(4)}
        for slow in (US[:7] + [10 * US[7]], times(1.005, US[:7]) + [10 * US[7]]):
            found = self.compared(side("base", cells), side("cand", {name: slow for name in cells}))
            ratios = [verdict.evidence.ratio for verdict in found.verdicts]
            [mean] = found.patterns
            self.assertTrue(min(ratios) * (1 - 1e-9) <= mean.ratio <= max(ratios) * (1 + 1e-9) < 1.02, mean)

    def test_its_interval_is_that_of_the_cell_where_there_is_one(self) -> None:
        found = self.compared(side("base", {CELL: US}), side("cand", {CELL: SLOWER}))
        evidence, [mean] = found.verdicts[0].evidence, found.patterns
        for one, other in zip((mean.ratio, mean.low, mean.high), (evidence.ratio, evidence.low, evidence.high)):
            self.assertAlmostEqual(one, other)

    def test_cells_of_other_launches_are_added(self) -> None:
        """Two worlds, each in launches of its own: the interval is that of the sums, not as wide as that of one."""
        names = [f"{CELL}/ranks={ranks}" for ranks in (2, 4)]
        lines = [[line for name in names for line in side(f"{which}{name[-1]}", {name: values})] for which, values in (("base", US), ("cand", US[::-1]))]
        found = self.compared(*lines)
        self.assertEqual((found.patterns[0].cells, [verdict.baseline_launches for verdict in found.verdicts]), (2, [8, 8]))
        alone = self.compared(*([line for line in side(which, {names[0]: values})] for which, values in (("base", US), ("cand", US[::-1]))))
        self.assertAlmostEqual(found.patterns[0].high, alone.patterns[0].high)  # the same numbers in both worlds: sums are twice as large

    def test_the_ten_worst_are_the_largest_ratios(self) -> None:
        cells = {f"{CELL}/x={index}": US for index in range(12)}
        candidate = {f"{CELL}/x={index}": times(1 + index / 100) for index in range(12)}
        worst = self.compared(side("base", cells), side("cand", candidate)).worst
        self.assertEqual([verdict.cell.id[-4:].strip("/x=") for verdict in worst], [str(index) for index in range(11, 1, -1)])


if __name__ == "__main__":
    unittest.main()
