# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a ratio has to be from 1 to matter, and which cells are too short to be timed. `dlmb_tune build` has the same shares for a gain.

The floor keeps what reading the clock adds below 5 % (Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15). A
record says whether a cell is below it; without a calibration that is decided here.

What happens inside a launch is no part of a margin: rounds that alternate by 25 % in every launch hide no slowdown of 10 %, because
launches are compared.
"""

from __future__ import annotations

SHORT_NS = 50_000.0
SHARE_IF_SHORT = 0.05
SHARE = 0.03
READS_BELOW_FLOOR = 20
CLOCK_STEPS = 3  # a smaller difference may be one of reading the clock


def least_gain(time_ns: float) -> float:
    """The share of such a time that has to be saved to matter."""
    return SHARE_IF_SHORT if time_ns < SHORT_NS else SHARE


def below_floor(sample_ns: float, clock_read_ns: float) -> bool:
    return sample_ns < READS_BELOW_FLOOR * clock_read_ns
