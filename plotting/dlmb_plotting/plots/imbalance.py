# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Imbalance of the traffic against time: what skew costs, by backend and method."""

from __future__ import annotations

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Point, Points, evenly, left_out
from dlmb_plotting.groups import Group
from dlmb_plotting.plots import curves
from dlmb_plotting.results import Cell, Results

SKEW_PARAMETERS = ("skew", "placement", "sharding")  # those that deal the same amount out differently
CAPTION = ("One point per cell; cells of one chart differ in how the same amount of traffic is dealt out. Imbalance: bytes of the "
           "busiest rank over the mean of ranks, the larger of sent and received. Whiskers: 95 % interval of the median.")


def imbalance(cell: Cell) -> float:
    return round(cell.imbalance, 3)


def plots(results: Results, limits: Limits) -> list[Plot]:
    found: list[Plot] = []
    for pattern, cells in results.patterns().items():
        groups = curves.groups_that_vary(cells, SKEW_PARAMETERS, imbalance)
        if groups:
            shown = evenly(groups, limits.charts)
            found.append(Plot(f"{pattern}.imbalance", f"{pattern}: imbalance against time", CAPTION,
                              [chart(group, limits) for group in shown], left_out(len(shown), len(groups), "settings")))
    return found


def chart(group: Group, limits: Limits) -> Points:
    axis, unit = curves.time_axis(group)

    def point(cell: Cell) -> Point:
        skew = dict(cell.parameters).get("skew", "")
        text = f"{cell.way} {skew}, imbalance {imbalance(cell):g}: {style.number(cell.median_ns / unit)}"
        return Point(imbalance(cell), cell.median_ns / unit, cell.low_ns / unit, cell.high_ns / unit, text)

    return curves.chart(group, Axis("imbalance (busiest rank / mean rank, no unit)"), axis, limits, point, joined=False)
