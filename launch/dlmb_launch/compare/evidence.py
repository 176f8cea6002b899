# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind verdicts, for all cells of one number of launches per side at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlmb_launch.compare import margins
from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.statistics import rank_sum, signed_rank
from dlmb_launch.compare.verdict import Evidence

SMALLEST = 1e-12  # stands for a value of zero, which has no logarithm


@dataclass
class EvidenceTable:
    """One entry per cell in every array; the names are those of Evidence."""

    columns: dict[str, np.ndarray]
    below_floor: np.ndarray
    test: str

    def __len__(self) -> int:
        return len(self.below_floor)

    def row(self, index: int) -> Evidence:
        values = {name: float(column[index]) for name, column in self.columns.items()}
        optional = {name: None if np.isnan(values[name]) else values[name] for name in ("p99_ratio", "max_ratio")}
        return Evidence(**{**values, **optional}, test=self.test)


def worsening(values: np.ndarray, metric: Metric) -> np.ndarray:
    """Logarithms that grow as the metric gets worse."""
    logarithms = np.log(np.maximum(values, SMALLEST))
    return logarithms if metric.worse_is_larger else -logarithms


@dataclass(frozen=True)
class Side:
    """Cells of one side that have the same number of launches."""

    campaign: Campaign
    rows: np.ndarray
    launches: int

    def table(self, name: str) -> np.ndarray:
        return self.campaign.table(self.rows, self.launches, name)

    def median(self, name: str) -> np.ndarray:
        return np.median(self.table(name), axis=1)


def evidence(baseline: Side, candidate: Side, metric: Metric, given_margin: float | None, paired: bool) -> EvidenceTable:
    """paired: the launches of both sides are pairs, in order of time."""
    one, other = (worsening(side.table(metric.name), metric) for side in (baseline, candidate))
    if paired and baseline.launches == candidate.launches >= signed_rank.ENOUGH_PAIRS:
        p_worse, p_better = signed_rank.p_values(other - one)
        middle, low, high = signed_rank.estimate(other - one)
        test = "signed-rank"
    else:
        p_worse, p_better = rank_sum.p_values(one, other)
        middle, low, high = rank_sum.estimate(one, other)
        test = "rank-sum"
    sample_ns = np.minimum(baseline.median("sample_ns"), candidate.median("sample_ns"))
    clock_step_ns = np.hstack([baseline.table("clock_step_ns"), candidate.table("clock_step_ns")]).max(axis=1)
    below_floor = np.maximum(baseline.median("below_floor"), candidate.median("below_floor")) > 0
    own_difference = np.median(np.abs(np.hstack([baseline.table("odd_to_even"), candidate.table("odd_to_even")]) - 1), axis=1)
    isolated = np.array([baseline.campaign.cells[row].mode == "isolated" for row in baseline.rows], dtype=bool)
    columns = {
        "ratio": np.exp(middle),
        "low": np.exp(low),
        "high": np.exp(high),
        "ratio_of_medians": np.exp(np.median(other, axis=1) - np.median(one, axis=1)),
        "margin": margins.margins(
            isolated, baseline.median("median_ns"), sample_ns, own_difference, clock_step_ns, given_margin
        ),
        "p_worse": p_worse,
        "p_better": p_better,
        "baseline": baseline.median(metric.name),
        "candidate": candidate.median(metric.name),
        "p99_ratio": candidate.median("p99_ns") / baseline.median("p99_ns"),
        "max_ratio": candidate.median("max_ns") / baseline.median("max_ns"),
    }
    return EvidenceTable(columns, below_floor, test)
