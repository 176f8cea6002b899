# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of result files as plots need them: each once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlmb_results.lines import read_lines, warnings_of


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
    cells: list[Cell] = []
    for _, line in read_lines(path, results.remarks):
        if line["kind"] == "launch":
            results.warnings.extend(warning for warning in warnings_of(line) if warning not in results.warnings)
        elif line["kind"] == "cell":
            cells.append(Cell(line))
    return cells
