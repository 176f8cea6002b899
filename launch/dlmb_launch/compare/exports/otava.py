# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""History for Apache Otava: CSV files, and beside them the YAML that names them to it.

One row per campaign in order of time, one file per pattern, backend, memory and environment. Otava neither sorts rows nor takes
an empty field, so a cell that some campaign lacks has a file of its own. Records hold no branch, so there is no such column.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Launch, Metric
from dlmb_results.files import write_output

ATTRIBUTES = ("commit", "version")


@dataclass
class Series:
    """Cells that share a file."""

    rows: dict[str, Launch] = field(default_factory=dict)  # campaigns by id, with their first launch
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # name of a cell, campaign: one per launch

    def add(self, cell: str, launch: Launch, value: float) -> None:
        first = self.rows.get(launch.campaign)
        if first is None or launch.time < first.time:
            self.rows[launch.campaign] = launch
        self.values.setdefault(cell, {}).setdefault(launch.campaign, []).append(value)


def all_series(campaigns: Iterable[Campaign], metric: Metric) -> dict[str, Series]:
    """By name of the test."""
    found: dict[str, Series] = {}
    for campaign in campaigns:
        for row, column, value in zip(campaign.rows.tolist(), campaign.columns.tolist(), campaign.numbers[metric.name].tolist()):
            cell, launch = campaign.cells[row], campaign.launches[column]
            name = f"dlmb.{cell.pattern}.{cell.backend}.{cell.memory}.{launch.env_key}"
            found.setdefault(name, Series()).add(cell.name, launch, value)
    return found


def without_gaps(name: str, series: Series) -> dict[str, list[str]]:
    """Cells by name of their test."""
    tests: dict[str, list[str]] = {}
    for cell, campaigns in sorted(series.values.items()):
        whole = len(campaigns) == len(series.rows)
        tests.setdefault(name if whole else f"{name}.{hashlib.sha256(cell.encode()).hexdigest()[:8]}", []).append(cell)
    return tests


def write_csv(path: Path, series: Series, cells: list[str]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *ATTRIBUTES, *cells])
    for campaign, launch in sorted(series.rows.items(), key=lambda row: row[1].time):
        if campaign in series.values[cells[0]]:
            facts = [launch.facts.get("git_revision", "unknown"), launch.facts.get("version", "unknown")]
            values = [f"{np.median(series.values[cell][campaign]):.3f}" for cell in cells]
            writer.writerow([launch.time.replace("Z", "+00:00"), *facts, *values])
    write_output(path, text.getvalue())


def test_definition(name: str, file: str, cells: list[str], metric: Metric) -> list[str]:
    """A JSON string is a YAML string."""
    direction = -1 if metric.worse_is_larger else 1
    columns = [f"      {json.dumps(cell)}: {{column: {json.dumps(cell)}, direction: {direction}, scale: 1}}" for cell in cells]
    return [
        f"  {name}:",
        "    type: csv",
        f"    file: {json.dumps(file)}",
        "    time_column: time",
        f"    attributes: [{', '.join(ATTRIBUTES)}]",
        "    metrics:",
        *columns,
    ]


def write(campaigns: Iterable[Campaign], metric: Metric, path: Path) -> None:
    lines = ["tests:"]
    for name, series in sorted(all_series(campaigns, metric).items()):
        for test, cells in without_gaps(name, series).items():
            file = path.with_name(f"{test}.csv")
            write_csv(file, series, cells)
            lines += test_definition(test, file.name, cells, metric)
    write_output(path, "\n".join(lines) + "\n")
