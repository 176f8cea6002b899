# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format): latency in ns and bus-bandwidth in GB/s per cell.

A name that ends in -bencher-ignore raises no alerts: cells that are too short for the clock.
"""

from __future__ import annotations

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.exports.history import Point, points
from dlmb_launch.compare.metrics import METRICS
from dlmb_launch.compare.plain_json import dumps

MEASURES = {"latency": METRICS["time"], "bus-bandwidth": METRICS["busbw"]}


def name(point: Point) -> str:
    return point.cell.id + ("-bencher-ignore" if point.below_floor else "")


def text(candidate: Campaign) -> str:
    benchmarks: dict[str, dict[str, object]] = {}
    for measure, metric in MEASURES.items():
        for point in points(candidate, metric):
            values = {"value": point.value, "lower_value": point.low, "upper_value": point.high}
            benchmarks.setdefault(name(point), {})[measure] = values
    return dumps(benchmarks)
