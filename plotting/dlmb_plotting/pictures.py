# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A plot as a picture file, drawn by matplotlib: its bars below each other, curves and matrices side by side, one legend for all."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")  # files only: no display is needed

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from dlmb_plotting import style  # noqa: E402
from dlmb_plotting.charts import Axis, Chart, Heat, Plot, Points, Rows  # noqa: E402

WIDTH_INCHES = 8.0
ROW_INCHES = 0.36
POINTS_INCHES = 3.2
FRAME_INCHES = 0.85  # title, axis label and distance to the next chart
LINE_INCHES = 0.145
TITLE_INCHES = 0.22  # of a line
TITLE_WRAP = 85  # characters
WRAP = 125
TITLE_GAP_INCHES = 0.1
LEGEND_COLUMNS = 3
LEGEND_WIDTH = 120  # characters
WIDE_SCALE = 5  # a logarithmic axis over less has a number at every tick
MOST_NUMBERS = 8  # a heat map of more rows has no room for numbers
ROOM_FOR_ENDS, ROOM_FOR_CHARACTER = 1.05, 0.013  # right of the longest row, and more for each character of its text


def columns_of(charts: Sequence[Chart]) -> int:
    """Curves stand two by two, matrices the more side by side the fewer ranks they have."""
    if not isinstance(charts[0], Heat):
        return 2 if isinstance(charts[0], Points) and len(charts) > 1 else 1
    ranks = max(len(chart.rows) for chart in charts if isinstance(chart, Heat))
    return min(len(charts), 4 if ranks <= 4 else 3 if ranks <= 16 else 2)


def height_of(chart: Chart, columns: int) -> float:
    if isinstance(chart, Rows):
        return max(2, len(chart.rows)) * ROW_INCHES
    if isinstance(chart, Points):
        return POINTS_INCHES if columns == 1 else 0.8 * POINTS_INCHES
    return min(4.0, (0.8 if len(chart.rows) <= MOST_NUMBERS else 0.62) * WIDTH_INCHES / columns)


