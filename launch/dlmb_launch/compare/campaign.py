# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One side of a comparison: its launches, and per cell one number of each launch, in the metric that is compared.

Held in arrays, not as lines: a campaign may have millions of lines.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dlmb_results.cells import Launch


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    worse_is_larger: bool
    definition: str


METRICS = {
    metric.name: metric
    for metric in (
        Metric("time", "ns", True, "each launch counts as one number: the median of its rounds"),
        Metric("busbw", "GB/s", False, "each launch counts as one number: the bus bandwidth at its median time"),
    )
}


# The numbers that are kept of a cell in a launch: the metrics by name, and what margins and the output need. NaN: no number. p99_ns and
# max_ns need at least 299 samples. below_floor, unchecked and throttled are 0 or 1. clock_step_ns is that of the launch. definition is an
# index of Campaign.definitions. mean_ns is that of the definitions osu and nccl, over calls and ranks.
NUMBERS = (
    "time", "busbw", "median_ns", "mean_ns", "odd_to_even", "sample_ns", "p99_ns", "max_ns", "below_floor", "clock_step_ns", "definition",
    "unchecked", "throttled",
)  # fmt: skip


class Cell(NamedTuple):
    """The properties that must agree in all launches of both sides, or the numbers are of different things. A tuple, because one is made per line."""

    id: str
    pattern: str
    backend: str
    memory: str
    mode: str
    payload_bytes: int
    wire_bytes: int
    shared_gpu: bool
    slots: int  # sets of buffers that iterations took in turn; fewer where memory was little
    fill: str
    suite: str = ""  # of the other program whose result dlmb_convert read; empty: DLMB's own
    named: str = ""  # the id, with defaults that a reader has to know

    @property
    def name(self) -> str:
        return self.named or self.id

    def differs_from(self, other: Cell) -> str:
        """The first field in which two unequal cells differ, with both values."""
        return next(f"{name} differs: '{one}' and '{two}'" for name, one, two in zip(self._fields, self, other) if one != two)


Parameters = tuple[tuple[str, Any], ...]  # of a cell; equal pairs are kept once


def no_integers() -> np.ndarray:
    return np.empty(0, dtype=np.int64)


@dataclass
class Campaign:
    name: str
    launches: list[Launch] = field(default_factory=list)  # columns
    cells: list[Cell] = field(default_factory=list)  # rows
    definitions: list[str] = field(default_factory=list)  # of a sample; launches of one cell may differ in it (left_out.py)
    parameters: list[Parameters] = field(default_factory=list)  # by row
    row_of: dict[str, int] = field(default_factory=dict)  # by cell id
    defaults: set[int] = field(default_factory=set)  # rows of a method that its backend takes by itself
    changed: dict[int, str] = field(default_factory=dict)  # rows whose launches do not agree, and in what
    faults: dict[int, list[tuple[str, str]]] = field(default_factory=dict)  # by row: status and reason where not ok
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows: np.ndarray = field(default_factory=no_integers)  # of each number, ascending
    columns: np.ndarray = field(default_factory=no_integers)  # of each number, in order of time within a row
    numbers: dict[str, np.ndarray] = field(default_factory=dict)  # by name in NUMBERS
    starts: np.ndarray = field(default_factory=no_integers)  # where the numbers of each row begin, and the end of the last
    left_out: Counter[int] = field(default_factory=Counter)  # numbers of each row that are left out

    def counts(self) -> np.ndarray:
        """Launches with a number, per row."""
        return np.diff(self.starts)

    def table(self, rows: np.ndarray, launches: int, name: str) -> np.ndarray:
        """One line per row, one column per launch in order of time; every row must have that many."""
        return self.numbers[name][self.starts[rows][:, None] + np.arange(launches)]

    def values(self, row: int, name: str) -> np.ndarray:
        """The values of one row, one per launch."""
        return self.numbers[name][self.starts[row] : self.starts[row + 1]]

    def leave_out(self, dropped: np.ndarray) -> None:
        """Drops every number for which `dropped` is true."""
        self.left_out.update(self.rows[dropped].tolist())
        kept = ~dropped
        self.rows, self.columns = self.rows[kept], self.columns[kept]
        self.numbers = {name: values[kept] for name, values in self.numbers.items()}
        self.starts = np.searchsorted(self.rows, np.arange(len(self.cells) + 1))

    def launches_of(self, row: int) -> tuple[int, ...]:
        """Columns in which the row has a number."""
        return tuple(self.columns[self.starts[row] : self.starts[row + 1]].tolist())
