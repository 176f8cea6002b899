# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is said of one cell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dlmb_launch.compare.campaign import Cell

FEWEST_LAUNCHES = 5  # per side; below, no interval of useful width exists
ENOUGH_LAUNCHES = 8  # per side; below, a result is a reason to measure more, never a regression


class State(str, Enum):
    """In the order in which a reader wants to see them."""

    INVALID = "INVALID"
    REGRESSED = "REGRESSED"
    SUSPECT = "SUSPECT"
    NOT_COMPARABLE = "NOT_COMPARABLE"
    INCONCLUSIVE = "INCONCLUSIVE"
    IMPROVED = "IMPROVED"
    SAME = "SAME"


BELOW_FLOOR = "below_floor"  # reason of an INCONCLUSIVE cell that is shown but not gated


@dataclass(frozen=True)
class Evidence:
    """Ratios are how many times worse the candidate is: above 1 is slower, whatever the metric."""

    ratio: float  # Hodges-Lehmann
    low: float  # 95 % interval of it
    high: float
    ratio_of_medians: float
    margin: float  # share by which a ratio has to be away from 1 to matter
    p_worse: float
    p_better: float
    test: str
    baseline: float  # median over launches, in the unit of the metric
    candidate: float
    p99_ratio: float | None  # medians over launches; None where a launch has too few samples
    max_ratio: float | None


@dataclass(frozen=True)
class BareRatio:
    """Of numbers of which nothing tells how far launches differ: no interval, and no verdict."""

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
        """Whether it counts for the exit code."""
        return self.reason != BELOW_FLOOR
