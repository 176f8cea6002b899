# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a few launches that one outlier does not move, in logarithms, with the standard library alone.

Launches of a busy machine have outliers, so instead of a mean stands the median of the means of all pairs (Hodges, Lehmann, Estimates of
location based on rank tests, Ann. Math. Statist. 34, 1963), which is nearly as exact where there are none.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable
from typing import NamedTuple

TAIL = 0.025  # on either side of a 95 % interval


def _means_of_pairs(logarithms: list[float]) -> list[float]:
    return sorted((a + b) / 2 for i, a in enumerate(logarithms) for b in logarithms[i:])


def hodges_lehmann(logarithms: list[float]) -> float:
    """Median of the means of all pairs, each with itself included."""
    return statistics.median(_means_of_pairs(logarithms))


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


class Ratio(NamedTuple):
    """Of times, with its 95 % interval; 0 to infinity where nobody knows it."""

    value: float
    low: float
    high: float
    launches: int

    @property
    def known(self) -> bool:
        return self.low > 0

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})" if self.known else f"{self.value:.3g}"


def over_rounds(logarithms: list[float]) -> Ratio:
    """With the exact interval of Wilcoxon's signed ranks (as ranks.paired_shift has it): it holds 95 % or more for any number of rounds, where a
    bootstrap of six holds 85 %. Of five rounds or fewer there is none."""
    choices = [1]  # of signs, by the sum of the ranks with a plus
    for rank in range(1, len(logarithms) + 1):
        choices = [with_minus + with_plus for with_minus, with_plus in zip(choices + [0] * rank, [0] * rank + choices)]
    outside = sum(below <= TAIL * 2 ** len(logarithms) for below in itertools.accumulate(choices))
    means = _means_of_pairs(logarithms)
    low, high = (math.exp(means[outside - 1]), math.exp(means[-outside])) if outside else (0.0, math.inf)
    return Ratio(math.exp(statistics.median(means)), low, high, len(logarithms))


def normal_spread(distances: list[float]) -> float:
    """The standard deviation of normal numbers whose median distance from their mean this is."""
    return 1.4826 * statistics.median(distances)


def always_radius(launches: int, spread: float, error_rate: float) -> float:
    """Half of the width of the interval of a mean of so many launches, in logarithms, that holds for every number of launches at once with
    probability 1 - error_rate (Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math. Statist. 41, 1970; rho = 1):

        mean +- s / n * sqrt((n + rho) * ln((n + rho) / (rho * a^2)))
    """
    return spread / launches * math.sqrt((launches + 1) * math.log((launches + 1) / error_rate**2))


def detectable_gain(launches: int, spread: float) -> float:
    """The gain that a test of so many launches finds four times out of five at 5 %: (z(0.95) + z(0.8)) standard errors."""
    return -math.expm1(-(1.645 + 0.842) * spread / math.sqrt(launches))
