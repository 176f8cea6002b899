# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Per pattern: by how much the candidate is worse in geometric mean.

The mean is that of the cells' own ratios, so it lies among them and one odd launch moves it no more than them. A launch moves all its
cells together, so for the interval each launch counts as one number, the mean of its cells' logarithms, and the same exact test as for
a cell is inverted. Cells of other launches (another world, a launch that lacks some cells) are added launch by launch where the two have
nothing in common, because then the sums are as independent as the launches; where they share some, their bounds are added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlmb_launch.compare.arrangement import NIGHTS, Columns
from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.evidence import EvidenceTable


@dataclass(frozen=True)
class Group:
    """Cells that were measured in the same launches."""

    columns: Columns  # launches of the baseline
    others: Columns  # of the candidate
    rows: list[int]  # of the baseline, one per line of the table
    table: EvidenceTable


@dataclass(frozen=True)
class PatternSummary:
    pattern: str
    cells: int
    ratio: float  # geometric mean; above 1 is worse
    low: float  # interval, of the confidence that the cells have
    high: float


def summarise(groups: list[Group], baseline: Campaign) -> list[PatternSummary]:
    by_pattern: dict[str, list[Part]] = {}
    for group in groups:
        patterns = np.array([baseline.cells[row].pattern for row in group.rows])
        for pattern in np.unique(patterns).tolist():
            by_pattern.setdefault(pattern, []).append(Part.of(group, np.flatnonzero(patterns == pattern)))
    return [summary(pattern, parts) for pattern, parts in sorted(by_pattern.items())]


@dataclass
class Part:
    """Sums over cells, per launch."""

    group: Group
    columns: set[int]
    others: set[int]
    cells: int
    ratio: float  # sum of logarithms
    baseline: np.ndarray
    candidate: np.ndarray

    @staticmethod
    def of(group: Group, cells: np.ndarray) -> Part:
        table = group.table
        sums = (values[cells].sum(axis=0) for values in (table.baseline, table.candidate))
        ratio = float(np.log(table.columns["ratio"][cells]).sum())
        return Part(group, set(group.columns), set(group.others), len(cells), ratio, *sums)

    def can_take(self, part: Part) -> bool:
        mine, its = self.group.table.arrangement, part.group.table.arrangement
        if mine != its or (len(self.baseline), len(self.candidate)) != (len(part.baseline), len(part.candidate)):
            return False
        return mine.test == NIGHTS or not (self.columns & part.columns or self.others & part.others)

    def take(self, part: Part) -> None:
        self.columns |= part.columns
        self.others |= part.others
        self.cells += part.cells
        self.baseline = self.baseline + part.baseline
        self.candidate = self.candidate + part.candidate

    def bounds(self) -> np.ndarray:
        """Of the sum over the cells."""
        means = (values[None, :] / self.cells for values in (self.baseline, self.candidate))
        _, low, high, _, _ = self.group.table.arrangement.compared(*means)
        return self.cells * np.array([low[0], high[0]])


def summary(pattern: str, parts: list[Part]) -> PatternSummary:
    cells, ratio = sum(part.cells for part in parts), sum(part.ratio for part in parts)
    together: list[Part] = []
    for part in sorted(parts, key=lambda part: -part.cells):
        taker = next((other for other in together if other.can_take(part)), None)
        if taker is None:
            together.append(part)
        else:
            taker.take(part)
    low, high = sum(part.bounds() for part in together)
    mean, low, high = (float(np.exp(value / cells)) for value in (ratio, min(low, ratio), max(high, ratio)))
    return PatternSummary(pattern, cells, mean, low, high)
