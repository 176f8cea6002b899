# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a ratio has to be from 1 to matter, and which cells are too short to be timed.

Clock figures are those of the launches (`calibration.timer`), or with `--calibration off` those of CLOCK_MONOTONIC_RAW on x86-64 with
Debian 12. The floor keeps what reading the clock adds below 5 % (Hoefler and Belli, Scientific Benchmarking of Parallel Computing
Systems, SC'15). A record says whether a cell is below it; without a calibration that is decided here.

What happens inside a launch is no part of a margin: rounds that alternate by 25 % in every launch hide no slowdown of 10 %, because
launches are compared.
"""

from __future__ import annotations

import numpy as np

WITHOUT_CALIBRATION = {"cost_ns": 24.0, "step_ns": 20.0}
READS_BELOW_FLOOR = 20
SHORT_NS = 50_000.0
SHARE_IF_SHORT = 0.05  # isolated cells below SHORT_NS
SHARE = 0.03
CLOCK_STEPS = 3


def margins(isolated: np.ndarray, baseline_ns: np.ndarray, given: float | None) -> np.ndarray:
    """Per cell the share that was given, else 5 % or 3 %."""
    if given is not None:
        return np.full(len(baseline_ns), given)
    return np.where(isolated & (baseline_ns < SHORT_NS), SHARE_IF_SHORT, SHARE)


def resolutions(sample_ns: np.ndarray, clock_step_ns: np.ndarray) -> np.ndarray:
    """Per cell the share of a sample that three steps of the clock are. A smaller difference may be one of reading the clock."""
    return CLOCK_STEPS * clock_step_ns / np.maximum(sample_ns, 1.0)


def below_floor(sample_ns: float, clock_read_ns: float) -> bool:
    return sample_ns < READS_BELOW_FLOOR * clock_read_ns
