# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Student's t distribution, and ratios of times with the intervals that it gives.

With two launches or more that both methods ran in, the interval of their ratio is Student's over the logarithms of the launches. With one
launch it is that of two medians (Zou and Donner, Statistics in Medicine 27, 2008): it says what the samples of this launch allow, not what
another launch would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import mean, stdev
from typing import NamedTuple

from scipy.special import stdtr, stdtrit  # scipy.stats has the same and takes half a second to import

from dlmb_statistics.robust import Ratio

CONFIDENCE = 0.95


def quantile(p: float, degrees):
    """Of a number of degrees of freedom, or of an array of them."""
    return stdtrit(degrees, p)


def upper_tail(t, degrees):
    """P(T >= t), of numbers or of arrays."""
    return stdtr(degrees, -t)


class Median(NamedTuple):
    value: float
    interval: tuple[float, float] | None


def over_launches(logarithms: Sequence[float]) -> Ratio:
    middle, count = mean(logarithms), len(logarithms)
    half = quantile((1 + CONFIDENCE) / 2, count - 1) * stdev(logarithms) / math.sqrt(count)
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half), count)


def of_two_medians(slow: Median, fast: Median) -> Ratio:
    middle = math.log(slow.value / fast.value)
    if not (slow.interval and fast.interval and slow.interval[0] > 0 and fast.interval[0] > 0):
        return Ratio(math.exp(middle), 0.0, math.inf, 1)
    below = math.hypot(math.log(slow.value / slow.interval[0]), math.log(fast.interval[1] / fast.value))
    above = math.hypot(math.log(slow.interval[1] / slow.value), math.log(fast.value / fast.interval[0]))
    return Ratio(math.exp(middle), math.exp(middle - below), math.exp(middle + above), 1)


def of_independent(ratios: Iterable[Ratio]) -> Ratio:
    """The geometric mean of ratios that have nothing in common."""
    ratios = list(ratios)
    middle = mean(math.log(each.value) for each in ratios)
    if not all(ratio.known for ratio in ratios):
        return Ratio(math.exp(middle), 0.0, math.inf, 1)
    below, above = (math.hypot(*(math.log(getattr(each, end) / each.value) for each in ratios)) / len(ratios) for end in ("low", "high"))
    return Ratio(math.exp(middle), math.exp(middle - below), math.exp(middle + above), 1)
