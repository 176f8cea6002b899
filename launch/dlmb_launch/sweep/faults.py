# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes of dlmb_sweep, and the faults that lead to them."""

from dlmb_results.output import OutputError  # noqa: F401: the state of the sweep cannot be written

OK = 0
LAUNCH_FAILED = 1
USAGE = 64
UNAVAILABLE = 69
CANNOT_WRITE = 74
NOTHING_CAN_RUN = 77  # of a measuring program: nothing that was asked for can run here
SIGNAL_BASE = 128


class UsageError(Exception):
    """A wrong option or input file: one line that names what, where and what to do."""


class UnavailableError(Exception):
    """A program or launcher that is not here."""
