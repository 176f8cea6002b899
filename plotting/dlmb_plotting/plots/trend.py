# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How cells change over campaigns: by time, named by revision."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Point, Points
from dlmb_plotting.results import Cell, Results, short_names
from dlmb_results.cells import by_key
from dlmb_results.names import named, plural
from dlmb_statistics.robust import geometric_mean

CAPTION = ("Median over the launches of a campaign, divided by that of the first campaign that has the cell; above 1 is slower. Whiskers: smallest and largest launch, cut a quarter above the highest median. "
           "A line per cell, those that changed most; it goes on where a library or a variable changed. 'all cells' is the geometric mean of the cells that every campaign here has. Campaigns in order of time; "
           "dlmb_compare, not this picture, says whether a change is one.")
ALL = "all cells"
LONGEST_WHISKER = 1.25  # over the highest median of the picture


def plots(results: Results, pattern: str, cells: list[Cell], limits: Limits) -> list[Plot]:
    """Nothing unless some cell was measured in two campaigns."""
    lines = joined(results, [cell for cell in cells if cell.id in results.visits])
    times = {identifier: merged(by_campaign(results, cell) for cell in line) for identifier, line in lines.items()}
    times = {identifier: campaigns for identifier, campaigns in times.items() if len(campaigns) > 1}
    if not times:
        return []
    begin: dict[str, str] = {}
    revision: dict[str, str] = {}
    for launch in sorted(results.launches.values(), key=lambda launch: launch.time):
        begin.setdefault(launch.campaign, launch.time)
        revision.setdefault(launch.campaign, launch.revision)
    used = [campaign for campaign in begin if any(campaign in campaigns for campaigns in times.values())]
    labels = distinct_labels([(campaign, begin[campaign], revision[campaign]) for campaign in used])
    ticks = [(float(index), label) for index, label in enumerate(labels)]
    shown = sorted(times, key=lambda identifier: -change(times[identifier]))[: limits.series - 1]
    missing = f"the {len(shown)} cells that changed most of {len(times)} are shown" if len(shown) < len(times) else ""
    launches = frozenset(launch for identifier in times for cell in lines[identifier] for launch, _ in results.visits[cell.id])
    full = {identifier: named(identifier, pattern, dict(lines[identifier][0].parameters)) for identifier in shown}
    return [Plot(f"{pattern}.trend", f"{pattern}: trend over campaigns", CAPTION, [chart(times, short_names(full), used, ticks)], missing,
                 launches, palette="cells")]


def distinct_labels(campaigns: list[tuple[str, str, str]]) -> list[str]:
    """Of campaigns, begins and revisions: day and revision, with the time of day where that is not enough, else with the campaign."""
    forms = (lambda campaign, begin, revision: f"{begin[:10]} {revision[:12] or campaign}",
             lambda campaign, begin, revision: f"{begin[:10]} {begin[11:16]} {revision[:12] or campaign}",
             lambda campaign, begin, revision: f"{begin[:10]} {begin[11:19]} {campaign}")
    for form in forms:
        labels = [form(*each) for each in campaigns]
        if len(set(labels)) == len(labels):
            break
    return labels


def joined(results: Results, cells: list[Cell]) -> dict[str, list[Cell]]:
    """By the id of the line: its cells. Where a library or a variable changed between campaigns, the line goes on; where one campaign has
    several environments, each has a line."""
    lines = by_key(cells, lambda cell: cell.id.removesuffix(f"/environment={cell.environment}") if cell.environment else cell.id)
    found: dict[str, list[Cell]] = {}
    for identifier, line in lines.items():
        campaigns = [campaign for cell in line for campaign in by_campaign(results, cell)]
        found |= {identifier: line} if len(set(campaigns)) == len(campaigns) else {cell.id: [cell] for cell in line}
    return found


def merged(parts: Iterable[dict[str, list[float]]]) -> dict[str, list[float]]:
    """The parts as one. No campaign is in two of them."""
    return {campaign: times for part in parts for campaign, times in part.items()}


def by_campaign(results: Results, cell: Cell) -> dict[str, list[float]]:
    campaigns: dict[str, list[float]] = {}
    for launch, time_ns in results.visits[cell.id]:
        if launch in results.launches:
            campaigns.setdefault(results.launches[launch].campaign, []).append(time_ns)
    return campaigns


def change(campaigns: dict[str, list[float]]) -> float:
    """Largest over smallest median."""
    medians = [median(times) for times in campaigns.values()]
    return max(medians) / min(medians)


def chart(times: dict[str, dict[str, list[float]]], names: dict[str, str], used: list[str], ticks: list[tuple[float, str]]) -> Points:
    """names: of the cells that are shown."""
    series = {ALL: mean_points([each for each in times.values() if len(each) == len(used)], used)}
    for identifier in sorted(names, key=lambda identifier: -change(times[identifier])):
        campaigns = times[identifier]
        base = median(next(campaigns[campaign] for campaign in used if campaign in campaigns))
        series[names[identifier]] = [
            Point(float(index), median(here) / base, min(here) / base, max(here) / base, f"{names[identifier]}: {style.number(median(here) / base)}")
            for index, campaign in enumerate(used) if (here := campaigns.get(campaign))]
    # A launch that stalled may be thousands of times slower: its whisker must not flatten every line.
    end = LONGEST_WHISKER * max(point.y for points in series.values() for point in points)
    series = {name: [point._replace(high=min(point.high, end)) for point in points] for name, points in series.items()}
    y = Axis("time / first time (above 1 is slower)", reference=1.0)
    return Points(f"{plural(len(times), 'cell')} in {len(used)} campaigns", Axis("campaign (date and revision)", ticks=ticks), y,
                  {name: points for name, points in series.items() if points})


def mean_points(cells: list[dict[str, list[float]]], used: list[str]) -> list[Point]:
    points = []
    for index, campaign in enumerate(used if cells else ()):
        mean = geometric_mean(median(each[campaign]) / median(each[used[0]]) for each in cells)
        points.append(Point(float(index), mean, mean, mean, f"{ALL} ({len(cells)}): {style.number(mean)}"))
    return points
