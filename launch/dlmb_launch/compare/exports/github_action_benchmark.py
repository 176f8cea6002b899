# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays for benchmark-action/github-action-benchmark. A file has one direction there, so there are two:
NAME.smaller.json (customSmallerIsBetter, time in us) and NAME.bigger.json (customBiggerIsBetter, bus bandwidth in GB/s). An
empty array is an error there, so it is not written.
"""

from __future__ import annotations

from pathlib import Path

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.exports.history import Point, points
from dlmb_launch.compare.metrics import METRICS
from dlmb_launch.compare.plain_json import decimal, dumps

FILES = (("smaller", METRICS["time"], "us", 1e3), ("bigger", METRICS["busbw"], "GB/s", 1.0))  # unit, and how much of ours it is


def entry(point: Point, unit: str, scale: float) -> dict[str, object]:
    found: dict[str, object] = {"name": point.cell.id, "unit": unit, "value": point.value / scale}
    if point.low is not None and point.high is not None:
        found["range"] = f"{decimal(point.low / scale)} - {decimal(point.high / scale)}"
    found["extra"] = f"median over {point.launches} launches"
    return found


def write(candidate: Campaign, path: Path) -> None:
    base = path.with_suffix("") if path.suffix == ".json" else path
    for direction, metric, unit, scale in FILES:
        entries = [entry(point, unit, scale) for point in points(candidate, metric)]
        if entries:
            base.with_name(f"{base.name}.{direction}.json").write_text(dumps(entries), encoding="utf-8")