def picture(plot: Plot, warnings: Sequence[tuple[str, int]] = (), palette: style.Palette | None = None) -> Figure:
    """A picture may be seen without its files, so it says what is drawn, what is left out, and what how many of its launches warn of.
    palette: for pictures that belong together."""
    facts = [f"{re.split('[;:]', text)[0]} ({count} launch{'es' * (count > 1)})" for text, count in warnings]
    title = textwrap.wrap(plot.title, TITLE_WRAP)
    notes = [plot.caption, plot.left_out, "Note: " + "; ".join(facts) if facts else ""]
    lines = [line for note in notes for line in textwrap.wrap(note, WRAP)]
    columns = columns_of(plot.charts)
    heights = [max(height_of(chart, columns) for chart in plot.charts[first : first + columns]) for first in range(0, len(plot.charts), columns)]
    kinds = plot.kinds()
    index = palette or style.palette(kinds)
    legend_columns = max(1, min(LEGEND_COLUMNS, LEGEND_WIDTH // (8 + max(map(len, kinds), default=0))))
    top = 0.26 + TITLE_INCHES * len(title) + LINE_INCHES * len(lines)
    bottom = 0.1 + 0.2 * -(-len(kinds) // legend_columns)
    total = sum(heights) + len(heights) * FRAME_INCHES + top + bottom
    figure = Figure(figsize=(WIDTH_INCHES, total))
    figure.text(0.01, 1 - 0.12 / total, "\n".join(title), fontsize="large", va="top")
    figure.text(0.01, 1 - (0.18 + TITLE_INCHES * len(title)) / total, "\n".join(lines), fontsize="small", va="top", color="#333333", linespacing=1.2)
    grid = figure.subplots(len(heights), columns, squeeze=False, gridspec_kw={"height_ratios": heights}).ravel()
    handles: dict[str, Any] = {}
    for axis, chart in zip(grid, plot.charts):
        axis.set_title(chart.title, fontsize="medium" if columns == 1 else "small", loc="left")
        if isinstance(chart, Rows):
            draw_rows(axis, chart, index, handles)
        elif isinstance(chart, Points):
            draw_points(axis, chart, index, handles)
        else:
            draw_heat(figure, axis, chart)
    for axis in grid[len(plot.charts) :]:
        axis.set_visible(False)
    if handles:
        ordered = [kind for kind in kinds if kind in handles]
        figure.legend([handles[kind] for kind in ordered], ordered, loc="lower center", ncol=legend_columns, fontsize="small", frameon=False)
    inside = (0, bottom / total, 1, 1 - top / total)
    figure.tight_layout(rect=inside)
    fit_titles(figure, [list(grid[first : first + columns]) for first in range(0, len(grid), columns)])
    figure.tight_layout(rect=inside)
    return figure


def fit_titles(figure: Figure, rows: Sequence[Sequence[Any]]) -> None:
    """A title begins at the left end of its axis, and ends before the next axis of its row begins, or the picture ends."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    for axes in rows:
        ends = [axis.get_window_extent(renderer).x0 for axis in axes[1:]] + [figure.bbox.width]
        for axis, end in zip(axes, ends):
            text = axis.get_title(loc="left")
            title = axis.set_title(text, fontsize="medium" if len(axes) == 1 else "small", loc="left")
            shown, width = title.get_window_extent(renderer), len(text)
            room = end - shown.x0 - TITLE_GAP_INCHES * figure.dpi
            while shown.width > room and width > 10:
                width = min(width - 1, int(width * room / shown.width) + 2)
                title.set_text(textwrap.fill(text, width))
                shown = title.get_window_extent(renderer)


def dress(axis: Any, x: Axis) -> None:
    axis.set_xlabel(x.title, fontsize="small")
    axis.tick_params(axis="x", labelsize="small")
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    if x.log:
        axis.set_xscale("log")
    if x.ticks:
        axis.set_xticks([place for place, _ in x.ticks], [text for _, text in x.ticks])
        axis.set_xticks([], minor=True)
    if x.reference is not None:
        axis.axvline(x.reference, color="#555555", linewidth=1, zorder=1)


def draw_rows(axis: Any, chart: Rows, index_of: Mapping[str, int], handles: dict[str, Any]) -> None:
    axis.set_yticks(range(len(chart.rows)), [textwrap.fill(textwrap.shorten(row, 84, placeholder="..."), 42) for row in chart.rows], fontsize="small")
    axis.set_ylim(len(chart.rows) - 0.5, -0.5)
    axis.grid(axis="x", alpha=0.3)
    last = math.inf if chart.x.last is None else chart.x.last
    furthest: dict[int, float] = {}
    for span in chart.spans:
        look = style.look(index_of[span.kind])
        bar = axis.barh(span.row, span.length, 0.62, span.start, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0.5)
        handles.setdefault(span.kind, bar)
        furthest[span.row] = max(furthest.get(span.row, 0.0), min(last, span.start + span.length))
    for mark in chart.marks:
        look = style.look(index_of[mark.kind])
        drawn = {"fmt": "D", "color": "black", "markerfacecolor": "white"} if chart.spans else {"fmt": look.marker, "color": look.colour}
        spread = [[max(0.0, mark.x - mark.low)], [max(0.0, min(mark.high, last) - mark.x)]]
        handles.setdefault(mark.kind, axis.errorbar(mark.x, mark.row, xerr=spread if mark.low < mark.high else None, markersize=5, capsize=4, **drawn))
        furthest[mark.row] = max(furthest.get(mark.row, mark.x), mark.x, min(last, mark.high))
    dress(axis, chart.x)
    if furthest and not chart.x.log:
        smallest = min([0.0, *(mark.low for mark in chart.marks)])
        if chart.x.reference and chart.marks:
            smallest = min(mark.low for mark in chart.marks) * 0.95
        room = ROOM_FOR_ENDS + ROOM_FOR_CHARACTER * max(map(len, chart.ends.values()), default=0)
        axis.set_xlim(smallest, max(furthest.values()) * room or 1.0)
    elif furthest:
        axis.set_xlim(right=max(furthest.values()) * 2)
    for row, text in chart.ends.items():
        axis.annotate(text, (furthest.get(row, 0.0), row), xytext=(6, 0), textcoords="offset points", va="center", fontsize="small")
    for row, text in chart.remarks.items():
        axis.text(0.01, row, textwrap.shorten(text, 90, placeholder="..."), va="center", fontsize="small", style="italic", transform=axis.get_yaxis_transform())


def draw_points(axis: Any, chart: Points, index_of: Mapping[str, int], handles: dict[str, Any]) -> None:
    if chart.y.log:
        def narrow() -> bool:
            low, high = axis.get_ylim()
            return high < WIDE_SCALE * low

        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:.6g}")
        axis.yaxis.set_minor_formatter(lambda value, _: f"{value:.6g}" if f"{value:e}"[0] in "25" or narrow() else "")
        axis.tick_params(axis="y", which="minor", labelsize="x-small")
    axis.set_ylabel(chart.y.title, fontsize="small")
    axis.tick_params(axis="y", which="major", labelsize="small")
    axis.grid(alpha=0.3)
    if chart.y.reference is not None:
        axis.axhline(chart.y.reference, color="#555555", linewidth=1, zorder=1)
    for name, points in chart.series.items():
        look = style.look(index_of[name])
        spread = [[max(0.0, point.y - point.low) for point in points], [max(0.0, point.high - point.y) for point in points]]
        handles.setdefault(name, axis.errorbar(
            [point.x for point in points], [point.y for point in points], yerr=spread if any(point.low < point.high for point in points) else None, capsize=2, color=look.colour, marker=look.marker, markersize=5,
            linestyle=look.dash if chart.joined else "none", linewidth=1.4, elinewidth=1))
    dress(axis, chart.x)


def draw_heat(figure: Figure, axis: Any, chart: Heat) -> None:
    """Numbers in the cells where there is room, else a scale beside them."""
    largest = max(map(max, chart.values)) or 1.0
    image = axis.imshow(chart.values, cmap="cividis", vmin=0, vmax=largest)
    every = -(-len(chart.rows) // 8)
    axis.set_xticks(range(0, len(chart.columns), every), chart.columns[::every])
    axis.set_yticks(range(0, len(chart.rows), every), chart.rows[::every])
    axis.tick_params(labelsize="small")
    axis.set_xlabel(chart.column_title, fontsize="small")
    axis.set_ylabel(chart.row_title, fontsize="small")
    if len(chart.rows) > MOST_NUMBERS:
        figure.colorbar(image, ax=axis, fraction=0.046).ax.tick_params(labelsize="small")
        return
    for row, values in enumerate(chart.values):
        for column, value in enumerate(values):
            axis.text(column, row, style.number(value), ha="center", va="center", fontsize="x-small", color="black" if value > largest / 2 else "white")
