# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of an iteration goes, and the bus bandwidth that it reaches: one chart per setting, one row per method, the fastest
on top."""

from __future__ import annotations

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Mark, Plot, Rows, Span, evenly, left_out
from dlmb_plotting.groups import Group, beside_others, grouped
from dlmb_plotting.results import Cell, Results, interval_caption

FURTHEST = 2.0  # times the longest bar or median
WHOLE = "whole iteration, median and 95 % interval"
PHASES = ("Bars: median of each phase on its slowest rank, so their sum may be more than the whole. "
          "Diamond and whisker: the whole iteration, its median and the 95 % interval of the median. A whisker that ends at the edge is longer.")
CONVERTED = "whole iteration without an interval: the number of another program, or the mean beside it"
BANDWIDTH = "Bus bandwidth: the most bytes that a rank sends or receives, self excluded, over the median time of an iteration."


def plots(results: Results, limits: Limits) -> list[Plot]:
    return [plot for pattern, cells in results.patterns().items() for plot in of_pattern(pattern, cells, limits)]


def of_pattern(pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    groups = [beside_others(group) for group in grouped(cells)]
    groups = [group for group in groups if any(cell.ok for cell in group.cells)] or groups
    for group in groups:  # the fastest on top
        group.cells.sort(key=lambda cell: (not cell.timed, cell.median_ns))
    shown = evenly(groups, limits.charts)
    missing = left_out(len(shown), len(groups), "settings")
    found = phase_plots(pattern, [group for group in groups if any(cell.timed or not cell.ok for cell in group.cells)], limits)
    if any(cell.bus_bandwidth is not None for cell in cells):
        found.append(Plot(f"{pattern}.bandwidth", f"{pattern}: bus bandwidth", BANDWIDTH,
                          [bandwidth_chart(group, limits) for group in shown], missing))
    return found


def phase_plots(pattern: str, groups: list[Group], limits: Limits) -> list[Plot]:
    """None of groups whose origin printed bandwidths alone."""
    shown = evenly(groups, limits.charts)
    if not shown:
        return []
    caption = f"The fastest on top. {interval_caption((cell for group in shown for cell in group.cells), PHASES)}"
    return [Plot(f"{pattern}.phases", f"{pattern}: time of one iteration by phase", caption, [phase_chart(group, limits) for group in shown],
                 left_out(len(shown), len(groups), "settings"))]


def why_not(cell: Cell) -> str:
    if cell.ok:
        return "no time, only a bandwidth"
    return f"{cell.status}: {cell.reason}" if cell.reason else cell.status


def last_ns(cells: list[Cell], longest_ns: float) -> float:
    """The end of the longest interval, but not so far away that bars become dots."""
    return min(FURTHEST * longest_ns, max((max(longest_ns, cell.high_ns) for cell in cells if cell.ok), default=longest_ns))


def phase_chart(group: Group, limits: Limits) -> Rows:
    cells = evenly(group.cells, limits.rows)
    longest = max((max(cell.median_ns, sum(ns for _, ns in cell.phases_ns)) for cell in cells if cell.ok), default=1.0)
    unit, size = style.time_unit(longest)
    chart = Rows(group.title, [cell.method_name for cell in cells], Axis(f"time of one iteration ({unit})", last=last_ns(cells, longest) / size))
    for row, cell in enumerate(cells):
        if not cell.timed:
            chart.remarks[row] = why_not(cell)
            continue
        start = 0.0
        for label, duration in cell.phases_ns:
            chart.spans.append(Span(row, start / size, duration / size, label, f"{label}: {style.number(duration / size)} {unit}"))
            start += duration
        median = f"{style.number(cell.median_ns / size)} {unit}"
        interval = f"{style.number(cell.low_ns / size)} to {style.number(cell.high_ns / size)} {unit}"
        kind, text = (WHOLE, f"{median}, {interval}") if cell.has_interval else (CONVERTED, f"{cell.statistic} {median}")
        chart.marks.append(Mark(row, cell.median_ns / size, cell.low_ns / size, cell.high_ns / size, kind, text))
        chart.ends[row] = style.number(cell.median_ns / size)
    return chart


def bandwidth_chart(group: Group, limits: Limits) -> Rows:
    cells = evenly(group.cells, limits.rows)
    chart = Rows(group.title, [cell.method_name for cell in cells], Axis("bus bandwidth (GB/s, 10⁹ bytes per second)"))
    for row, cell in enumerate(cells):
        if not cell.ok:
            chart.remarks[row] = why_not(cell)
        elif cell.bus_bandwidth is None:
            chart.remarks[row] = "not known" if cell.suite else "no bytes leave a rank"
        else:
            value = style.number(cell.bus_bandwidth)
            chart.spans.append(Span(row, 0.0, cell.bus_bandwidth, cell.backend, f"{cell.method_name}: {value} GB/s"))
            chart.ends[row] = value
    return chart
