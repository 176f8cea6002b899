# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Per pattern: by how much the candidate is worse in geometric mean, with an interval by bootstrap over launches.

A launch moves all its cells together, so what is drawn again is whole launches. The ratio is the geometric mean over cells of
their ratio of geometric means over launches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.evidence import worsening
from dlmb_launch.compare.metrics import Metric

RESAMPLES = 2000
SEED = 1


@dataclass(frozen=True)
class PatternSummary:
    pattern: str
    cells: int
    ratio: float  # geometric mean; above 1 is worse
    low: float  # 95 % interval
    high: float


def summarise(rows: list[tuple[int, int]], baseline: Campaign, candidate: Campaign, metric: Metric) -> list[PatternSummary]:
    by_pattern: dict[str, list[tuple[int, int]]] = {}
    for pair in rows:
        by_pattern.setdefault(baseline.cells[pair[0]].pattern, []).append(pair)
    return [summary(pattern, np.array(pairs), baseline, candidate, metric) for pattern, pairs in sorted(by_pattern.items())]


def summary(pattern: str, pairs: np.ndarray, baseline: Campaign, candidate: Campaign, metric: Metric) -> PatternSummary:
    random = np.random.default_rng(SEED)
    one, other = (
        mean_levels(campaign, rows, metric, random) for campaign, rows in ((baseline, pairs[:, 0]), (candidate, pairs[:, 1]))
    )
    ratios = np.exp(other - one)
    low, high = np.quantile(ratios[1:], [0.025, 0.975])
    return PatternSummary(pattern, len(pairs), float(ratios[0]), float(low), float(high))


def mean_levels(campaign: Campaign, rows: np.ndarray, metric: Metric, random: np.random.Generator) -> np.ndarray:
    """Mean over the cells of their mean logarithm over launches: first as measured, then for every resample of the launches. A
    cell that is in none of the launches drawn keeps its measured mean."""
    numbers = np.flatnonzero(np.isin(campaign.rows, rows))
    used, column = np.unique(campaign.columns[numbers], return_inverse=True)
    _, row = np.unique(campaign.rows[numbers], return_inverse=True)
    weights = np.vstack([np.ones(len(used)), random.multinomial(len(used), np.full(len(used), 1 / len(used)), RESAMPLES)]).T
    values, present = np.zeros((len(rows), len(used))), np.zeros((len(rows), len(used)), dtype=bool)
    values[row, column] = worsening(campaign.numbers[metric.name][numbers], metric)
    present[row, column] = True
    # Cells that are in the same launches are weighted alike, so their sum is.
    launches, group = np.unique(present, axis=0, return_inverse=True)
    sums = np.column_stack([np.bincount(group, column, minlength=len(launches)) for column in values.T])
    drawn = launches @ weights
    means = sums @ weights / np.maximum(drawn, 1)
    return np.where(drawn > 0, means, means[:, :1]).sum(axis=0) / len(rows)
