# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From result files to a campaign, line by line."""

from __future__ import annotations

import math
from array import array
from collections.abc import Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dlmb_launch.compare.campaign import NUMBERS, Campaign, Cell, Metric, Parameters
from dlmb_results.cells import Launch, Line, bus_bandwidth, is_throttled, launch_of, mean_of, median_of_rounds, odd_to_even, suite_of
from dlmb_results.lines import ResultError, read_cells, read_in_processes, result_files
from dlmb_results.names import environment_part, named
from dlmb_statistics import margins

NO_MEASUREMENT = "failed"  # status of a line that is ok, but of which the metric cannot be


class Reader:
    def __init__(self, name: str, metric: Metric) -> None:
        self.campaign = Campaign(name)
        self.metric = metric
        self.compared = NUMBERS.index(metric.name)
        self.column_of: dict[str, int] = {}
        self.definition_of: dict[str, int] = {}
        self.name_of: dict[str, str] = {}  # by cell id
        self.file_of: dict[str, Path] = {}
        self.shared: dict[Any, Any] = {}  # of equal values the first one, so that it is kept once
        self.unmeasured: set[int] = set()  # rows known only from visits that are not ok
        self.passed_over: set[str] = set()  # launches of other environments than those asked for
        self.rows, self.columns = array("q"), array("q")
        self.numbers = array("d")  # of a line all NUMBERS, then those of the next one

    def read(self, path: Path, campaign: str | None = None, environments: Set[str] | None = None, part: str = "") -> None:
        """campaign: the name for its launches, instead of their own. environments: read only launches of these env_keys. part: of cell ids."""

        def take_launch(line: Line) -> None:
            launch = launch_of(line)
            self.launch(replace(launch, campaign=campaign) if campaign else launch, path, environments)

        def take_cell(line: Line) -> None:
            line["cell_id"] += part
            self.cell(line)

        read_cells(path, self.campaign.remarks, take_launch, take_cell)

    def launch(self, launch: Launch, path: Path, environments: Set[str] | None) -> None:
        if environments is not None and launch.env_key not in environments:
            self.passed_over.add(launch.id)
            return
        self.refuse_known(launch.id, path)
        self.column_of[launch.id] = len(self.campaign.launches)
        self.file_of[launch.id] = path
        self.campaign.launches.append(launch)
        self.campaign.warnings.extend(text for text in launch.warnings if text not in self.campaign.warnings)

    def refuse_known(self, launch: str, path: Path) -> None:
        if launch in self.column_of:
            raise ResultError(f"launch {launch} is in {self.file_of[launch]} and in {path}; it would count twice")

    def cell(self, line: Line) -> None:
        if line["launch_id"] in self.passed_over:
            return
        campaign = self.campaign
        moved = line["traffic"]
        cell = Cell(line["cell_id"], line["pattern"], line["backend"], line["memory"], line["mode"], moved["payload_bytes"], moved["wire_bytes"],
                    line["shared_gpu"], line["cache"]["slots"], line["fill"], suite_of(line), self.name(line))
        column = self.column_of[line["launch_id"]]
        ok = line["status"] == "ok"
        numbers = numbers_of(line, campaign.launches[column], self.definition(line["definition"])) if ok else ()
        measured = ok and 0 < numbers[self.compared] < math.inf
        if measured and not self.counts(cell, line):
            return
        row = self.row(cell, measured)
        if row == len(campaign.parameters):
            campaign.parameters.append(self.parameters(line["parameters"]))
        if line["is_default"]:
            campaign.defaults.add(row)
        if measured:
            self.rows.append(row)
            self.columns.append(column)
            self.numbers.extend(numbers)
        elif ok and not math.isnan(numbers[self.compared]):
            reason = f"its {self.metric.name} is {numbers[self.compared]:g} {self.metric.unit}, which is no measurement"
            campaign.faults.setdefault(row, []).append((NO_MEASUREMENT, reason))
        else:
            instead = "; --metric busbw compares it" if line["bandwidth"] else ""
            reason = line["reason"] or f"has no {self.metric.name}{instead}"
            campaign.faults.setdefault(row, []).append(("skipped" if ok else line["status"], reason))

    def counts(self, cell: Cell, line: Line) -> bool:
        """True: a measured cell is read."""
        return True

    def name(self, line: Line) -> str:
        cell_id = line["cell_id"]
        if cell_id not in self.name_of:
            self.name_of[cell_id] = named(cell_id, line["pattern"], line["parameters"])
        return self.name_of[cell_id]

    def parameters(self, given: dict[str, Any]) -> Parameters:
        return tuple(self.shared.setdefault((type(pair[1]), pair), pair) for pair in given.items())

    def definition(self, text: str) -> int:
        index = self.definition_of.get(text)
        if index is None:
            index = self.definition_of[text] = len(self.campaign.definitions)
            self.campaign.definitions.append(text)
        return index

    def row(self, cell: Cell, measured: bool) -> int:
        """The row of the cell. Its first measured line defines the cell."""
        campaign = self.campaign
        row = campaign.row_of.get(cell.id)
        if row is None:
            row = campaign.row_of[cell.id] = len(campaign.cells)
            campaign.cells.append(cell)
            if not measured:
                self.unmeasured.add(row)
        elif measured and row in self.unmeasured:
            self.unmeasured.remove(row)
            campaign.cells[row] = cell
        elif measured and cell != campaign.cells[row]:
            campaign.changed[row] = campaign.cells[row].differs_from(cell)
        return row

    def absorb(self, other: Reader) -> None:
        """Adds what `other` read, as if this reader had read it after its own files."""
        campaign, its = self.campaign, other.campaign
        for identifier in other.column_of:
            self.refuse_known(identifier, other.file_of[identifier])
        first_column = len(campaign.launches)
        self.column_of |= {identifier: first_column + column for identifier, column in other.column_of.items()}
        self.file_of |= other.file_of
        self.passed_over |= other.passed_over
        campaign.launches += its.launches
        campaign.remarks += its.remarks
        campaign.warnings += [text for text in its.warnings if text not in campaign.warnings]
        row_of = []
        for row, cell in enumerate(its.cells):
            row_of.append(self.row(cell, row not in other.unmeasured))
            if row_of[row] == len(campaign.parameters):
                campaign.parameters.append(its.parameters[row])
        for row, faults in its.faults.items():
            campaign.faults.setdefault(row_of[row], []).extend(faults)
        campaign.defaults |= {row_of[row] for row in its.defaults}
        campaign.changed |= {row_of[row]: change for row, change in its.changed.items()}
        self.rows.extend(np.array(row_of, dtype=np.int64)[np.array(other.rows, dtype=np.int64)].tolist())
        self.columns.extend((first_column + np.array(other.columns, dtype=np.int64)).tolist())
        numbers = np.array(other.numbers).reshape(-1, len(NUMBERS))
        index_of = np.array([self.definition(text) for text in its.definitions], dtype=float)
        numbers[:, NUMBERS.index("definition")] = index_of[numbers[:, NUMBERS.index("definition")].astype(int)]
        self.numbers.extend(numbers.ravel().tolist())

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
        table = np.array(self.numbers).reshape(-1, len(NUMBERS))
        campaign.numbers = {name: table[:, index][order][last] for index, name in enumerate(NUMBERS)}
        campaign.starts = np.searchsorted(campaign.rows, np.arange(len(campaign.cells) + 1))
        return campaign


