# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files for sites that keep histories. They get the median over launches of each cell, and no verdict.

Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format): latency in ns and bus-bandwidth in GB/s per cell. A name that
ends in -bencher-ignore raises no alerts: cells that are too short for the clock.

Arrays for benchmark-action/github-action-benchmark. A file has one direction there, so there are two: NAME.smaller.json
(customSmallerIsBetter, time in us) and NAME.bigger.json (customBiggerIsBetter, bus bandwidth in GB/s). An empty array is an error
there, so it is not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlmb_launch.compare.campaign import METRICS, Campaign, Cell, Metric
from dlmb_launch.compare.document import decimal, dumps
from dlmb_results.files import write_output
from dlmb_statistics.ranks import median_interval

MEASURES = {"latency": METRICS["time"], "bus-bandwidth": METRICS["busbw"]}
DIRECTIONS = (("smaller", METRICS["time"], "us", 1e3), ("bigger", METRICS["busbw"], "GB/s", 1.0))  # unit, and how many of our units it is


@dataclass(frozen=True)
class Point:
    cell: Cell
    value: float  # median over launches, in the metric's unit
    low: float | None  # 95 % interval of the median by order statistics; None with too few launches
    high: float | None
    launches: int
    below_floor: bool


def points(campaign: Campaign, metric: Metric) -> Iterator[Point]:
    """Cells that have a number, in the order of their ids."""
    for cell in sorted(campaign.cells, key=lambda cell: cell.id):
        row = campaign.row_of[cell.id]
        values = campaign.values(row, metric.name)
        if len(values) and not np.isnan(values).any():
            below_floor = bool(np.median(campaign.values(row, "below_floor")) > 0)
            low, high = median_interval(values)
            yield Point(cell, float(np.median(values)), low, high, len(values), below_floor)


def bencher_name(point: Point) -> str:
    return point.cell.name + ("-bencher-ignore" if point.below_floor else "")


def bencher_text(candidate: Campaign) -> str:
    benchmarks: dict[str, dict[str, object]] = {}
    for measure, metric in MEASURES.items():
        for point in points(candidate, metric):
            values = {"value": point.value, "lower_value": point.low, "upper_value": point.high}
            benchmarks.setdefault(bencher_name(point), {})[measure] = values
    return dumps(benchmarks)


def benchmark_entry(point: Point, unit: str, scale: float) -> dict[str, object]:
    found: dict[str, object] = {"name": point.cell.name, "unit": unit, "value": point.value / scale}
    if point.low is not None and point.high is not None:
        found["range"] = f"{decimal(point.low / scale)} - {decimal(point.high / scale)}"
    found["extra"] = f"median over {point.launches} launches"
    return found


def write_github_action_benchmark(candidate: Campaign, path: Path) -> None:
    base = path.with_suffix("") if path.suffix == ".json" else path
    for direction, metric, unit, scale in DIRECTIONS:
        entries = [benchmark_entry(point, unit, scale) for point in points(candidate, metric)]
        if entries:
            write_output(base.with_name(f"{base.name}.{direction}.json"), dumps(entries))
