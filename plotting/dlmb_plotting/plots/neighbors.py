# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How much each of two plans that run at the same time is slowed down by the other one, and traffic by other work of its ranks (--beside)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Mark, Plot, Rows, left_out
from dlmb_plotting.results import Cell, Results, traffic

OVERLAY = "overlay"  # the parameter of dlmb_replay: names of both plans
BETWEEN = " + "
SIDES = ("main", "beside")
NO_LOAD = "none"
CAPTION = ("Each row is a plan, its neighbour, and the backend: the end of its last phase beside the neighbour over its time alone; or traffic and a load beside "
           "its ranks: its median with the load over the one without. Whiskers: the ends of both 95 % intervals against each other. 1: the neighbour is not "
           "felt.")


class Slowdown(NamedTuple):
    victim: str
    neighbor: str
    method: str
    ratio: float
    low: float
    high: float

    @property
    def row(self) -> str:
        return f"{self.victim} beside {self.neighbor}, {self.method}"


def slowdowns_of(cell: Cell) -> Iterator[Slowdown]:
    """None of a cell whose parts were not measured alone."""
    plans = [Path(name).stem for name in str(dict(cell.parameters).get(OVERLAY, "")).split(BETWEEN)]
    if len(plans) != len(SIDES):
        return
    for side, victim, neighbor in zip(SIDES, plans, reversed(plans)):
        ratio = cell.statistics.get(f"{side}_slowdown")
        if ratio is not None:
            ends = (cell.statistics.get(f"{side}_slowdown_{end}", ratio) for end in ("low", "high"))
            yield Slowdown(victim, neighbor, cell.method_name, ratio, *ends)


def beside_loads(cells: list[Cell]) -> Iterator[tuple[Cell, Slowdown]]:
    """Slowdowns of cells that were measured without the load, too."""
    alone = {cell.id: cell for cell in cells if cell.timed and cell.beside == NO_LOAD and cell.low_ns > 0}
    for cell in cells:
        other = alone.get("/".join(part for part in cell.id.split("/") if not part.startswith("beside=")))
        if cell.timed and cell.beside != NO_LOAD and other:
            parameters = dict(cell.parameters)
            size = style.byte_text(float(parameters["message-size"])) if "message-size" in parameters else ""
            victim = " ".join(filter(None, (cell.preset, traffic(parameters) or cell.pattern, size)))
            ratios = (cell.median_ns / other.median_ns, cell.low_ns / other.high_ns, cell.high_ns / other.low_ns)
            yield cell, Slowdown(victim, f"{cell.beside} load", cell.method_name, *ratios)


def plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    with_ratio = [(cell, slowdown) for cell in cells if cell.ok for slowdown in slowdowns_of(cell)]
    with_ratio.sort(key=lambda each: (each[1].victim, each[1].neighbor, each[1].method))
    with_ratio += beside_loads(cells)
    if not with_ratio:
        return []
    shown = with_ratio[: limits.rows]
    chart = Rows("slow-down by a neighbour", [slowdown.row for _, slowdown in shown], Axis("time beside the neighbour / time alone", reference=1.0))
    for row, (_, slowdown) in enumerate(shown):
        ratio = style.number(slowdown.ratio)
        text = f"{slowdown.row}: {ratio} ({style.number(slowdown.low)} to {style.number(slowdown.high)})"
        chart.marks.append(Mark(row, slowdown.ratio, slowdown.low, slowdown.high, slowdown.method, text))
        chart.ends[row] = ratio
    return [Plot(f"{pattern}.neighbors", f"{pattern}: slow-down by a neighbour", CAPTION, [chart],
                 left_out(len(shown), len(with_ratio), "rows"), results.launches_of([cell for cell, _ in shown]))]
