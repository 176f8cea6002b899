# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on one cell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dlmb_launch.compare.campaign import Cell

FEWEST_LAUNCHES = 5  # per side; below, no interval of useful width exists
ENOUGH_LAUNCHES = 8  # per side; below, a result is a reason to measure more, never a regression
ENOUGH_LEFT = 6  # of so many, where the numbers of some are left out


class State(str, Enum):
    """In the order in which a reader wants to see them."""

    INVALID = "INVALID"
    REGRESSED = "REGRESSED"
    SUSPECT = "SUSPECT"
    NOT_COMPARABLE = "NOT_COMPARABLE"
    INCONCLUSIVE = "INCONCLUSIVE"
    IMPROVED = "IMPROVED"
    SAME = "SAME"


# Reasons of states, which wording.py says in words.
BELOW_FLOOR = "below_floor"  # shown but not gated
FEW_LAUNCHES = "few_launches"
NOT_IN_TURNS = "not_in_turns"
AMONG_MANY = "among_many"
CLOCK = "clock"
BELOW_MARGIN = "below_margin"
WIDE = "wide"
NIGHTS_DIFFER = "nights_differ"


@dataclass(frozen=True)
class Evidence:
    """Ratios are how many times worse the candidate is: above 1 is slower, whatever the metric."""

    ratio: float  # Hodges-Lehmann; with a history, of tonight or the last three nights to the level of those before
    low: float  # interval of it
    high: float
    ratio_of_medians: float
    margin: float  # share by which a ratio has to be away from 1 to matter
    resolution: float  # share that three steps of the clock are
    p_worse: float
    p_better: float
    confidence: float  # of the interval
    test: str
    baseline: float  # median over launches, in the unit of the metric
    candidate: float
    p99_ratio: float | None  # medians over launches; None where a launch has too few samples
    max_ratio: float | None


@dataclass(frozen=True)
class BareRatio:
    """The ratio of numbers of which nothing tells how far launches differ: no interval, and no verdict."""

    ratio: float  # how many times worse the candidate is
    baseline: float  # in the unit of the metric
    candidate: float


@dataclass(frozen=True)
class Verdict:
    cell: Cell
    state: State
    reason: str
    baseline_launches: int
    candidate_launches: int
    evidence: Evidence | None = None
    bare_ratio: BareRatio | None = None  # beside a reason why there is no verdict

    @property
    def gated(self) -> bool:
        """True: the verdict counts for the exit code."""
        return self.reason != BELOW_FLOOR
