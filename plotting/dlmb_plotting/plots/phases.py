# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of an iteration goes, and the bus bandwidth that it reaches: one chart per setting, one row per method, the fastest
on top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Mark, Plot, Rows, Span, evenly, left_out
from dlmb_plotting.plots.curves import drawn_by_size
from dlmb_plotting.results import Cell, Group, Results, beside_others, grouped, interval_caption

FURTHEST = 2.0  # times the longest bar or median
WHOLE = "whole iteration, median and 95 % interval"
ALONE = "whole iteration, median of too few samples for an interval"
BY_SIZE = "settings that differ in their size: the plot 'sizes' shows them"
UNLIKE = 1.03  # from here on the sum of phases and the whole have each their number
PHASES = ("Bars: median of each phase on its slowest rank, so their sum may be more than the whole. "
          "Diamond and whisker: the whole iteration, its median and the 95 % interval of the median within its launch. A whisker that ends at the edge is longer.")
CONVERTED = "whole iteration without an interval: the number of another program, or the mean beside it"
BANDWIDTH = "Bus bandwidth: the most bytes that a rank sends or receives, self excluded, over the median time of an iteration."


def plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    groups = [beside_others(group) for group in grouped(cells)]
    groups = [group for group in groups if any(cell.ok for cell in group.cells)] or groups
    for group in groups:  # the fastest on top
        group.cells.sort(key=lambda cell: (not cell.timed, cell.median_ns))
    by_size = drawn_by_size(cells)
    found = phase_plots(results, pattern, groups, by_size, limits)
    if any(cell.bus_bandwidth is not None for cell in cells):
        rest = without_lines(groups, lambda cell: cell.id in by_size)
        found.append(plot_of(results, f"{pattern}.bandwidth", f"{pattern}: bus bandwidth", BANDWIDTH, groups, rest, bandwidth_chart, limits))
    return found


def phase_plots(results: Results, pattern: str, groups: list[Group], by_size: set[str], limits: Limits) -> list[Plot]:
    """None of groups whose origin printed bandwidths alone."""
    groups = [group for group in groups if any(cell.timed or not cell.ok for cell in group.cells)]
    if not groups:
        return []
    rest = without_lines(groups, lambda cell: cell.id in by_size and len(cell.phases_ns) <= 1)
    caption = f"The fastest on top. {interval_caption((cell for group in evenly(rest or groups, limits.charts) for cell in group.cells), PHASES)}"
    plot = plot_of(results, f"{pattern}.phases", f"{pattern}: time of one iteration by phase", caption, groups, rest, phase_chart, limits)
    return [replace(plot, palette=f"phases of {pattern}")]


def without_lines(groups: list[Group], is_point: Callable[[Cell], bool]) -> list[Group]:
    """Those of which a line over sizes does not show as much."""
    ran = [[cell for cell in group.cells if cell.ok] for group in groups]
    return [group for group, cells in zip(groups, ran) if not cells or not all(map(is_point, cells))]


def plot_of(results: Results, name: str, title: str, caption: str, groups: list[Group], rest: list[Group],
            chart: Callable[[Group, Limits], Rows], limits: Limits) -> Plot:
    """Of `rest`, those of the groups that no line over sizes shows; of all where there is a line for each."""
    chosen = rest or groups
    shown = evenly(chosen, limits.charts)
    lines = f"{len(groups) - len(chosen)} {BY_SIZE}" if len(chosen) < len(groups) else ""
    return Plot(name, title, caption, [chart(group, limits) for group in shown], "; ".join(filter(None, (left_out(len(shown), len(chosen), "settings"), lines))),
                results.launches_of(cell for group in shown for cell in group.cells), covered=not rest)


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
        kind, text = (WHOLE, f"{median}, {interval}") if cell.has_interval else (CONVERTED if cell.suite else ALONE, f"{cell.statistic} {median}")
        chart.marks.append(Mark(row, cell.median_ns / size, cell.low_ns / size, cell.high_ns / size, kind, text))
        chart.ends[row] = end_text(cell, start, size)
    return chart


def end_text(cell: Cell, phases_ns: float, size: float) -> str:
    """The time of the whole, and that of the bar where it ends elsewhere."""
    whole = style.number(cell.median_ns / size)
    if not cell.phases_ns or cell.median_ns < UNLIKE * phases_ns < UNLIKE**2 * cell.median_ns:
        return whole
    return f"{whole}, phases {style.number(phases_ns / size)}"


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
