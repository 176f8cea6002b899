# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What sites that keep histories are given of a cell: the median over launches, no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.statistics.shift import smallest_rank


@dataclass(frozen=True)
class Point:
    cell: Cell
    value: float  # median over launches, in the metric's unit
    low: float | None  # 95 % interval of the median by order statistics; None with too few launches
    high: float | None
    launches: int
    below_floor: bool


def interval(values: np.ndarray) -> tuple[float | None, float | None]:
    """Bounds that hold the median with 95 %: ranks by the binomial distribution with chance one half."""
    counts = np.ones(1)
    for _ in values:
        counts = np.convolve(counts, [1.0, 1.0])
    rank = smallest_rank(counts)
    ordered = np.sort(values)
    return (float(ordered[rank - 1]), float(ordered[-rank])) if rank else (None, None)


def points(campaign: Campaign, metric: Metric) -> Iterator[Point]:
    """Cells that have a number, in the order of their ids."""
    for cell in sorted(campaign.cells, key=lambda cell: cell.id):
        row = campaign.row_of[cell.id]
        mine = slice(campaign.starts[row], campaign.starts[row + 1])
        values = campaign.numbers[metric.name][mine]
        if len(values) and not np.isnan(values).any():
            below_floor = bool(np.median(campaign.numbers["below_floor"][mine]) > 0)
            low, high = interval(values)
            yield Point(cell, float(np.median(values)), low, high, len(values), below_floor)
