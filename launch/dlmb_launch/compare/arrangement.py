# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the launches of both sides lie in time, and which test follows from it.

A machine drifts: it warms, its memory fills, others come and go. Where one side ran before the other, drift is a difference of the sides
and no test can tell. Where the sides took turns it hits both alike. Launches say when they began, so this is seen:
- They took turns if the sides alternate often enough, and if neither tends to be the later one. ABBA, ABAB and nine of ten random orders
  do; AAAABBBBAAAABBBB does not. In the orders that pass, a drift of 12 % is taken for a slowdown in less than one of twenty campaigns.
- Pairs are launches that follow each other directly, on the same day.
- Campaigns of a history are nights (statistics/nights.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.statistics import nights, rank_sum, signed_rank

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
        return nights.CONFIDENCE if self.test == NIGHTS else rank_sum.CONFIDENCE

    def levels(self, values: np.ndarray) -> np.ndarray:
        """One column per past night: the median over its launches."""
        return np.column_stack([np.median(values[:, places], axis=1) for _, places in self.nights])

    def compared(self, baseline: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, ...]:
        """One line per cell, one column per launch, in logarithms. Per cell: the difference, its interval, p that the candidate is
        larger, p that it is smaller."""
        if self.test == NIGHTS:
            return nights.estimate(self.levels(baseline), np.median(candidate, axis=1))
        if self.test == SIGNED_RANK:
            return (*signed_rank.estimate(candidate - baseline), *signed_rank.p_values(candidate - baseline))
        return (*rank_sum.estimate(baseline, candidate), *rank_sum.p_values(baseline, candidate))


def arranged(baseline: Campaign, columns: Columns, candidate: Campaign, others: Columns, paired: bool, history: bool) -> Arrangement:
    """Of these launches, each side's in order of time."""
    if history:
        places: dict[str, list[int]] = {}
        for place, column in enumerate(columns):
            places.setdefault(baseline.launches[column].campaign, []).append(place)
        return Arrangement(NIGHTS, nights=tuple((name, tuple(each)) for name, each in places.items()))
    times = [baseline.launches[column].time for column in columns], [candidate.launches[column].time for column in others]
    pairs = paired and len(columns) >= signed_rank.ENOUGH_PAIRS and are_pairs(*times)
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
    """Whether the k-th launches of both sides follow each other directly, for every k."""
    if len(times) != len(others):
        return False
    launches = merged(times, others)
    return all(
        (one[1], one[2] + two[2]) == (two[1], 1) and apart(one[0], two[0]) <= PAIR_APART for one, two in zip(launches[::2], launches[1::2])
    )


def apart(earlier: str, later: str) -> timedelta:
    try:
        return moment(later) - moment(earlier)
    except ValueError:  # no time of ours
        return timedelta.max


def moment(time: str) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00"))
