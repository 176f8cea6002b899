# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a ratio has to be from 1 to matter, and which cells are too short to be timed.

Clock figures are those of the launches (`calibration.timer`), or with `--calibration off` those of CLOCK_MONOTONIC_RAW on x86-64 with
Debian 12. The floor keeps what reading the clock adds below 5 % (Hoefler and Belli, Scientific Benchmarking of Parallel Computing
Systems, SC'15). A record says whether a cell is below it; without a calibration that is decided here.
"""

from __future__ import annotations

import numpy as np

WITHOUT_CALIBRATION = {"cost_ns": 24.0, "step_ns": 20.0}
READS_BELOW_FLOOR = 20
SHORT_NS = 50_000.0
SHARE_IF_SHORT = 0.05  # isolated cells below SHORT_NS
SHARE = 0.03
TIMES_OWN_DIFFERENCE = 2
CLOCK_STEPS = 3


def margins(
    isolated: np.ndarray,
    baseline_ns: np.ndarray,
    sample_ns: np.ndarray,
    own_difference: np.ndarray,
    clock_step_ns: np.ndarray,
    given: float | None,
) -> np.ndarray:
    """Per cell, the largest of: the given share, else 5 % or 3 %; twice what a launch differs from itself (odd to even
    rounds, median over launches); three steps of the clock."""
    usual = (
        np.where(isolated & (baseline_ns < SHORT_NS), SHARE_IF_SHORT, SHARE) if given is None else np.full(len(sample_ns), given)
    )
    return np.maximum.reduce(
        [usual, TIMES_OWN_DIFFERENCE * own_difference, CLOCK_STEPS * clock_step_ns / np.maximum(sample_ns, 1.0)]
    )


def below_floor(sample_ns: float, clock_read_ns: float) -> bool:
    return sample_ns < READS_BELOW_FLOOR * clock_read_ns
