# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measured collectives of result files, and of tables with the columns of the data of PICO."""

from __future__ import annotations

import collections
import csv
import hashlib
import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from dlmb_launch.guidelines.rules import COLLECTIVES, Calls, TimeRange
from dlmb_results.cells import Launch, is_throttled, launch_of
from dlmb_results.fields import LARGEST
from dlmb_results.files import read_document
from dlmb_results.lines import ResultError, read_cells, result_files
from dlmb_statistics.ranks import median_interval

NAMES = {"broadcast": "bcast", "reduce_scatter_block": "reduce_scatter", "reduce_scatter": ""}  # that with counts is another call
PER_RANK = {"allgather", "gather", "scatter", "alltoall"}  # whose --message-size counts: patterns/collective/README.md
NEEDED = ("system", "nodes", "collective", "algorithm", "bytes", "median_us")
NO_CONDITIONS = {"collective", "bytes", "median_us", "p10_us", "p90_us", "iterations", "campaign", "test"}


class Measured:
    def __init__(self) -> None:
        self.used = 0
        self.left_out = 0  # not of one of the collectives, of one rank, which only copies, or not measured well
        self.remarks: list[str] = []
        self.launches: dict[tuple[str, str, int], list[float]] = collections.defaultdict(list)  # times in us

    def read(self, path: Path) -> None:
        if path.is_dir() or is_json(path):
            for file in result_files(path):
                self.read_results(file)
        else:
            self.read_table(path)

    def calls(self) -> Calls:
        calls: Calls = {}
        for (setting, collective, size), launches in sorted(self.launches.items()):
            calls.setdefault(setting, {}).setdefault(collective, {})[size] = over(launches)
        return calls

    def read_results(self, path: Path) -> None:
        launches: dict[str, Launch] = {}
        read_cells(path, self.remarks, lambda launch: launches.update({launch["launch_id"]: launch_of(launch)}),
                   lambda cell: self.add_cell(cell, launches[cell["launch_id"]]))

    def add_cell(self, cell: dict[str, Any], launch: Launch) -> None:
        parameters = cell["parameters"]
        operation = str(parameters.get("operation", ""))
        collective = NAMES.get(operation, operation)
        if cell["pattern"] != "collective" or collective not in COLLECTIVES or not is_sound(cell, launch):
            self.left_out += 1
            return
        size = float(parameters["message-size"]) * (cell["world"]["ranks"] if collective in PER_RANK else 1)  # of converted lines a fraction
        self.keep(setting_of(cell, launch), collective, size, cell["time_ns"]["median"] / 1000)

    def read_table(self, path: Path) -> None:
        try:
            rows = csv.DictReader(read_document(path).decode("utf-8-sig").splitlines(), strict=True)
            if missing := [name for name in NEEDED if name not in (rows.fieldnames or ())]:
                raise ResultError(f"{path}: no result file, and no table with the column {missing[0]}")
            for row in rows:
                if None in row or None in row.values():
                    raise ValueError("another number of cells than columns")
                if row["collective"] in COLLECTIVES:
                    setting = " ".join(f"{name}={value}" for name, value in row.items() if name not in NO_CONDITIONS)
                    self.keep(setting, row["collective"], int(row["bytes"]), time_in(row))
                else:
                    self.left_out += 1
        except (ValueError, csv.Error) as error:
            raise ResultError(f"{path}: {error}") from error

    def keep(self, setting: str, collective: str, size: float, us: float) -> None:
        if not 0 <= size <= LARGEST:
            raise ValueError("a size is no number from 0 to 2^64")
        self.used += 1
        self.launches[setting, collective, round(size)].append(us)


def is_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4096).lstrip().startswith(b"{")
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error


def is_sound(cell: dict[str, Any], launch: Launch) -> bool:
    weak = cell["below_floor"] or is_throttled(cell) or cell["shared_gpu"] or launch.test_double
    return cell["status"] == "ok" and cell["world"]["ranks"] > 1 and 0 < cell["time_ns"]["median"] < math.inf and not weak and cell["validation"]["verdict"] != "failed"


def setting_of(cell: dict[str, Any], launch: Launch) -> str:
    """Everything but the operation and its size. A backend's own choice is called default for every operation, because it is another
    method for some."""
    others = {name: value for name, value in cell["parameters"].items() if name not in ("operation", "message-size")}
    others |= {"cache": cell["cache"]["mode"], "fill": cell["fill"], **({"beside": cell["beside"]} if "beside" in cell else {})}
    digest = hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()[:8]
    world = cell["world"]
    method = "default" if cell["is_default"] else cell["method"]
    return (f"{cell['backend']} {method}, {cell['memory']} memory, {world['ranks']} ranks, {world['ranks_per_node']} per node, {cell['mode']}, "
            f"environment {launch.settings_key}, parameters {digest}")


def time_in(row: dict[str, str]) -> float:
    us = float(row["median_us"])
    if not 0 < us < math.inf:
        raise ValueError(f"median_us '{row['median_us']}' is no time")
    return us


def over(launches: list[float]) -> TimeRange:
    """The 95 % interval of the median over launches; not known where they are too few for one, because launches differ more than the samples
    of one."""
    us = statistics.median(launches)
    low, high = median_interval(np.array(launches))
    return TimeRange(us, us, us, False) if low is None or high is None else TimeRange(us, low, high)
