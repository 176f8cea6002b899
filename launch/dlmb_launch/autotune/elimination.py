# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which methods can still win at a point.

After every launch each method is tested, so the tests have to hold at all launches together. The interval of a mean of n logarithms
of spread s that holds for every n at once, with probability 1 - a, is (Robbins, Statistical methods related to the law of the
iterated logarithm, Ann. Math. Statist. 41, 1970; rho = 1)

    mean +- s / n * sqrt((n + rho) * ln((n + rho) / (rho * a^2)))

Launches of a busy machine have outliers, so instead of the mean stands the median of the means of all pairs (Hodges, Lehmann, Estimates
of location based on rank tests, Ann. Math. Statist. 34, 1963), which is nearly as exact where there are none, and the spread is that of
the middle half.

A method is out when it is slower than another one, or too little faster than the library's own choice to be chosen, beyond that
interval. a is ERROR_RATE divided by the number of comparisons at the point. So the fastest method of a point is lost with a
probability of at most ERROR_RATE, as far as the logarithms are normal with that spread. A lost one costs speed and never
makes a wrong choice: what is chosen passes the tests of `dlmb_tune build` on fresh launches.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from dlmb_launch.autotune.observations import Measured
from dlmb_launch.autotune.plain_program import hodges_lehmann

ERROR_RATE = 0.05  # per point
MIN_GAIN_SMALL, MIN_GAIN_LARGE, SMALL_NS = 0.05, 0.03, 50_000.0  # as `dlmb_tune build`


def radius(launches: int, spread: float, error_rate: float) -> float:
    """Half of the width of the interval of a mean of so many launches, in logarithms."""
    return spread / launches * math.sqrt((launches + 1) * math.log((launches + 1) / error_rate**2))


def least_log_gain(measured: Measured) -> float:
    gain = MIN_GAIN_SMALL if statistics.median(measured.default_ns) < SMALL_NS else MIN_GAIN_LARGE
    return math.log(1 - gain)


@dataclass(frozen=True)
class Standing:
    """Of a point: who is left, and how fast they are against the library's own choice."""

    alive: tuple[str, ...]  # fastest first; empty: the library's own choice stays
    best: str  # the fastest of those that have most launches: a method that was set aside has few, and perhaps lucky ones
    launches: int  # of the point
    gain: float  # share of the default's time that `best` saves; negative where it is slower
    gain_possible: float  # the largest that the interval of one of them holds

    @classmethod
    def settled(cls, launches: int) -> Standing:
        return cls((), "", launches, 0.0, 0.0)


def standing(measured: Measured, competitors: list[str]) -> Standing:
    """`competitors`: of them only those that have been measured here and did not fail are looked at."""
    logs = {method: measured.logs[method] for method in competitors if method in measured.logs and method not in measured.refused}
    if not logs:
        return Standing.settled(measured.launches)
    error_rate = ERROR_RATE / len(logs)
    middle = {method: hodges_lehmann(list(by_launch.values())) for method, by_launch in logs.items()}
    alive = sorted((method for method in logs if not _is_out(method, middle, logs, measured, error_rate)), key=middle.__getitem__)
    if not alive:
        return Standing.settled(measured.launches)
    most = max(len(logs[method]) for method in alive)
    best = next(method for method in alive if len(logs[method]) == most)
    least = min(middle[method] - radius(len(logs[method]), measured.spread, error_rate) for method in alive)
    return Standing(tuple(alive), best, measured.launches, -math.expm1(middle[best]), -math.expm1(least))


def _is_out(method: str, middle: dict[str, float], logs: dict[str, dict[int, float]], measured: Measured, error_rate: float) -> bool:
    mine = logs[method]
    if middle[method] - radius(len(mine), measured.spread, error_rate) > least_log_gain(measured):
        return True
    # A method that was dropped is missing in later launches, but for those that measure it again beside others.
    for theirs in (log for other, log in logs.items() if other != method):
        behind = [log - theirs[launch] for launch, log in mine.items() if launch in theirs]
        if behind and hodges_lehmann(behind) > radius(len(behind), measured.spread, error_rate):
            return True
    return False


def detectable_gain(launches: int, spread: float) -> float:
    """The gain that a test of so many launches finds four times out of five at 5 %: (z(0.95) + z(0.8)) standard errors."""
    return -math.expm1(-(1.645 + 0.842) * spread / math.sqrt(launches))
