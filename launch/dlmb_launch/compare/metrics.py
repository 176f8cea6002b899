# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What of a cell is compared: one number per launch, and which direction is worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    worse_is_larger: bool
    definition: str


def median(values: Sequence[float]) -> float:
    """Mean of the two middle values where their number is even. Called for every line, so without the checks of the module
    statistics."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_of_rounds(cell: dict[str, Any]) -> float:
    """As the record says; formats before 1.2 do not. The median of samples where a cell holds no rounds."""
    rounds = cell.get("rounds") or {}
    value = rounds.get("median_of_rounds_ns")
    if value is None:
        medians = rounds.get("medians_ns")
        value = median(medians) if medians else cell["time_ns"]["median"]
    return float(value)


def bus_bandwidth(cell: dict[str, Any]) -> float | None:
    value = (cell.get("bandwidth") or {}).get("busbw_GBps")
    return None if value is None else float(value)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("time", "ns", True, "median over the rounds of a launch of their median time of an iteration"),
        Metric("busbw", "GB/s", False, "bus bandwidth at the median time of a launch"),
    )
}


def odd_to_even(cell: dict[str, Any]) -> float:
    """Median of the odd rounds over that of the even ones: how much a launch differs from itself. 1 below 2 rounds. As the record
    says; formats before 1.2 do not."""
    rounds = cell.get("rounds") or {}
    if "aa_ratio" in rounds:
        return rounds["aa_ratio"] or 1.0
    medians = rounds.get("medians_ns") or []
    even = median(medians[1::2]) if len(medians) > 1 else 0
    return median(medians[::2]) / even if even else 1.0
