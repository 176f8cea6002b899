# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic measurements of a point, with a known truth and a known spread."""

from __future__ import annotations

import math
import random

from dlmb_launch.autotune.observations import Measured


def measured(truth: dict[str, float], launches: int, spread: float, seed: int = 1, default_ns: float = 1000.0) -> Measured:
    """truth: method -> its time as a share of the default's."""
    draw = random.Random(seed)
    logs = {method: {launch: math.log(share) + draw.gauss(0, spread) for launch in range(launches)} for method, share in truth.items()}
    return Measured([default_ns] * launches, logs, set(), spread)
