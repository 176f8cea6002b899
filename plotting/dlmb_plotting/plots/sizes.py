# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Latency and bandwidth by size, one line per backend and method."""

from __future__ import annotations

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Point, Points, evenly, left_out
from dlmb_plotting.groups import Group
from dlmb_plotting.plots import curves
from dlmb_plotting.results import Cell, Results

SIZE_PARAMETERS = ("message-size", "tokens", "batch", "sequence", "micro-batch-size")  # those that make the same traffic larger
CAPTION = "Whiskers: 95 % interval of the median. Size: payload given to the library per rank and iteration, mean over ranks, self included."


def per_rank(cell: Cell) -> float:
    return cell.payload_bytes / max(1, cell.ranks)


def plots(results: Results, limits: Limits) -> list[Plot]:
    found: list[Plot] = []
    for pattern, cells in results.patterns().items():
        moving = [cell for cell in cells if cell.payload_bytes > 0]
        groups = curves.groups_that_vary(moving, SIZE_PARAMETERS, per_rank)
        if groups:
            shown = evenly(groups, limits.charts)
            missing = left_out(len(shown), len(groups), "settings")
            found.append(Plot(f"{pattern}.sizes", f"{pattern}: time by size", CAPTION, [time_chart(group, limits) for group in shown], missing))
            found.append(Plot(f"{pattern}.size_bandwidth", f"{pattern}: bus bandwidth by size", CAPTION,
                              [chart for chart in (bandwidth_chart(group, limits) for group in shown) if chart.series], missing))
    return [plot for plot in found if plot.charts]


def size_axis(group: Group) -> Axis:
    sizes = [per_rank(cell) for cell in group.cells]
    return Axis("payload per rank and iteration (bytes)", log=True, ticks=style.byte_ticks(min(sizes), max(sizes)))


def time_chart(group: Group, limits: Limits) -> Points:
    axis, unit = curves.time_axis(group)

    def point(cell: Cell) -> Point:
        text = f"{cell.way}, {style.byte_text(per_rank(cell))}: {style.number(cell.median_ns / unit)}"
        return Point(per_rank(cell), cell.median_ns / unit, cell.low_ns / unit, cell.high_ns / unit, text)

    return curves.chart(group, size_axis(group), axis, limits, point, joined=True)


def bandwidth_chart(group: Group, limits: Limits) -> Points:
    """The interval is that of the time: bytes are the same in every iteration."""
    measured = Group(group.title, [cell for cell in group.cells if cell.bus_bandwidth is not None])

    def point(cell: Cell) -> Point:
        value = cell.bus_bandwidth or 0.0
        text = f"{cell.way}, {style.byte_text(per_rank(cell))}: {style.number(value)} GB/s"
        low, high = (value * cell.median_ns / end if end > 0 else value for end in (cell.high_ns, cell.low_ns))
        return Point(per_rank(cell), value, low, high, text)

    return curves.chart(measured, size_axis(group), Axis("bus bandwidth (GB/s, 10⁹ bytes per second)", log=True), limits, point, joined=True)
