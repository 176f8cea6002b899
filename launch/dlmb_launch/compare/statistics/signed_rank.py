# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Wilcoxon's signed-rank test on pairs of launches, exact with ties, and the estimate of the shift that belongs to it.

Given the sizes of the differences every choice of signs is equally likely without an effect; choices are counted by the sum
of the positive ranks as in rank_sum.py. Differences of zero are left out, as Wilcoxon did.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dlmb_launch.compare.statistics.rank_sum import DIFFERENCES_AT_A_TIME, bounds, doubled_midranks, smallest_rank

ENOUGH_PAIRS = 12  # the smallest p value is 2^-pairs


@lru_cache(maxsize=1024)
def sign_choices_by_sum(ranks: tuple[int, ...]) -> np.ndarray:
    """Share of the choices of signs with each sum of positive ranks; index: the sum."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1
    for rank in ranks:
        chances[rank:] += chances[: len(chances) - rank].copy()
        chances /= 2
    return chances


def p_values(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def estimate(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per cell: median of the averages of every two differences, itself included, and the 95 % interval."""
    pairs = differences.shape[1]
    rank = smallest_rank(sign_choices_by_sum(tuple(range(1, pairs + 1))))
    one, other = np.triu_indices(pairs)
    step = max(1, DIFFERENCES_AT_A_TIME // len(one))
    parts = [
        bounds((differences[first : first + step, one] + differences[first : first + step, other]) / 2, rank)
        for first in range(0, len(differences), step)
    ]
    middle, low, high = (np.concatenate(each) for each in zip(*parts))
    return middle, low, high
