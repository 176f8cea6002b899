# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Medians and intervals over a number that differs between cells, one line per backend and method: time and bandwidth by size, and
what the imbalance of the traffic costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from statistics import mean

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Point, Points, evenly, left_out
from dlmb_plotting.results import Cell, Group, Results, beside_others, grouped, interval_caption, setting
from dlmb_results.cells import by_key

SIZE_PARAMETERS = ("message-size", "tokens", "batch", "sequence", "micro-batch-size")  # those that make the same traffic larger
SKEW_PARAMETERS = ("skew", "placement", "sharding")  # those that distribute the same traffic differently
INTERVALS = "Whiskers: 95 % interval of the median within its launch."
SIZE_CAPTION = "{} Size: payload given to the library per rank and iteration, mean over ranks, self included."
IMBALANCE_CAPTION = ("One point per cell; cells of one chart differ in how the same amount of traffic is distributed. Imbalance: bytes of the "
                     "busiest rank over the mean of ranks, the larger of sent and received. {}")
DRAWS_CAPTION = ("Rows that the busiest rank receives over the mean of ranks, in each draw of the routing; iteration i uses draw i modulo their number. "
                 "Only traffic whose imbalance moves: it is the same for all backends and methods.")


def groups_that_vary(cells: list[Cell], without: Collection[str], number: Callable[[Cell], float]) -> list[Group]:
    """Groups in which at least two cells that ran differ in the number."""
    groups = map(beside_others, grouped([cell for cell in cells if cell.ok], without))
    return [group for group in groups if len({number(cell) for cell in group.cells}) > 1]


def cells_of(groups: list[Group]) -> list[Cell]:
    return [cell for group in groups for cell in group.cells]


def drawn_by_size(cells: list[Cell]) -> set[str]:
    """The ids of cells of one pattern that are points of a line over sizes."""
    return {cell.id for cell in cells_of(groups_that_vary([cell for cell in cells if cell.payload_bytes > 0], SIZE_PARAMETERS, per_rank))}


def chart(group: Group, x: Axis, y: Axis, limits: Limits, point: Callable[[Cell], Point], joined: bool = True) -> Points:
    methods = by_key(group.cells, lambda cell: cell.method_name)
    title, shown = group.title, list(methods)
    if len(methods) > limits.series:
        title += f" (the fastest {limits.series} of {len(methods)} methods)"
        shown = sorted(sorted(methods, key=lambda method: slowness(methods[method], group))[: limits.series])
    return Points(title, x, y, {method: sorted(map(point, methods[method])) for method in shown}, joined)


def slowness(cells: list[Cell], group: Group) -> float:
    """Mean over its cells of the logarithm of their time over the best of that setting."""
    best: dict[object, float] = {}
    for cell in group.cells:
        best[setting(cell)] = min(cell.median_ns, best.get(setting(cell), math.inf))
    return mean(math.log(cell.median_ns / best[setting(cell)]) if best[setting(cell)] > 0 else math.inf for cell in cells)


