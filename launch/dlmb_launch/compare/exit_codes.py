# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the exit code says. Stable: scripts rely on it."""

from __future__ import annotations

from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State

NO_REGRESSION = 0
REGRESSION = 1
INCONCLUSIVE = 2  # only with --strict
NOT_COMPARABLE = 3  # or too few launches
CANDIDATE_IS_WRONG = 4
USAGE = 64
UNAVAILABLE = 69
NOT_WRITTEN = 74

PRECEDENCE = (NOT_WRITTEN, CANDIDATE_IS_WRONG, REGRESSION, NOT_COMPARABLE, INCONCLUSIVE)


def causes(comparison: Comparison, strict: bool) -> set[int]:
    """Every code that applies, except success."""
    found = set()
    states = comparison.counts
    if comparison.candidate_is_wrong:
        found.add(CANDIDATE_IS_WRONG)
    elif states[State.INVALID]:
        found.add(NOT_COMPARABLE)
    if states[State.REGRESSED]:
        found.add(REGRESSION)
    if states[State.NOT_COMPARABLE] or comparison.judged == 0:
        found.add(NOT_COMPARABLE)
    open_question = (State.INCONCLUSIVE, State.SUSPECT)
    if strict and any(verdict.state in open_question and verdict.gated for verdict in comparison.verdicts):
        found.add(INCONCLUSIVE)
    return found


def exit_code(found: set[int], warn_only: bool) -> int:
    """warn_only: a slower candidate does not fail; one that could not be judged still does."""
    if warn_only:
        found = found - {REGRESSION, INCONCLUSIVE}
    return next((code for code in PRECEDENCE if code in found), NO_REGRESSION)
