# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The two pictures of a pattern: where an iteration's time goes, and the bus bandwidth it reaches."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")  # files only: no display is needed

from matplotlib.figure import Figure  # noqa: E402

from dlmb_plotting import style  # noqa: E402
from dlmb_plotting.groups import Group  # noqa: E402
from dlmb_plotting.results import Cell  # noqa: E402

LEGEND_COLUMNS = 3
HEADING_WIDTH = 90  # characters
ROOM_FOR_NUMBERS = 1.12  # right of the longest bar


def panels(groups: list[Group], heading: str, warnings: Sequence[str]) -> tuple[Figure, list[Any]]:
    """One panel per group below each other, one row per cell. A picture travels without its file, so what weakens its
    numbers stands in its heading."""
    rows = [len(group.cells) for group in groups]
    facts = [re.split("[;:]", warning)[0] for warning in warnings]  # what follows is advice
    remark = textwrap.wrap("Note: " + "; ".join(facts), HEADING_WIDTH) if facts else []
    height = sum(rows) * style.ROW_HEIGHT_INCHES + len(groups) * style.PANEL_FRAME_INCHES + style.FIGURE_FRAME_INCHES
    height += len(remark) * style.LINE_INCHES
    figure = Figure(figsize=(style.WIDTH_INCHES, height))
    figure.suptitle("\n".join([heading, *remark]), fontsize="medium")
    axes = figure.subplots(len(groups), 1, squeeze=False, gridspec_kw={"height_ratios": rows})[:, 0]
    for axis, group in zip(axes, groups):
        axis.set_title(group.title, fontsize="medium", loc="left")
        axis.set_yticks(range(len(group.cells)), [cell.way for cell in group.cells])
        axis.set_ylim(len(group.cells) - 0.5, -0.5)
        axis.grid(axis="x", alpha=0.3)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return figure, list(axes)


def fitted(figure: Figure, legend_rows: int) -> Figure:
    """Panels fill the figure but for the legend below them."""
    bottom = (0.1 + 0.25 * legend_rows) / figure.get_figheight()
    figure.tight_layout(rect=(0, bottom, 1, 1))
    return figure


def say_why_not(axis: Any, row: int, cell: Cell) -> None:
    reason = cell.line.get("reason") or ""
    text = f"{cell.line['status']}: {reason}" if reason else cell.line["status"]
    axis.text(0.01, row, text if len(text) <= 90 else text[:87] + "...", va="center", fontsize="small", style="italic",
              transform=axis.get_yaxis_transform())


def phase_figure(pattern: str, groups: list[Group], warnings: Sequence[str] = ()) -> Figure:
    """Bars: median of each phase. Diamond and whisker: median of the whole iteration and its 95 % interval."""
    figure, axes = panels(groups, f"{pattern}: time of one iteration; bars: each phase on its slowest rank, so their sum may be more", warnings)
    measured = [cell for group in groups for cell in group.cells if cell.ok]
    labels = list(dict.fromkeys(label for cell in measured for label in cell.phases_ns))
    handles: dict[str, Any] = {}
    for axis, group in zip(axes, groups):
        longest = max((longest_ns(cell) for cell in group.cells if cell.ok), default=1.0)
        unit, size = style.time_unit(longest)
        axis.set_xlabel(f"time ({unit})")
        axis.set_xlim(0, ROOM_FOR_NUMBERS * longest / size)
        for row, cell in enumerate(group.cells):
            if cell.ok:
                draw_iteration(axis, row, cell, labels, size, handles)
            else:
                say_why_not(axis, row, cell)
    legend_rows = -(-len(handles) // LEGEND_COLUMNS)
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=LEGEND_COLUMNS, fontsize="small")
    return fitted(figure, legend_rows)


def longest_ns(cell: Cell) -> float:
    return max(cell.interval_ns[1], sum(cell.phases_ns.values()))


def draw_iteration(axis: Any, row: int, cell: Cell, labels: list[str], size: float, handles: dict[str, Any]) -> None:
    start = 0.0
    for label, duration in cell.phases_ns.items():
        index = labels.index(label)
        bar = axis.barh(row, duration / size, 0.6, start / size, color=style.colour(index), hatch=style.hatch(index),
                        edgecolor="white", linewidth=0.5)
        handles.setdefault(f"{label}, median", bar)
        start += duration
    low, high = cell.interval_ns
    spread = [[max(0.0, cell.median_ns - low) / size], [max(0.0, high - cell.median_ns) / size]]
    marker = axis.errorbar(cell.median_ns / size, row, xerr=spread, fmt="D", markersize=5, capsize=4,
                           color=style.MARKER_COLOUR, markerfacecolor="white")
    handles.setdefault("whole iteration, median and its 95 % interval", marker)
    axis.annotate(style.number(cell.median_ns / size), (longest_ns(cell) / size, row), xytext=(6, 0),
                  textcoords="offset points", va="center", fontsize="small")


def bandwidth_figure(pattern: str, groups: list[Group], warnings: Sequence[str] = ()) -> Figure | None:
    """None where no cell has a bus bandwidth."""
    if not any(cell.ok and cell.bus_bandwidth is not None for group in groups for cell in group.cells):
        return None
    figure, axes = panels(groups, f"{pattern}: bus bandwidth at the median time", warnings)
    backends = list(dict.fromkeys(cell.line["backend"] for group in groups for cell in group.cells))
    for axis, group in zip(axes, groups):
        axis.set_xlabel("bus bandwidth (GB/s, 10⁹ bytes per second)")
        largest = max((cell.bus_bandwidth or 0.0 for cell in group.cells if cell.ok), default=1.0)
        axis.set_xlim(0, ROOM_FOR_NUMBERS * largest)
        for row, cell in enumerate(group.cells):
            if not cell.ok:
                say_why_not(axis, row, cell)
            elif cell.bus_bandwidth is not None:
                index = backends.index(cell.line["backend"])
                axis.barh(row, cell.bus_bandwidth, 0.6, color=style.colour(index), hatch=style.hatch(index),
                          edgecolor="white", linewidth=0.5)
                axis.annotate(style.number(cell.bus_bandwidth), (cell.bus_bandwidth, row), xytext=(6, 0),
                              textcoords="offset points", va="center", fontsize="small")
    return fitted(figure, 0)
