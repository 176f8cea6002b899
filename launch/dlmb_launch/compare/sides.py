# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what is compared: two campaigns, or one and its baseline from a history."""

from __future__ import annotations

import argparse

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.reading import read_campaign
from dlmb_launch.history import command as history


class NoBaselineError(Exception):
    """The history has nothing that the candidate could be compared with."""


def both_sides(options: argparse.Namespace, metric: Metric) -> tuple[Campaign, Campaign]:
    candidate = read_campaign("candidate", options.candidate, metric)
    if options.history is not None:
        return baseline_from_history(options, candidate, metric), candidate
    return read_campaign("baseline", options.baseline, metric), candidate


def baseline_from_history(options: argparse.Namespace, candidate: Campaign, metric: Metric) -> Campaign:
    found = history.baseline_for(candidate, options.history, options.last, metric)
    if found is None:
        keys = ", ".join(sorted({launch.env_key for launch in candidate.launches}))
        raise NoBaselineError(f"{options.history}: no other campaign of this environment ({keys}); --append adds the first")
    return found
