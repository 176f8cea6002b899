# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What slowdown a comparison of launches can see. A launch is one number per cell; two sides of as many launches are compared by the exact
one-sided Mann-Whitney test and by the Hodges-Lehmann ratio, which must reach a margin. The power is simulated with a fixed seed, so that equal
arguments give equal results.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtri  # scipy.stats has the same and takes half a second to import

from dlmb_statistics.ranks import pairs_won

ALPHA = 0.005  # small, because a comparison asks about many cells at once
POWER = 0.8
TRIALS = 4000  # a power of 0.8 is then known to 0.013
_SEED = 20260131


def log_spread(values: np.ndarray) -> float:
    """Standard deviation of the logarithms, near the relative one where it is small. Of at least two values."""
    return float(np.log(values).std(ddof=1))


def spread_bound(count: int, confidence: float = 0.9) -> float:
    """Factor from the spread of so many values to what the true spread is at most: sqrt(f / chi^2), f = count - 1."""
    return math.sqrt((count - 1) / chdtri(count - 1, confidence))


def critical_pairs(launches: int, alpha: float) -> int | None:
    """The least number of `pairs_won` that is reached by chance with probability alpha or less; nothing where even all pairs are not that
    unlikely."""
    counts = pairs_won(launches, launches)
    at_least = np.cumsum(counts[::-1])[::-1] / counts.sum()
    found = np.flatnonzero(at_least <= alpha)
    return int(found[0]) if len(found) else None


@lru_cache(maxsize=None)
def _trials(launches: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Of simulated comparisons of equal sides, launches normal with spread 1: by how much the candidate has to be moved before the test finds
    it slower, and its estimate."""
    critical = critical_pairs(launches, ALPHA)
    if not critical:
        return None
    drawn = np.random.default_rng(_SEED + launches).standard_normal((TRIALS, 2, launches))
    differences = np.sort((drawn[:, 1, :, None] - drawn[:, 0, None, :]).reshape(TRIALS, -1), axis=1)
    # Moved by m, the candidate wins the pairs with difference + m > 0: enough once the critical one does.
    return -differences[:, -critical], np.median(differences, axis=1)


def least_slowdown(launches: int, spread: float, margin: float, power: float = POWER) -> float | None:
    """The least slowdown (0.05: 5 %) that so many launches per side find with this power; nothing where no result of so few is significant."""
    trials = _trials(launches)
    if trials is None:
        return None
    until_significant, estimate = trials
    moves = np.sort(np.maximum(spread * until_significant, math.log1p(margin) - spread * estimate))
    return math.expm1(moves[min(max(math.ceil(power * TRIALS), 1), TRIALS) - 1])
