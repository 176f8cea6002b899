# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicted time and share of the injection bandwidth over ranks, topologies side by side."""

from __future__ import annotations

from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Point, Points, left_out

CAPTION = ("Lower bounds: what the busiest node, the busiest link and the longest chain of messages need. All topologies give a node the same injection "
           "bandwidth, {bandwidth:g} GB/s; ranks are placed {placement}. The share is what the busiest node gets of it.")


def plots(scalings: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    return [plot_of(name, document, limits) for name, document in scalings.items() if document["points"]]


def plot_of(name: str, document: dict[str, Any], limits: Limits) -> Plot:
    families = list(dict.fromkeys(point["family"] for point in document["points"]))
    shown = families[: limits.series]
    ranks = sorted({point["ranks"] for point in document["points"]})
    unit, size = style.time_unit(1e3 * max(point["time_us"] for point in document["points"]))
    times: dict[str, list[Point]] = {family: [] for family in shown}
    shares: dict[str, list[Point]] = {family: [] for family in shown}
    for point in sorted(document["points"], key=lambda each: each["ranks"]):
        if point["family"] in shown:
            time = 1e3 * point["time_us"] / size
            text = f"{point['family']}, {point['ranks']} ranks: {style.number(time)} {unit}, share {point['share']:.4f}, limited by {point['limit']}"
            times[point["family"]].append(Point(point["ranks"], time, time, time, text))
            shares[point["family"]].append(Point(point["ranks"], point["share"], point["share"], point["share"], f"{text}, {point['busiest_link']}"))
    x = Axis("ranks", log=True, ticks=[(float(count), str(count)) for count in ranks])
    positive = all(point.y > 0 for points in times.values() for point in points)
    charts = [Points("time of an iteration", x, Axis(f"at least ({unit})", log=positive), times),
              Points("injection bandwidth of the busiest node", x, Axis("share", log=True), shares)]
    return Plot(f"{name}.scaling", f"{document['scaling']} scaling: {document['traffic']}",
                CAPTION.format(bandwidth=document["bandwidth_GBps"], placement=document["placement"]), list(charts),
                left_out(len(shown), len(families), "topologies"), palette="topologies")
