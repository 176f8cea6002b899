# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hodges-Lehmann estimate of the shift between two samples, with its exact interval (distribution without ties)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dlmb_launch.compare.statistics.rank_sum import subsets_by_sum

CONFIDENCE = 0.95
DIFFERENCES_AT_A_TIME = 4_000_000


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
