# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind verdicts, for all cells of one number of launches per side at once; and how the launches of both sides lie in time, from
which the test follows.

A machine drifts: it warms, its memory fills, others come and go. Where one side ran before the other, drift is a difference of the sides
and no test can tell. Where the sides took turns it hits both alike. Launches say when they began, so this is seen:
- They took turns if the sides alternate often enough, and if neither tends to be the later one. ABBA, ABAB and nine of ten random orders
  do; AAAABBBBAAAABBBB does not. In the orders that pass, a drift of 12 % is taken for a slowdown in less than one of twenty campaigns.
- Pairs are launches that follow each other directly, on the same day.
- Campaigns of a history are nights (dlmb_statistics/nights.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Metric
from dlmb_launch.compare.verdict import ENOUGH_LAUNCHES, ENOUGH_LEFT, Evidence
from dlmb_results.cells import by_key
from dlmb_statistics import margins, nights, ranks

LATER_MOST = 0.5  # how far apart the chances may be that a launch of one side is the later and the earlier one
PAIR_APART = timedelta(days=1)

RANK_SUM, SIGNED_RANK, NIGHTS = "rank-sum", "signed-rank", "nights"
Columns = tuple[int, ...]


@dataclass(frozen=True)
class Arrangement:
    test: str
    in_turns: bool = True
    nights: tuple[tuple[str, tuple[int, ...]], ...] = ()  # past nights in order of time, with the places of their launches

    @property
    def confidence(self) -> float:
        return nights.CONFIDENCE if self.test == NIGHTS else ranks.CONFIDENCE

    def levels(self, values: np.ndarray) -> np.ndarray:
        """One column per past night: the median over its launches."""
        return np.column_stack([np.median(values[:, places], axis=1) for _, places in self.nights])

    def compared(self, baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, ...]:
        """One line per cell, one column per launch, in logarithms. Per cell: the difference, its interval, p that the candidate is
        larger, p that it is smaller."""
        if self.test == NIGHTS:
            return nights.estimate(self.levels(baseline), np.median(candidate, axis=1))
        if self.test == SIGNED_RANK:
            return (*ranks.paired_shift(candidate - baseline), *ranks.signed_rank(candidate - baseline))
        return (*ranks.shift(baseline, candidate), *ranks.rank_sum(baseline, candidate))


def arranged(baseline: Campaign, columns: Columns, candidate: Campaign, others: Columns, paired: bool, history: bool) -> Arrangement:
    """The arrangement of these launches, each side's in order of time."""
    if history:
        places = by_key(range(len(columns)), lambda place: baseline.launches[columns[place]].campaign)
        return Arrangement(NIGHTS, nights=tuple((name, tuple(each)) for name, each in places.items()))
    times = [baseline.launches[column].time for column in columns], [candidate.launches[column].time for column in others]
    pairs = paired and len(columns) >= ranks.ENOUGH_PAIRS and are_pairs(*times)
    return Arrangement(SIGNED_RANK if pairs else RANK_SUM, took_turns(*times))


def merged(times: list[str], others: list[str]) -> list[tuple[str, int, int]]:
    """All launches in order of time: when, which of its side, which side. Times are whole seconds; of one second both sides alternate."""
    return sorted((time, index, side) for side, of_side in enumerate((times, others)) for index, time in enumerate(of_side))


def took_turns(times: list[str], others: list[str]) -> bool:
    sides = [side for _, _, side in merged(times, others)]
    runs = 1 + sum(one != next_one for one, next_one in zip(sides, sides[1:]))
    later = float(np.mean([(two > one) - (two < one) for one in times for two in others]))
    return runs >= min(len(times), len(others)) / 2 + 1 and abs(later) < LATER_MOST


def are_pairs(times: list[str], others: list[str]) -> bool:
    """True: the k-th launches of both sides follow each other directly, for every k."""
    if len(times) != len(others):
        return False
    launches = merged(times, others)
    return all((one[1], one[2] + two[2]) == (two[1], 1) and apart(one[0], two[0]) <= PAIR_APART for one, two in zip(launches[::2], launches[1::2]))


def apart(earlier: str, later: str) -> timedelta:
    try:
        one, other = (datetime.fromisoformat(time.replace("Z", "+00:00")) for time in (earlier, later))
        return other - one
    except ValueError:  # no time of ours
        return timedelta.max


@dataclass
class EvidenceTable:
    """One entry per cell in every array; the names are those of Evidence."""

    columns: dict[str, np.ndarray]
    below_floor: np.ndarray
    enough: np.ndarray  # whether there are launches enough to decide
    own_difference: np.ndarray  # of odd from even rounds inside launches; no part of a verdict
    baseline: np.ndarray  # one line per cell, one column per launch: logarithms that grow as the metric gets worse
    candidate: np.ndarray
    arrangement: Arrangement

    def __len__(self) -> int:
        return len(self.below_floor)

    def row(self, index: int) -> Evidence:
        values = {name: float(column[index]) for name, column in self.columns.items()}
        optional = {name: None if np.isnan(values[name]) else values[name] for name in ("p99_ratio", "max_ratio")}
        return Evidence(**{**values, **optional}, confidence=self.arrangement.confidence, test=self.arrangement.test)


def worsening(values: np.ndarray, metric: Metric) -> np.ndarray:
    """Logarithms that grow as the metric gets worse."""
    logarithms = np.log(values)
    return logarithms if metric.worse_is_larger else -logarithms


@dataclass(frozen=True)
class Side:
    """Cells of one side that have the same number of launches."""

    campaign: Campaign
    rows: np.ndarray
    launches: int

    def table(self, name: str) -> np.ndarray:
        return self.campaign.table(self.rows, self.launches, name)

    def median(self, name: str) -> np.ndarray:
        return np.median(self.table(name), axis=1)

    def enough(self) -> np.ndarray:
        measured = self.launches + np.array([self.campaign.left_out[row] for row in self.rows.tolist()], dtype=int)
        return (measured >= ENOUGH_LAUNCHES) & (self.launches >= ENOUGH_LEFT)


def margins_of(isolated: np.ndarray, baseline_ns: np.ndarray, given: float | None) -> np.ndarray:
    """Per cell the share that was given, else 5 % or 3 %."""
    if given is not None:
        return np.full(len(baseline_ns), given)
    return np.where(isolated & (baseline_ns < margins.SHORT_NS), margins.SHARE_IF_SHORT, margins.SHARE)


def evidence(baseline: Side, candidate: Side, metric: Metric, given_margin: float | None, arrangement: Arrangement) -> EvidenceTable:
    one, other = (worsening(side.table(metric.name), metric) for side in (baseline, candidate))
    middle, low, high, p_worse, p_better = arrangement.compared(one, other)
    sample_ns = np.minimum(baseline.median("sample_ns"), candidate.median("sample_ns"))
    clock_step_ns = np.hstack([baseline.table("clock_step_ns"), candidate.table("clock_step_ns")]).max(axis=1)
    isolated = np.array([baseline.campaign.cells[row].mode == "isolated" for row in baseline.rows], dtype=bool)
    columns = {
        "ratio": np.exp(middle),
        "low": np.exp(low),
        "high": np.exp(high),
        "ratio_of_medians": np.exp(np.median(other, axis=1) - np.median(one, axis=1)),
        "margin": margins_of(isolated, baseline.median("median_ns"), given_margin),
        "resolution": margins.CLOCK_STEPS * clock_step_ns / np.maximum(sample_ns, 1.0),
        "p_worse": p_worse,
        "p_better": p_better,
        "baseline": baseline.median(metric.name),
        "candidate": candidate.median(metric.name),
        "p99_ratio": candidate.median("p99_ns") / baseline.median("p99_ns"),
        "max_ratio": candidate.median("max_ns") / baseline.median("max_ns"),
    }
    below_floor = np.maximum(baseline.median("below_floor"), candidate.median("below_floor")) > 0
    own_difference = np.median(np.abs(np.hstack([baseline.table("odd_to_even"), candidate.table("odd_to_even")]) - 1), axis=1)
    return EvidenceTable(columns, below_floor, baseline.enough() & candidate.enough(), own_difference, one, other, arrangement)
