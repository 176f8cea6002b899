# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The list of cells to measure again (rerun.json), and the rules for a comparison of the fresh launches.

A first look at many cells finds some by chance; a second look at those alone, with fresh launches only, tells. Launches of
the first look are refused: to measure until it passes, and to count the good ones, proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlmb_results.fields import load_json
from dlmb_results.lines import ResultError

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.checks import UsageError
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State
from dlmb_results.inputs import read_document

SCHEMA = "dlmb.rerun/1.0"
DOUBTFUL = (State.REGRESSED, State.SUSPECT)


def rerun(comparison: Comparison) -> dict[str, Any]:
    launches = comparison.baseline.launches + comparison.candidate.launches
    doubtful = [verdict for verdict in comparison.verdicts if verdict.state in DOUBTFUL]
    return {
        "schema": SCHEMA,
        "metric": comparison.metric.name,
        "launches": [launch.id for launch in launches],
        "cells": [
            {"cell_id": verdict.cell.id, "pattern": verdict.cell.pattern, "state": verdict.state.value} for verdict in doubtful
        ],
    }


@dataclass(frozen=True)
class Request:
    metric: str
    launches: frozenset[str]  # of the first look
    cells: frozenset[str]

    def refuse_stale(self, *campaigns: Campaign) -> None:
        for launch in (launch for campaign in campaigns for launch in campaign.launches):
            if launch.id in self.launches:
                raise UsageError(f"--confirm: launch {launch.id} was in the first comparison; only fresh launches confirm")

    def refuse_missing(self, baseline: Campaign, candidate: Campaign) -> None:
        """Every cell of the list must have been measured again."""
        missing = sorted(cell for cell in self.cells if cell not in baseline.row_of or cell not in candidate.row_of)
        if missing:
            raise UsageError(f"--confirm: {len(missing)} cells were not measured again on both sides, for one {missing[0]}")
        if not self.cells:
            raise UsageError("--confirm: the list is empty, there is nothing to confirm")


def read_request(path: Path) -> Request:
    try:
        value = load_json(read_document(path))
        if not value["schema"].startswith(SCHEMA.split(".0")[0]):
            raise ResultError(f"{path}: schema '{value['schema']}', this program reads {SCHEMA}")
        return Request(value["metric"], frozenset(value["launches"]), frozenset(cell["cell_id"] for cell in value["cells"]))
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultError(f"{path}: not a list of cells to measure again, as --rerun writes it") from error
