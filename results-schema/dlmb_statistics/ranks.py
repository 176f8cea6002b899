# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests and intervals by ranks, for many cells at once: arrays have one row per cell and one column per launch.

Two independent samples: the one-sided Mann-Whitney test and the Hodges-Lehmann estimate of the shift between them with its exact interval.
Pairs: Wilcoxon's signed-rank test and its estimate; differences of zero are left out, as Wilcoxon did. SciPy's exact tests know no ties, and
times of a coarse clock have many, so here choices are counted: given the pooled values, every choice of which k of them are the candidate's
is equally likely without an effect (of pairs, every choice of signs), and the p value is the share of choices whose rank sum is at least
(at most) the observed one. Ties have midranks; doubled they are integers, so that choices can be counted by rank sum (Streitberg and Röhmel
1986, the shift algorithm). Intervals take the distribution without ties.

Which of many cells are significant follows Benjamini and Hochberg (1995); scipy.stats.false_discovery_control does the same from SciPy
1.11 on, and Debian 12 has 1.10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

CONFIDENCE = 0.95
EXACT_UP_TO = 20  # launches per side; above, the normal approximation, of the test SciPy's with tie correction
ENOUGH_PAIRS = 12  # the smallest p value of pairs is 2^-pairs
FALSE_DISCOVERIES = 0.05  # expected share of false ones among those found
CELLS_AT_A_TIME = 4096
DIFFERENCES_AT_A_TIME = 4_000_000


def doubled_midranks(values: np.ndarray) -> np.ndarray:
    """Per row: twice the midrank is (values below) + (values not above) + 1."""
    ranks = np.empty(values.shape, dtype=np.int64)
    for first in range(0, len(values), CELLS_AT_A_TIME):
        some = values[first : first + CELLS_AT_A_TIME]
        mine, other = some[:, :, None], some[:, None, :]
        ranks[first : first + CELLS_AT_A_TIME] = (other < mine).sum(axis=2) + (other <= mine).sum(axis=2) + 1
    return ranks


def subsets_by_sum(items: tuple[int, ...], size: int) -> np.ndarray:
    """How many subsets of that size have each sum; index: the sum. Exact below 2^53 subsets."""
    ordered = sorted(items)
    counts = np.zeros((size + 1, sum(ordered[-size:]) + 1))  # by members, by sum
    counts[0, 0] = 1
    for seen, item in enumerate(ordered, 1):
        largest = sum(ordered[max(0, seen - size) : seen])
        fewest = max(1, size - (len(ordered) - seen))  # subsets that are smaller now stay too small
        counts[fewest:, item : largest + 1] += counts[fewest - 1 : -1, : largest + 1 - item]
    return counts[size]


