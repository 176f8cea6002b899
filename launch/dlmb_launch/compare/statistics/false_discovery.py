# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which of many cells are significant (Benjamini and Hochberg 1995).

scipy.stats.false_discovery_control does the same from scipy 1.11 on; Debian 12 has 1.10.
"""

from __future__ import annotations

import numpy as np

RATE = 0.05  # expected share of false ones among those found


def significant(p: np.ndarray) -> np.ndarray:
    """Those with p at most the largest p(i) <= i / m * RATE, i counted from 1 in ascending order."""
    ascending = np.sort(p)
    under = ascending <= RATE * np.arange(1, len(p) + 1) / len(p)
    return p <= ascending[np.flatnonzero(under)[-1]] if under.any() else np.zeros(len(p), dtype=bool)
