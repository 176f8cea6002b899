# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind verdicts, for all cells of one number of launches per side at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlmb_launch.compare import margins
from dlmb_launch.compare.arrangement import Arrangement
from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.verdict import ENOUGH_LAUNCHES, ENOUGH_LEFT, Evidence


@dataclass
class EvidenceTable:
    """One entry per cell in every array; the names are those of Evidence."""

    columns: dict[str, np.ndarray]
    below_floor: np.ndarray
    enough: np.ndarray  # whether there are launches enough to decide
    own_difference: np.ndarray  # of odd from even rounds inside launches; no part of a verdict
    baseline: np.ndarray  # one line per cell, one column per launch: logarithms that grow as the metric gets worse
    candidate: np.ndarray
    arrangement: Arrangement

    def __len__(self) -> int:
        return len(self.below_floor)

    def row(self, index: int) -> Evidence:
        values = {name: float(column[index]) for name, column in self.columns.items()}
        optional = {name: None if np.isnan(values[name]) else values[name] for name in ("p99_ratio", "max_ratio")}
        return Evidence(**{**values, **optional}, confidence=self.arrangement.confidence, test=self.arrangement.test)


def worsening(values: np.ndarray, metric: Metric) -> np.ndarray:
    """Logarithms that grow as the metric gets worse."""
    logarithms = np.log(values)
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

    def enough(self) -> np.ndarray:
        measured = self.launches + np.array([self.campaign.left_out[row] for row in self.rows.tolist()], dtype=int)
        return (measured >= ENOUGH_LAUNCHES) & (self.launches >= ENOUGH_LEFT)


def evidence(baseline: Side, candidate: Side, metric: Metric, given_margin: float | None, arrangement: Arrangement) -> EvidenceTable:
    one, other = (worsening(side.table(metric.name), metric) for side in (baseline, candidate))
    middle, low, high, p_worse, p_better = arrangement.compared(one, other)
    sample_ns = np.minimum(baseline.median("sample_ns"), candidate.median("sample_ns"))
    clock_step_ns = np.hstack([baseline.table("clock_step_ns"), candidate.table("clock_step_ns")]).max(axis=1)
    isolated = np.array([baseline.campaign.cells[row].mode == "isolated" for row in baseline.rows], dtype=bool)
    columns = {
        "ratio": np.exp(middle),
        "low": np.exp(low),
        "high": np.exp(high),
        "ratio_of_medians": np.exp(np.median(other, axis=1) - np.median(one, axis=1)),
        "margin": margins.margins(isolated, baseline.median("median_ns"), given_margin),
        "resolution": margins.resolutions(sample_ns, clock_step_ns),
        "p_worse": p_worse,
        "p_better": p_better,
        "baseline": baseline.median(metric.name),
        "candidate": candidate.median(metric.name),
        "p99_ratio": candidate.median("p99_ns") / baseline.median("p99_ns"),
        "max_ratio": candidate.median("max_ns") / baseline.median("max_ns"),
    }
    return EvidenceTable(
        columns,
        below_floor=np.maximum(baseline.median("below_floor"), candidate.median("below_floor")) > 0,
        enough=baseline.enough() & candidate.enough(),
        own_difference=np.median(np.abs(np.hstack([baseline.table("odd_to_even"), candidate.table("odd_to_even")]) - 1), axis=1),
        baseline=one,
        candidate=other,
        arrangement=arrangement,
    )
