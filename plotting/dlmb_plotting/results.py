# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads result files (JSON Lines of results-schema/) into cells; says what is odd about a file, never guesses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMA_NAME = "dlmb.result"
SCHEMA_MAJOR = 1
TEST_DOUBLE = "the GPUs are a test double of the CUDA runtime: no time of this launch is a measurement"


class ResultError(Exception):
    """A file that cannot be used at all."""


@dataclass(frozen=True)
class Cell:
    """One cell line. `line` holds all its fields; the properties are those that plots use."""

    line: dict[str, Any]

    @property
    def ok(self) -> bool:
        return self.line["status"] == "ok"

    @property
    def way(self) -> str:
        """Backend and method: what is compared with each other."""
        return f"{self.line['backend']} {self.line['method']}"

    @property
    def median_ns(self) -> float:
        return float(self.line["time_ns"]["median"])

    @property
    def interval_ns(self) -> tuple[float, float]:
        """95 % interval of the median."""
        return float(self.line["time_ns"]["median_low"]), float(self.line["time_ns"]["median_high"])

    @property
    def phases_ns(self) -> dict[str, float]:
        """Median per phase, in plan order; empty where a method cannot time phases."""
        phases = self.line.get("phases") or {}
        return {label: float(phase["median"]) for label, phase in phases.items()}

    @property
    def bus_bandwidth(self) -> float | None:
        """10^9 bytes per second."""
        value = (self.line.get("bandwidth") or {}).get("busbw_GBps")
        return None if value is None else float(value)


@dataclass
class Results:
    cells: list[Cell] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # what the launches say makes their numbers less than they could be


def read(paths: list[Path]) -> Results:
    """Cells of all files. A cell that was measured again, in a resumed or later launch, counts once: the last ok one."""
    results = Results()
    cells: dict[str, Cell] = {}
    for path in paths:
        for cell in read_file(path, results):
            known = cells.get(cell.line["cell_id"])
            if known is None or cell.ok or not known.ok:
                cells[cell.line["cell_id"]] = cell
    results.cells = list(cells.values())
    return results


def read_file(path: Path, results: Results) -> list[Cell]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    cells: list[Cell] = []
    open_launches: dict[str, None] = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
            kind = value["kind"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            if number < len(lines):
                raise ResultError(f"{path}:{number}: not a line of a result file") from error
            results.remarks.append(f"{path}:{number}: the last line is cut off; left out")
            continue
        if kind == "launch":
            check_schema(value.get("schema", ""), path, number)
            open_launches[value["launch_id"]] = None
            warnings = list((value.get("environment") or {}).get("warnings") or [])
            if value.get("test_double") and TEST_DOUBLE not in warnings:
                warnings.append(TEST_DOUBLE)
            results.warnings.extend(warning for warning in warnings if warning not in results.warnings)
        elif kind == "cell":
            cells.append(Cell(value))
        elif kind == "end":
            open_launches.pop(value["launch_id"], None)
    for launch in open_launches:
        results.remarks.append(f"{path}: launch {launch} has no end line: it was interrupted; its finished cells are used")
    return cells


def check_schema(schema: str, path: Path, number: int) -> None:
    name, _, version = schema.partition("/")
    if name != SCHEMA_NAME or version.split(".")[0] != str(SCHEMA_MAJOR):
        raise ResultError(f"{path}:{number}: schema '{schema}', this program reads {SCHEMA_NAME}/{SCHEMA_MAJOR}.x")
