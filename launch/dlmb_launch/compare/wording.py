# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How numbers, cells and verdicts are worded for people, in every output alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dlmb_launch.compare import verdict as verdicts
from dlmb_launch.compare.campaign import Cell, Metric
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import ENOUGH_LAUNCHES, FEWEST_LAUNCHES, State, Verdict
from dlmb_results.names import parts_of, plural
from dlmb_statistics.robust import geometric_mean

OPERATION = "p.operation"
TIME_UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0))

REASONS = {
    verdicts.FEW_LAUNCHES: f"fewer than {ENOUGH_LAUNCHES} launches on a side",
    verdicts.WIDE: "the interval is too wide: more launches help",
    verdicts.BELOW_MARGIN: "a difference smaller than the margin",
    verdicts.CLOCK: "a difference of less than three steps of the clock",
    verdicts.BELOW_FLOOR: "too short for the clock; shown, not gated",
    verdicts.AMONG_MANY: "beyond the margin, but among so many cells some are by chance: measure these again",
    verdicts.NOT_IN_TURNS: "the sides were not measured in turns",
    verdicts.NIGHTS_DIFFER: "nights differ by more than the margin",
}


def quantity(value: float, metric: Metric) -> str:
    """Three digits, without an exponent."""
    unit, size = metric.unit, 1.0
    if unit == "ns":
        unit, size = next((each for each in TIME_UNITS if value >= each[1]), TIME_UNITS[-1])
    scaled = value / size
    digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2 if scaled >= 1 else 3
    return f"{scaled:.{digits}f} {unit}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


class Figures(NamedTuple):
    """The numbers of one verdict, as texts; empty where nothing tells how far launches differ."""

    ratio: str
    interval: str
    margin: str
    baseline: str
    candidate: str


def figures(verdict: Verdict, metric: Metric) -> Figures | None:
    evidence = verdict.evidence
    found = evidence or verdict.bare_ratio
    if found is None:
        return None
    interval, margin = (f"[{evidence.low:.3f}, {evidence.high:.3f}]", percent(evidence.margin)) if evidence else ("", "")
    return Figures(f"{found.ratio:.3f}", interval, margin, quantity(found.baseline, metric), quantity(found.candidate, metric))


def reason(verdict: Verdict) -> str:
    return REASONS.get(verdict.reason, verdict.reason)


def sentence(verdict: Verdict, metric: Metric) -> str:
    """One verdict without its cell."""
    text = verdict.state.value + (f" ({reason(verdict)})" if verdict.reason else "")
    found = figures(verdict, metric)
    if found is None:
        return text
    ratio = f"{found.ratio} {found.interval}".strip()
    return f"{text}: {ratio} times worse, {f'margin {found.margin}, ' if found.margin else ''}{found.baseline} to {found.candidate}"


def short_names(cells: Sequence[Cell]) -> tuple[str, dict[str, str]]:
    """The keys in which these cells differ, and by cell id its values of them: what tells them apart. The operation is always there."""
    split = {cell.id: parts_of(cell.name) for cell in cells}
    keys = sorted({key for each in split.values() for key in each})
    differing = [key for key in keys if key == OPERATION or len({each.get(key) for each in split.values()}) > 1] or keys[:1]
    return "/".join(differing), {cell_id: "/".join(each.get(key, "-") for key in differing) for cell_id, each in split.items()}


def interval(confidences: Iterable[float]) -> str:
    return " and ".join(f"{100 * confidence:.0f} %" for confidence in sorted(set(confidences))) + " interval"


def intervals(comparison: Comparison) -> str:
    return interval([verdict.evidence.confidence for verdict in comparison.verdicts if verdict.evidence] or [0.95])


def launches(comparison: Comparison) -> str:
    baseline, candidate = (len(side.launches) for side in (comparison.baseline, comparison.candidate))
    if not comparison.rules.history:
        return f"{baseline} baseline and {candidate} candidate launches"
    nights = len({launch.campaign for launch in comparison.baseline.launches})
    return f"{candidate} launches, against {baseline} of {plural(nights, 'night')} of the history"


def not_in_turns(comparison: Comparison) -> str:
    """Why cells have no verdict that ends a job, and what to do; empty: they took turns."""
    number = sum(verdict.reason == verdicts.NOT_IN_TURNS for verdict in comparison.verdicts)
    if not number:
        return ""
    return (
        f"{plural(number, 'cell')} without a verdict: the launches of the two sides did not take turns, so what drifts on the machine looks like a "
        "difference. Measure both sides in turns (dlmb_sweep does), or compare campaigns of different days with --history"
    )


def counts(comparison: Comparison) -> str:
    found = [f"{comparison.counts[state]} {state.value}" for state in State if comparison.counts[state]]
    return ", ".join(found) or "no cell"


def bare_ratios(comparison: Comparison) -> str:
    """The line of all cells that have a ratio and no verdict; empty: there is none."""
    ratios = [verdict.bare_ratio.ratio for verdict in comparison.verdicts if verdict.bare_ratio is not None]
    if not any(ratio > 0 for ratio in ratios):
        return ""
    mean = geometric_mean(ratio for ratio in ratios if ratio > 0)
    return f"no verdict on {plural(len(ratios), 'cell')}, by the mean where their definition has one: ratios of {mean:.3f} in geometric mean, which another launch may change"


def too_few_launches(comparison: Comparison) -> str:
    """The line of what is missing where no cell could be judged; empty where one was."""
    few = [verdict for verdict in comparison.verdicts if verdict.reason == verdicts.FEW_LAUNCHES and verdict.evidence is None]
    if comparison.judged or not few:
        return ""
    most = max(few, key=lambda verdict: min(verdict.baseline_launches, verdict.candidate_launches))
    return (
        f"too few launches: the baseline has {most.baseline_launches} and the candidate {most.candidate_launches} per cell; "
        f"{FEWEST_LAUNCHES} of each are needed to screen, {ENOUGH_LAUNCHES} of each to decide"
    )
