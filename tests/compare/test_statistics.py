# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hand-computed values, and agreement with counting every choice."""

from __future__ import annotations

import importlib.util
import itertools
import unittest

import numpy as np

from dlmb_statistics import ranks, robust
from dlmb_statistics.ranks import significant

EIGHT = np.array([[100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]])
SLOWER = np.array([[105, 104, 106, 103, 107, 104.5, 105.5, 103.5]])


def p_larger(baseline: list[float], candidate: list[float]) -> float:
    return float(ranks.rank_sum(np.array([baseline]), np.array([candidate]))[0][0])


def wins(baseline: tuple[float, ...], candidate: tuple[float, ...]) -> float:
    """Mann-Whitney's statistic by its definition: pairs in which the candidate is larger, a tie is half."""
    return sum((b < c) + (b == c) / 2 for b in baseline for c in candidate)


def counted(baseline: tuple[float, ...], candidate: tuple[float, ...]) -> tuple[float, float]:
    """Shares of all choices of candidates with at least, at most, as many wins."""
    pooled = baseline + candidate
    seen = wins(baseline, candidate)
    found = []
    for chosen in itertools.combinations(range(len(pooled)), len(candidate)):
        rest = tuple(pooled[index] for index in range(len(pooled)) if index not in chosen)
        found.append(wins(rest, tuple(pooled[index] for index in chosen)))
    return sum(w >= seen for w in found) / len(found), sum(w <= seen for w in found) / len(found)


class RankSumTest(unittest.TestCase):
    def test_hand_computed_values(self) -> None:
        self.assertAlmostEqual(p_larger([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 1 / 252, 12)
        self.assertAlmostEqual(p_larger([1, 2, 2, 3, 5], [2, 4, 5, 5, 6]), 0.075397, 6)
        self.assertAlmostEqual(p_larger([10.0, 10.1, 10.2, 10.3, 10.4], [10.25, 10.6, 10.7, 10.8, 10.9]), 4 / 252, 12)
        self.assertAlmostEqual(float(ranks.rank_sum(EIGHT, EIGHT + 0.2)[0][0]), 0.36045, 5)
        self.assertAlmostEqual(float(ranks.rank_sum(EIGHT, SLOWER)[0][0]), 7.770e-5, 8)

    def test_smallest_p_value_of_each_number_of_launches(self) -> None:
        for launches, choices in ((5, 252), (7, 3432), (8, 12870), (10, 184756)):
            self.assertAlmostEqual(p_larger(list(range(launches)), list(range(90, 90 + launches))) * choices, 1, 9)

    def test_agrees_with_counting_every_choice_with_random_ties(self) -> None:
        random = np.random.default_rng(7)
        for sizes in itertools.product(range(1, 7), repeat=2):
            for _ in range(4):
                baseline, candidate = (tuple(random.integers(0, 5, size).tolist()) for size in sizes)
                found = ranks.rank_sum(np.array([baseline], dtype=float), np.array([candidate], dtype=float))
                for p, expected in zip(found, counted(baseline, candidate)):
                    self.assertAlmostEqual(float(p[0]), expected, 12, (baseline, candidate))

    def test_cells_are_independent_of_their_neighbours(self) -> None:
        values = np.random.default_rng(1).integers(0, 9, (50, 12)).astype(float)
        together = ranks.rank_sum(values[:, :6], values[:, 6:])[0]
        alone = [ranks.rank_sum(row[None, :6], row[None, 6:])[0][0] for row in values]
        np.testing.assert_array_equal(together, alone)

    def test_equal_values_prove_nothing(self) -> None:
        self.assertEqual(p_larger([3] * 8, [3] * 8), 1)


@unittest.skipIf(importlib.util.find_spec("scipy") is None, "scipy is not installed")
class ManyLaunchesTest(unittest.TestCase):
    def test_the_approximation_is_near_the_exact_test_where_it_takes_over(self) -> None:
        values = np.random.default_rng(3).normal(size=(200, 42)).round(1)
        for exact, approximate in zip(*(test(values[:, :21], values[:, 21:]) for test in (ranks.exact_p_values, ranks.approximate_p_values))):
            np.testing.assert_allclose(approximate, exact, atol=0.005)

    def test_equal_values_prove_nothing(self) -> None:
        self.assertEqual(p_larger([3] * 21, [3] * 21), 1)


class ShiftTest(unittest.TestCase):
    def test_hand_computed_ratios_and_intervals(self) -> None:
        for candidate, expected in ((EIGHT + 0.2, (1.00200, 0.98719, 1.01700)), (SLOWER, (1.04511, 1.02985, 1.06030))):
            found = [float(np.exp(value[0])) for value in ranks.shift(np.log(EIGHT), np.log(candidate))]
            np.testing.assert_allclose(found, expected, atol=6e-6)

    def test_interval_ranks_by_number_of_launches(self) -> None:
        self.assertEqual([ranks.interval_rank(k, k) for k in (5, 7, 8, 10)], [3, 9, 14, 24])

    def test_above_20_launches_the_rank_is_that_of_the_normal_distribution(self) -> None:
        for sizes in ((21, 21), (21, 8), (30, 24), (40, 40)):
            self.assertAlmostEqual(ranks.interval_rank(*sizes), ranks.smallest_rank(ranks.pairs_won(*sizes)), delta=1)
        self.assertEqual(ranks.interval_rank(200, 200), 17734)  # 20000 - 1.96 * sqrt(200 * 200 * 401 / 12) + 0.5

    def test_the_median_of_thousands_has_an_interval(self) -> None:
        low, high = ranks.median_interval(np.arange(1.0, 2001.0))
        self.assertEqual((low, high), (956, 1045))  # 1000 + 0.5 - 1.96 * sqrt(2000) / 2, rounded down

    def test_too_few_values_have_no_interval(self) -> None:
        _, low, high = ranks.shift(np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0, 6.0]]))
        self.assertEqual((low[0], high[0]), (-np.inf, np.inf))


