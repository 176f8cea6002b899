# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How long requests took that arrived during an iteration: the share that was done within a time, loaded beside unloaded."""

from __future__ import annotations

import re

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Point, Points, left_out
from dlmb_plotting.results import Cell, Group, Results, grouped

PERCENTILE = re.compile(r"(\w+)_latency_p(\d+)")
WHOLE = "request"
SIDE_BY_SIDE = ("arrivals", "op-type")  # parameters of the curves of one chart
CAPTION = ("Share of the requests that were done within a time, from the arrival of each to its last byte on the last rank, over all iterations with phases. Points "
           "are percentiles of the result lines, 100 % the slowest request; lines join them.")


def percentiles_of(cell: Cell) -> dict[str, list[tuple[int, float]]]:
    """By what was waited for ("request", "first_layer"): percents and nanoseconds, rising."""
    found: dict[str, list[tuple[int, float]]] = {}
    for name, value in cell.latencies_ns.items():
        parts = PERCENTILE.fullmatch(name)
        if parts:
            found.setdefault(parts[1], []).append((int(parts[2]), value))
    return {name: sorted(points) for name, points in found.items()}


def series_name(cell: Cell, group: Group) -> str:
    """What tells the curves of a chart apart."""
    parameters = dict(cell.parameters)
    ways = {dict(other.parameters).get("op-type") for other in group.cells}
    more = [str(parameters.get("op-type"))] if len(ways) > 1 else []
    return ", ".join([cell.method_name, str(parameters.get("arrivals", "arrivals not known")), *more])


def charts_of(group: Group, limits: Limits) -> list[Points]:
    """One of whole requests, and one of each phase that was waited for."""
    cells = group.cells[: limits.series]
    curves = [(series_name(cell, group), percentiles_of(cell)) for cell in cells]
    charts = []
    for what in sorted({name for _, points in curves for name in points}, key=lambda name: (name != WHOLE, name)):
        longest = max(ns for _, points in curves for _, ns in points.get(what, []))
        unit, size = style.time_unit(longest)
        series = {name: [Point(ns / size, percent, percent, percent, f"{name}: {percent} % within {style.number(ns / size)} {unit}") for percent, ns in points[what]]
                  for name, points in curves if what in points}
        title = group.title if what == WHOLE else f"time to {what.replace('_', ' ')}"
        charts.append(Points(title, Axis(f"{'latency of a request' if what == WHOLE else title} ({unit})", log=True), Axis("share of the requests (%)"), series))
    return charts


def plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    groups = grouped([cell for cell in cells if cell.ok and percentiles_of(cell)], SIDE_BY_SIDE)
    shown = groups[: limits.charts]
    charts = [chart for group in shown for chart in charts_of(group, limits)]
    drawn = [cell for group in shown for cell in group.cells[: limits.series]]
    return [Plot(f"{pattern}.requests", f"{pattern}: latency of requests", CAPTION, charts,
                 left_out(len(drawn), sum(len(group.cells) for group in groups), "cells"), results.launches_of(drawn), palette="requests")]
