# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Medians and intervals over a number that differs between cells: size or imbalance."""

from __future__ import annotations

from collections.abc import Callable, Collection

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Point, Points, evenly
from dlmb_plotting.groups import Group, grouped
from dlmb_plotting.results import Cell


def groups_that_vary(cells: list[Cell], without: Collection[str], number: Callable[[Cell], float]) -> list[Group]:
    """Groups in which at least two cells that ran differ in the number."""
    groups = grouped([cell for cell in cells if cell.ok], without)
    return [group for group in groups if len({number(cell) for cell in group.cells}) > 1]


def chart(group: Group, x: Axis, y: Axis, limits: Limits, point: Callable[[Cell], Point], joined: bool) -> Points:
    ways: dict[str, list[Cell]] = {}
    for cell in group.cells:
        ways.setdefault(cell.way, []).append(cell)
    title = group.title
    if len(ways) > limits.series:
        title += f" ({limits.series} of {len(ways)} methods, evenly spaced)"
    series = {way: sorted(point(cell) for cell in ways[way]) for way in evenly(list(ways), limits.series)}
    return Points(title, x, y, {way: points for way, points in series.items() if points}, joined)


def time_axis(group: Group) -> tuple[Axis, float]:
    """In the unit of the middle of the values, because the axis is logarithmic."""
    times = sorted(cell.median_ns for cell in group.cells)
    unit, size = style.time_unit(times[len(times) // 2])
    return Axis(f"time of one iteration, median ({unit})", log=True), size