class SignedRankTest(unittest.TestCase):
    def test_agrees_with_counting_every_choice_of_signs_with_random_ties(self) -> None:
        random = np.random.default_rng(5)
        for pairs in range(1, 9):
            differences = random.integers(-4, 5, pairs).astype(float)
            sizes = np.abs(differences[differences != 0])
            midranks = [(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes]
            seen = sum(rank for rank, value in zip(midranks, differences[differences != 0]) if value > 0)
            sums = [sum(itertools.compress(midranks, signs)) for signs in itertools.product((0, 1), repeat=len(midranks))]
            larger, smaller = ranks.signed_rank(differences[None, :])
            self.assertAlmostEqual(float(larger[0]), sum(s >= seen for s in sums) / len(sums), 12)
            self.assertAlmostEqual(float(smaller[0]), sum(s <= seen for s in sums) / len(sums), 12)

    def test_the_smallest_p_value_is_one_over_all_choices(self) -> None:
        self.assertAlmostEqual(float(ranks.signed_rank(np.arange(1.0, 13)[None, :])[0][0]), 2**-12, 15)

    def test_interval_of_15_pairs_starts_at_the_26th_average(self) -> None:
        # 25 is the tabulated critical value of 15 pairs, one-sided .025.
        values = np.arange(15.0)
        averages = sorted((values[i] + values[j]) / 2 for i in range(15) for j in range(i, 15))
        middle, low, high = ranks.paired_shift(values[None, :])
        self.assertEqual((middle[0], low[0], high[0]), (7, averages[25], averages[-26]))

    def test_interval_without_numpy_is_the_same(self) -> None:
        for pairs in (1, 5, 6, 10, 15):
            values = np.random.default_rng(pairs).normal(size=pairs)
            found = robust.over_rounds(values.tolist())
            np.testing.assert_allclose(found[:3], [float(np.exp(value[0])) for value in ranks.paired_shift(values[None, :])])
            self.assertEqual(found.known, pairs > 5)


class FalseDiscoveryTest(unittest.TestCase):
    def test_one_separated_cell_of_100_is_found_with_8_launches_but_not_with_5(self) -> None:
        others = np.linspace(0.2, 1, 99)
        self.assertEqual(significant(np.array([1 / 12870, *others])).tolist(), [True] + [False] * 99)
        self.assertFalse(significant(np.array([1 / 252, *others])).any())

    def test_how_many_cells_a_lone_one_survives(self) -> None:
        for choices, cells in ((252, 12), (3432, 171), (12870, 643), (184756, 9237)):
            for among, found in ((cells, True), (cells + 1, False)):
                self.assertEqual(bool(significant(np.array([1 / choices] + [1.0] * (among - 1)))[0]), found)

    def test_a_large_p_value_is_carried_by_smaller_ones(self) -> None:
        # Benjamini and Hochberg's step up: .049 is under .05 * 3 / 3, so that .04 is found though it is above .05 * 2 / 3.
        self.assertEqual(significant(np.array([0.04, 0.001, 0.049])).tolist(), [True] * 3)


if __name__ == "__main__":
    unittest.main()
