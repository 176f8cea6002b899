# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What of a cell is compared: one number per launch, and which direction is worse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    worse_is_larger: bool
    definition: str


def median_of_rounds(cell: dict[str, Any]) -> float:
    """The median of samples where a cell has no rounds."""
    value = cell["rounds"]["median_of_rounds_ns"]
    return float(cell["time_ns"]["median"] if value is None else value)


def bus_bandwidth(cell: dict[str, Any]) -> float | None:
    value = (cell["bandwidth"] or {"busbw_GBps": None})["busbw_GBps"]
    return None if value is None else float(value)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("time", "ns", True, "each launch counts as one number: the median of its rounds"),
        Metric("busbw", "GB/s", False, "each launch counts as one number: the bus bandwidth at its median time"),
    )
}


def odd_to_even(cell: dict[str, Any]) -> float:
    """Median of the odd rounds over that of the even ones: how much a launch differs from itself. 1 below 2 rounds."""
    return cell["rounds"]["aa_ratio"] or 1.0
