# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From numbers to states. A regression has to be significant among all cells, to have an interval that does not hold 1, and to matter.

Which of many cells are significant follows Benjamini and Hochberg (1995). scipy.stats.false_discovery_control does the same from scipy
1.11 on; Debian 12 has 1.10.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlmb_launch.compare.arrangement import NIGHTS
from dlmb_launch.compare.evidence import EvidenceTable
from dlmb_launch.compare.verdict import (
    AMONG_MANY,
    BELOW_FLOOR,
    BELOW_MARGIN,
    CLOCK,
    FEW_LAUNCHES,
    NIGHTS_DIFFER,
    NOT_IN_TURNS,
    WIDE,
    State,
)

RATE = 0.05  # expected share of false ones among those found

SUSPICIOUS = 0.05  # p value of a screening cell
Judged = tuple[State, str]


def significant(p: np.ndarray) -> np.ndarray:
    """Those with p at most the largest p(i) <= i / m * RATE, i counted from 1 in ascending order."""
    ascending = np.sort(p)
    under = ascending <= RATE * np.arange(1, len(p) + 1) / len(p)
    return p <= ascending[np.flatnonzero(under)[-1]] if under.any() else np.zeros(len(p), dtype=bool)


def decide(tables: Sequence[EvidenceTable]) -> list[list[Judged]]:
    """State and reason of every cell.

    Cells with too few launches, or whose sides were not measured in turns, are screened: they are no part of the family that false
    discoveries are controlled in.
    """
    family = [~table.below_floor & table.enough & table.arrangement.in_turns for table in tables]
    worse, better = (among_family(tables, family, name) for name in ("p_worse", "p_better"))
    return [
        [judge(table, index, bool(worse[at][index]), bool(better[at][index])) for index in range(len(table))]
        for at, table in enumerate(tables)
    ]


def among_family(tables: Sequence[EvidenceTable], family: list[np.ndarray], name: str) -> list[np.ndarray]:
    """Per table, which cells are significant by that p value."""
    found = [np.zeros(len(table), dtype=bool) for table in tables]
    together = [table.columns[name][members] for table, members in zip(tables, family)]
    if sum(map(len, together)):
        marks = significant(np.concatenate(together))
        for members, marked, some in zip(family, found, np.split(marks, np.cumsum([len(part) for part in together])[:-1])):
            marked[members] = some
    return found


def judge(table: EvidenceTable, index: int, is_worse: bool, is_better: bool) -> Judged:
    ratio, low, high, margin, resolution, p_worse = (
        float(table.columns[name][index]) for name in ("ratio", "low", "high", "margin", "resolution", "p_worse")
    )
    if table.below_floor[index]:
        return State.INCONCLUSIVE, BELOW_FLOOR
    screened = NOT_IN_TURNS if not table.arrangement.in_turns else "" if table.enough[index] else FEW_LAUNCHES
    needed = max(margin, resolution)
    # The tests are one-sided at 5 %. The interval of launches leaves 2.5 % on each side: the stricter of both is what the reader sees.
    is_worse, is_better = is_worse and low > 1, is_better and high < 1
    if is_worse and ratio >= 1 + needed:
        return State.REGRESSED, ""
    if is_better and ratio <= 1 / (1 + needed):
        return State.IMPROVED, ""
    # Only the margin that was stated makes two sides the same; what else widens it leaves the question open.
    if low >= 1 / (1 + margin) and high <= 1 + margin and screened != NOT_IN_TURNS:
        return State.SAME, ""
    if screened:
        suspect = p_worse <= SUSPICIOUS and ratio >= 1 + needed
        return State.SUSPECT if suspect else State.INCONCLUSIVE, screened
    if low > 1 + needed:
        return State.SUSPECT, AMONG_MANY
    if high < 1 / (1 + needed):
        return State.INCONCLUSIVE, AMONG_MANY
    if is_worse or is_better:
        return State.INCONCLUSIVE, BELOW_MARGIN if 1 / (1 + margin) < ratio < 1 + margin else CLOCK
    return State.INCONCLUSIVE, NIGHTS_DIFFER if table.arrangement.test == NIGHTS else WIDE
