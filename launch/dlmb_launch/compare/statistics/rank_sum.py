# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two independent samples: the one-sided Mann-Whitney test, exact with ties, and the Hodges-Lehmann estimate of the shift between them
with its exact interval.

The test is exact in this sense: given the pooled values, every choice of which k of them are the candidate's is equally likely without
an effect. The p value is the share of choices whose rank sum is at least (at most) the observed one. Ties have midranks; doubled they
are integers, so that choices can be counted by rank sum (Streitberg and Röhmel 1986, the shift algorithm). The interval takes the
distribution without ties.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

EXACT_UP_TO = 20  # launches per side; above, the normal approximation with tie correction
CELLS_AT_A_TIME = 4096

CONFIDENCE = 0.95
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


def exact(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def approximate(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.stats import mannwhitneyu  # a second to import, and rarely needed

    with np.errstate(invalid="ignore"):  # all values equal
        both = [
            mannwhitneyu(candidate, baseline, alternative=side, method="asymptotic", axis=1).pvalue
            for side in ("greater", "less")
        ]
    larger, smaller = (np.where(np.isnan(p), 1.0, p) for p in both)
    return larger, smaller


def p_values(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per cell: p that the candidate is larger, p that it is smaller."""
    if max(baseline.shape[1], candidate.shape[1]) <= EXACT_UP_TO:
        return exact(baseline, candidate)
    return approximate(baseline, candidate)


def smallest_rank(counts: np.ndarray) -> int:
    """The largest c with P(statistic <= c - 1) <= (1 - CONFIDENCE) / 2: the c-th difference from either end bounds the
    interval. 0 where there are too few values for one."""
    below = np.cumsum(counts) / counts.sum()
    return int(np.searchsorted(below, (1 - CONFIDENCE) / 2, side="right"))


@lru_cache(maxsize=None)
def interval_rank(baseline_size: int, candidate_size: int) -> int:
    """From the distribution of the Mann-Whitney statistic: rank sum less its smallest value."""
    ranks = tuple(range(1, baseline_size + candidate_size + 1))
    return smallest_rank(subsets_by_sum(ranks, candidate_size)[candidate_size * (candidate_size + 1) // 2 :])


def bounds(differences: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median of each row and the rank-th value from both ends; an interval without end where rank is 0."""
    differences.sort(axis=1)
    middle = np.median(differences, axis=1)
    if rank == 0:
        return middle, np.full_like(middle, -np.inf), np.full_like(middle, np.inf)
    return middle, differences[:, rank - 1].copy(), differences[:, -rank].copy()


def all_differences(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    return (candidate[:, :, None] - baseline[:, None, :]).reshape(len(baseline), -1)


def estimate(baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per cell: median of all differences candidate - baseline, and the 95 % interval."""
    rank = interval_rank(baseline.shape[1], candidate.shape[1])
    step = max(1, DIFFERENCES_AT_A_TIME // (baseline.shape[1] * candidate.shape[1]))
    parts = [
        bounds(all_differences(baseline[first : first + step], candidate[first : first + step]), rank)
        for first in range(0, len(baseline), step)
    ]
    middle, low, high = (np.concatenate(each) for each in zip(*parts))
    return middle, low, high