@lru_cache(maxsize=1024)
def shares(items: tuple[int, ...], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of subsets with at least, and with at most, each sum."""
    counts = subsets_by_sum(items, size)
    return np.cumsum(counts[::-1])[::-1] / counts.sum(), np.cumsum(counts) / counts.sum()


def exact_p_values(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = candidate.shape[1]
    ranks = doubled_midranks(np.hstack([baseline, candidate]))
    observed = ranks[:, -size:].sum(axis=1)
    larger, smaller = np.empty(len(ranks)), np.empty(len(ranks))
    patterns, pattern_of = np.unique(np.sort(ranks, axis=1), axis=0, return_inverse=True)
    order = np.argsort(pattern_of, kind="stable")
    bounds = np.searchsorted(pattern_of[order], np.arange(len(patterns) + 1))
    for index, pattern in enumerate(patterns):
        cells = order[bounds[index] : bounds[index + 1]]
        at_least, at_most = shares(tuple(pattern.tolist()), size)
        larger[cells], smaller[cells] = at_least[observed[cells]], at_most[observed[cells]]
    return larger, smaller


def approximate_p_values(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.stats import mannwhitneyu  # a second to import, and rarely needed

    with np.errstate(invalid="ignore"):  # all values equal
        both = [
            mannwhitneyu(candidate, baseline, alternative=side, method="asymptotic", axis=1).pvalue
            for side in ("greater", "less")
        ]
    larger, smaller = (np.where(np.isnan(p), 1.0, p) for p in both)
    return larger, smaller


def rank_sum(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per cell: p that the candidate is larger, p that it is smaller."""
    if max(baseline.shape[1], candidate.shape[1]) <= EXACT_UP_TO:
        return exact_p_values(baseline, candidate)
    return approximate_p_values(baseline, candidate)


def smallest_rank(counts: np.ndarray) -> int:
    """The largest c with P(statistic <= c - 1) <= (1 - CONFIDENCE) / 2: the c-th difference from either end bounds the
    interval. 0 where there are too few values for one."""
    below = np.cumsum(counts) / counts.sum()
    return int(np.searchsorted(below, (1 - CONFIDENCE) / 2, side="right"))


def pairs_won(baseline_size: int, candidate_size: int) -> np.ndarray:
    """How many orders of the launches have each number of pairs, one launch of each side, in which the candidate's is the larger one: the
    Mann-Whitney statistic, which is the rank sum less its smallest value."""
    ranks = tuple(range(1, baseline_size + candidate_size + 1))
    return subsets_by_sum(ranks, candidate_size)[candidate_size * (candidate_size + 1) // 2 :]


@lru_cache(maxsize=None)
def interval_rank(baseline_size: int, candidate_size: int) -> int:
    if max(baseline_size, candidate_size) > EXACT_UP_TO:
        pairs, launches = baseline_size * candidate_size, baseline_size + candidate_size
        return max(0, int(pairs / 2 + NormalDist().inv_cdf((1 - CONFIDENCE) / 2) * math.sqrt(pairs * (launches + 1) / 12) + 0.5))  # continuity corrected
    return smallest_rank(pairs_won(baseline_size, candidate_size))


def bounds(differences: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median of each row and the rank-th value from both ends; an interval without end where rank is 0."""
    differences.sort(axis=1)
    middle = np.median(differences, axis=1)
    if rank == 0:
        return middle, np.full_like(middle, -np.inf), np.full_like(middle, np.inf)
    return middle, differences[:, rank - 1].copy(), differences[:, -rank].copy()


def estimates(cells: int, of_cell: int, rank: int, differences: Callable[[slice], np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`bounds` of all cells, some at a time. differences: one row per cell of a slice, `of_cell` numbers each."""
    step = max(1, DIFFERENCES_AT_A_TIME // of_cell)
    parts = [bounds(differences(slice(first, first + step)), rank) for first in range(0, cells, step)]
    middle, low, high = (np.concatenate(each) for each in zip(*parts))
    return middle, low, high


def shift(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per cell: median of all differences candidate - baseline, and the 95 % interval."""

    def differences(some: slice) -> np.ndarray:
        return (candidate[some, :, None] - baseline[some, None, :]).reshape(-1, of_cell)

    of_cell = baseline.shape[1] * candidate.shape[1]
    return estimates(len(baseline), of_cell, interval_rank(baseline.shape[1], candidate.shape[1]), differences)


@lru_cache(maxsize=1024)
def sign_choices_by_sum(ranks: tuple[int, ...]) -> np.ndarray:
    """Share of the choices of signs with each sum of positive ranks; index: the sum."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1
    for rank in ranks:
        chances[rank:] += chances[: len(chances) - rank].copy()
        chances /= 2
    return chances


def signed_rank(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per cell: p that the differences tend to be above zero, p that below."""
    larger, smaller = np.ones(len(differences)), np.ones(len(differences))
    for cell, row in enumerate(differences):
        row = row[row != 0]
        if len(row) == 0:
            continue
        ranks = doubled_midranks(np.abs(row)[None, :])[0]
        chances = sign_choices_by_sum(tuple(np.sort(ranks).tolist()))
        observed = int(ranks[row > 0].sum())
        larger[cell], smaller[cell] = chances[observed:].sum(), chances[: observed + 1].sum()
    return larger, smaller


def paired_shift(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per cell: median of the averages of every two differences, itself included, and the 95 % interval."""
    pairs = differences.shape[1]
    rank = smallest_rank(sign_choices_by_sum(tuple(range(1, pairs + 1))))
    one, other = np.triu_indices(pairs)
    return estimates(len(differences), len(one), rank, lambda some: (differences[some, one] + differences[some, other]) / 2)


def median_interval(values: np.ndarray) -> tuple[float | None, float | None]:
    """Bounds that hold the median with 95 %: ranks by the binomial distribution with chance one half."""
    counts = np.ones(1)
    for _ in values:
        counts = np.convolve(counts, [0.5, 0.5])  # chances: counts of choices overflow
    rank = smallest_rank(counts)
    ordered = np.sort(values)
    return (float(ordered[rank - 1]), float(ordered[-rank])) if rank else (None, None)


def significant(p: np.ndarray) -> np.ndarray:
    """Those with p at most the largest p(i) <= i / m * FALSE_DISCOVERIES, i counted from 1 in ascending order."""
    ascending = np.sort(p)
    under = ascending <= FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / len(p)
    return p <= ascending[np.flatnonzero(under)[-1]] if under.any() else np.zeros(len(p), dtype=bool)