def time_axis(group: Group) -> tuple[Axis, float]:
    """In the unit of the middle of the values, because the axis is logarithmic."""
    times = sorted(cell.median_ns for cell in group.cells)
    unit, size = style.time_unit(times[len(times) // 2])
    statistics = " or ".join(sorted({cell.statistic for cell in group.cells}, reverse=True))
    return Axis(f"time of one iteration, {statistics} ({unit})", log=True), size


def per_rank(cell: Cell) -> float:
    return cell.payload_bytes / max(1, cell.ranks)


def plot_of(results: Results, name: str, title: str, caption: str, groups: list[Group], limits: Limits, draw: Callable[[Group, Limits], Points]) -> Plot:
    """A chart of each group that fits and has points."""
    shown = evenly(groups, limits.charts)
    charts = [chart for chart in (draw(group, limits) for group in shown) if chart.series]
    return Plot(name, title, caption.format(interval_caption(cells_of(shown), INTERVALS)), charts, left_out(len(shown), len(groups), "settings"),
                results.launches_of(cells_of(shown)))


def size_plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    groups = groups_that_vary([cell for cell in cells if cell.payload_bytes > 0], SIZE_PARAMETERS, per_rank)
    return [plot_of(results, f"{pattern}.sizes", f"{pattern}: time by size", SIZE_CAPTION, groups, limits, time_chart),
            plot_of(results, f"{pattern}.size_bandwidth", f"{pattern}: bus bandwidth by size", SIZE_CAPTION, groups, limits, bandwidth_chart)]


def timing_plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    """The same operation under several definitions of its time (docs/definitions.md), one line per definition."""
    # The state of the caches is a part of the definition: osu has one set of buffers.
    named = [cell._replace(method=f"{cell.method}, {cell.mode}", mode="", cache="") for cell in cells if cell.timed and cell.payload_bytes > 0]
    groups = [group for group in groups_that_vary(named, SIZE_PARAMETERS, per_rank) if len({cell.method.rpartition(", ")[2] for cell in group.cells}) > 1]
    return [plot_of(results, f"{pattern}.timings", f"{pattern}: time by its definition", SIZE_CAPTION, groups, limits, time_chart)]


def size_axis(group: Group) -> Axis:
    sizes = [per_rank(cell) for cell in group.cells]
    return Axis("payload per rank and iteration (bytes)", log=True, ticks=style.byte_ticks(min(sizes), max(sizes)))


def time_point(cell: Cell, x: float, what: str, unit: float) -> Point:
    return Point(x, cell.median_ns / unit, cell.low_ns / unit, cell.high_ns / unit, f"{cell.method_name}{what}: {style.number(cell.median_ns / unit)}")


def time_chart(group: Group, limits: Limits) -> Points:
    timed = Group(group.title, [cell for cell in group.cells if cell.timed])
    if not timed.cells:
        return Points(group.title, Axis(""), Axis(""), {})
    axis, unit = time_axis(timed)
    return chart(timed, size_axis(timed), axis, limits, lambda cell: time_point(cell, per_rank(cell), f", {style.byte_text(per_rank(cell))}", unit))


def bandwidth_chart(group: Group, limits: Limits) -> Points:
    """The interval is that of the time: bytes are the same in every iteration."""
    measured = Group(group.title, [cell for cell in group.cells if cell.bus_bandwidth is not None])

    def point(cell: Cell) -> Point:
        value = cell.bus_bandwidth or 0.0
        text = f"{cell.method_name}, {style.byte_text(per_rank(cell))}: {style.number(value)} GB/s"
        low, high = (value * cell.median_ns / end if end > 0 else value for end in (cell.high_ns, cell.low_ns))
        return Point(per_rank(cell), value, low, high, text)

    return chart(measured, size_axis(group), Axis("bus bandwidth (10⁹ bytes per second)", log=True), limits, point)


def imbalance(cell: Cell) -> float:
    return round(cell.imbalance, 3)


def imbalance_plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    groups = groups_that_vary([cell for cell in cells if cell.timed], SKEW_PARAMETERS, imbalance)
    moving = grouped([cell for cell in cells if cell.ok and of_draws(cell, "max_mean_rank")], ("skew",))
    shown = evenly(moving, limits.charts)
    return [plot_of(results, f"{pattern}.imbalance", f"{pattern}: imbalance against time", IMBALANCE_CAPTION, groups, limits, imbalance_chart),
            Plot(f"{pattern}.imbalance_by_draw", f"{pattern}: imbalance by draw", DRAWS_CAPTION, [draws_chart(group, limits) for group in shown],
                 left_out(len(shown), len(moving), "settings"), palette="skews")]


def of_draws(cell: Cell, name: str) -> list[float]:
    """A statistic of each draw; empty where the record has a mean alone."""
    values: list[float] = []
    while (value := cell.statistics.get(f"{name}.draw_{len(values)}")) is not None:
        values.append(value)
    return values


def draws_chart(group: Group, limits: Limits) -> Points:
    by_skew: dict[str, Cell] = {}
    for cell in group.cells:
        by_skew.setdefault(str(dict(cell.parameters).get("skew", "")), cell)
    shown = list(by_skew)[: limits.series]
    title = group.title + (f" (the first {len(shown)} of {len(by_skew)} skews)" if len(shown) < len(by_skew) else "")
    series: dict[str, list[Point]] = {}
    for skew in shown:
        cell = by_skew[skew]
        hot = dict(enumerate(of_draws(cell, "hot_expert")))
        series[skew] = []
        for draw, value in enumerate(of_draws(cell, "max_mean_rank")):
            expert = f", expert {hot[draw]:g} is hot" if draw in hot else ""
            series[skew].append(Point(draw, value, value, value, f"{skew}, draw {draw}: {style.number(value)}{expert}"))
    return Points(title, Axis("draw"), Axis("imbalance (busiest rank / mean rank, no unit)"), series)


def imbalance_chart(group: Group, limits: Limits) -> Points:
    axis, unit = time_axis(group)

    def point(cell: Cell) -> Point:
        return time_point(cell, imbalance(cell), f" {dict(cell.parameters).get('skew', '')}, imbalance {imbalance(cell):g}", unit)

    return chart(group, Axis("imbalance (busiest rank / mean rank, no unit)"), axis, limits, point, joined=False)
