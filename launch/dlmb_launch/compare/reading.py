# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From result files to a campaign, line by line."""

from __future__ import annotations

from array import array
from collections.abc import Set
from pathlib import Path
from typing import Any

import numpy as np
from dlmb_results.lines import ResultError, read_lines, result_files, warnings_of

from dlmb_launch.compare.campaign import NUMBERS, Campaign, Cell, Launch
from dlmb_launch.compare.metrics import METRICS, Metric, odd_to_even


class Reader:
    def __init__(self, name: str, metric: Metric) -> None:
        self.campaign = Campaign(name)
        self.metric = metric
        self.column_of: dict[str, int] = {}
        self.file_of: dict[str, Path] = {}
        self.unmeasured: set[int] = set()  # rows known only from visits that are not ok
        self.passed_over: set[str] = set()  # launches of other environments than those asked for
        self.rows, self.columns = array("q"), array("q")
        self.numbers = {name: array("d") for name in NUMBERS}

    def read(self, path: Path, campaign: str | None = None, environments: Set[str] | None = None) -> None:
        """campaign: what its launches belong to, whatever they say. environments: only launches of these env_keys."""
        for number, line in read_lines(path, self.campaign.remarks):
            try:
                if line["kind"] == "launch":
                    self.launch(line, path, campaign, environments)
                elif line["kind"] == "cell" and line["launch_id"] not in self.passed_over:
                    self.cell(line)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ResultError(f"{path}:{number}: not as results-schema/ says: {type(error).__name__} {error}") from error

    def launch(self, line: dict[str, Any], path: Path, campaign: str | None, environments: Set[str] | None) -> None:
        identifier = line["launch_id"]
        environment = line.get("environment") or {}
        if environments is not None and environment.get("env_key", "") not in environments:
            self.passed_over.add(identifier)
            return
        if identifier in self.column_of:
            raise ResultError(f"launch {identifier} is in {self.file_of[identifier]} and in {path}; it would count twice")
        self.column_of[identifier] = len(self.campaign.launches)
        self.file_of[identifier] = path
        self.campaign.launches.append(
            Launch(
                id=identifier,
                campaign=campaign or line.get("campaign_id", identifier),
                time=line["time"],
                env_key=environment.get("env_key", ""),
                settings={**(environment.get("identity") or {}), **(environment.get("variables") or {})},
                facts=environment.get("informational") or {},
                test_double=bool(line.get("test_double")),
            )
        )
        self.campaign.warnings.extend(text for text in warnings_of(line) if text not in self.campaign.warnings)

    def cell(self, line: dict[str, Any]) -> None:
        campaign, traffic = self.campaign, line.get("traffic") or {}
        cell = Cell(
            id=line["cell_id"],
            pattern=line["pattern"],
            backend=line["backend"],
            memory=line["memory"],
            mode=line["mode"],
            definition=line.get("definition", ""),
            payload_bytes=traffic.get("payload_bytes", 0),
            wire_bytes=traffic.get("wire_bytes", 0),
            shared_gpu=bool(line.get("shared_gpu")),
            validated=(line.get("validation") or {}).get("verdict") != "off",
            slots=line.get("cache", {}).get("slots", 1),
            fill=line.get("fill", "random"),
        )
        row = campaign.row_of.setdefault(cell.id, len(campaign.cells))
        if row == len(campaign.cells):
            campaign.cells.append(cell)
            self.unmeasured.add(row)
        if line["status"] != "ok" or self.metric.read(line) is None:
            reason = line.get("reason") or f"has no {self.metric.name}"
            status = line["status"] if line["status"] != "ok" else "skipped"
            campaign.faults.setdefault(row, []).append((status, reason))
            return
        if row in self.unmeasured:
            self.unmeasured.remove(row)
            campaign.cells[row] = cell
        elif cell != campaign.cells[row]:
            campaign.changed[row] = campaign.cells[row].differs_from(cell)
        self.rows.append(row)
        self.columns.append(self.column_of[line["launch_id"]])
        self.keep(line)

    def keep(self, line: dict[str, Any]) -> None:
        time = line["time_ns"]
        tail = (time["p99"], time["max"]) if time.get("p99") is not None else (np.nan, np.nan)
        metrics = (METRICS[name].read(line) for name in NUMBERS if name in METRICS)
        kept = (*metrics, time["median"], odd_to_even(line), line.get("iterations_per_sample", 1), *tail)
        for numbers, number in zip(self.numbers.values(), kept):
            numbers.append(np.nan if number is None else number)

    def finish(self) -> Campaign:
        """A cell that is in one launch twice counts once, the last."""
        campaign = self.campaign
        time_rank = np.empty(len(campaign.launches), dtype=np.int64)
        time_rank[np.argsort([launch.time for launch in campaign.launches], kind="stable")] = np.arange(len(time_rank))
        rows, columns = np.array(self.rows, dtype=np.int64), np.array(self.columns, dtype=np.int64)
        order = np.lexsort((time_rank[columns], rows))
        rows, columns = rows[order], columns[order]
        last = np.ones(len(rows), dtype=bool)
        last[:-1] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        campaign.rows, campaign.columns = rows[last], columns[last]
        campaign.numbers = {name: np.array(numbers)[order][last] for name, numbers in self.numbers.items()}
        campaign.starts = np.searchsorted(campaign.rows, np.arange(len(campaign.cells) + 1))
        return campaign


def read_campaign(name: str, path: Path, metric: Metric) -> Campaign:
    reader = Reader(name, metric)
    for file in result_files(path):
        reader.read(file)
    if not reader.campaign.launches:
        raise ResultError(f"{path}: holds no launch")
    return reader.finish()