def numbers_of(line: Line, launch: Launch, definition: int) -> tuple[float, ...]:
    """In the order of NUMBERS."""
    time = line["time_ns"]
    p99_ns, max_ns = (np.nan, np.nan) if time["p99"] is None else (time["p99"], time["max"])
    busbw, mean_ns = bus_bandwidth(line), mean_of(line)
    call_ns = max([time["median"], *line["rank_medians_ns"]])  # OSU's programs divide what was timed
    sample_ns = call_ns * line["iterations_per_sample"]
    below_floor = line["below_floor"]
    if below_floor is None:  # no calibration
        below_floor = margins.below_floor(sample_ns, launch.clock_read_ns)
    unchecked = line["validation"]["verdict"] != "passed" and not suite_of(line)
    return (median_of_rounds(line), np.nan if busbw is None else busbw, time["median"], np.nan if mean_ns is None else mean_ns, odd_to_even(line),
            sample_ns, p99_ns, max_ns, below_floor, launch.clock_step_ns, definition, unchecked, is_throttled(line))


def read_files(name: str, metric: Metric, folder: Path, paths: list[Path]) -> Reader:
    reader = Reader(name, metric)
    for path in paths:
        reader.read(path, part=environment_part(path, folder))
    return reader


def read_campaign(name: str, path: Path, metric: Metric) -> Campaign:
    reader, *others = read_in_processes(partial(read_files, name, metric, path), result_files(path))
    for other in others:
        reader.absorb(other)
    if not reader.campaign.launches:
        raise ResultError(f"{path}: holds no launch")
    return reader.finish()
