# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as one JSON object (results-schema/README.md lists its fields), how all JSON of dlmb_compare is written, and the list of
cells to measure again.

Numbers are plain decimals: no exponent, no NaN or infinity, and what is absent is left out. Several of the sites that read these files
parse numbers with a pattern without exponents.

A first look at many cells finds some by chance; a second look at those alone, with fresh launches only, tells. Launches of the first look
are refused: to measure until it passes, and to count the good ones, proves nothing.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from typing import Any

from dlmb_launch.compare.campaign import Campaign, Metric
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State, Verdict
from dlmb_results import rerun
from dlmb_results.program import UsageError

DIGITS = 12  # after the point; p values are small
MARK = "\u0001"  # marks a number until the text is complete; no text of a result holds it
MARKED = re.compile(r'"\\u0001([-0-9.]+)\\u0001"')

SCHEMA = "dlmb.comparison/1.1"


def decimal(value: float) -> str:
    text = f"{value:.{DIGITS}f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: marked(each) for key, each in value.items() if is_present(each)}
    if isinstance(value, (list, tuple)):
        return [marked(each) for each in value if is_present(each)]
    return f"{MARK}{decimal(value)}{MARK}" if isinstance(value, float) else value


def is_present(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def dumps(value: Any) -> str:
    return MARKED.sub(r"\1", json.dumps(marked(value), indent=1)) + "\n"


def verdict_object(verdict: Verdict) -> dict[str, Any]:
    return {
        "cell_id": verdict.cell.id,
        "name": verdict.cell.name,
        "pattern": verdict.cell.pattern,
        "backend": verdict.cell.backend,
        "state": verdict.state.value,
        "reason": verdict.reason,
        "gated": verdict.gated,
        "launches": {"baseline": verdict.baseline_launches, "candidate": verdict.candidate_launches},
        "evidence": None if verdict.evidence is None else asdict(verdict.evidence),
        "bare_ratio": None if verdict.bare_ratio is None else asdict(verdict.bare_ratio),
    }


def side(campaign: Campaign) -> dict[str, Any]:
    return {"launches": [launch.id for launch in campaign.launches], "remarks": campaign.remarks, "warnings": campaign.warnings}


def document(comparison: Comparison, exit_code: int) -> dict[str, Any]:
    metric, rules = comparison.metric, comparison.rules
    return {
        "schema": SCHEMA,
        "metric": {"name": metric.name, "unit": metric.unit, "definition": metric.definition},
        "factors": sorted(rules.declared.factors),
        "allowed_differences": sorted(rules.declared.ignored),
        "exit_code": exit_code,
        "counts": {state.value: comparison.counts[state] for state in State},
        "baseline": side(comparison.baseline),
        "candidate": side(comparison.candidate),
        "remarks": comparison.remarks,
        "patterns": [asdict(pattern) for pattern in comparison.patterns],
        "cells": [verdict_object(verdict) for verdict in comparison.verdicts],
        "only_in_candidate": [cell.id for cell in comparison.only_in_candidate],
        "worst": [verdict.cell.id for verdict in comparison.worst],
    }


DOUBTFUL = (State.REGRESSED, State.SUSPECT)


def to_measure_again(comparison: Comparison) -> dict[str, Any]:
    launches = comparison.baseline.launches + comparison.candidate.launches
    doubtful = [verdict for verdict in comparison.verdicts if verdict.state in DOUBTFUL]
    cells = [rerun.Doubtful(verdict.cell.id, verdict.cell.pattern, verdict.state.value) for verdict in doubtful]
    return rerun.document(comparison.metric.name, [launch.id for launch in launches], cells)


def cells_to_confirm(request: rerun.Rerun, baseline: Campaign, candidate: Campaign, metric: Metric) -> frozenset[str]:
    """Every cell of the list must have been measured again, in no launch of the first look, which was by the same metric."""
    if request.metric != metric.name:
        raise UsageError(f"--confirm: the first comparison was by {request.metric}; give --metric {request.metric}")
    for launch in baseline.launches + candidate.launches:
        if launch.id in request.launches:
            raise UsageError(f"--confirm: launch {launch.id} was in the first comparison; only fresh launches confirm")
    cells = frozenset(cell.cell_id for cell in request.cells)
    missing = sorted(cell for cell in cells if cell not in baseline.row_of or cell not in candidate.row_of)
    if missing:
        raise UsageError(f"--confirm: {len(missing)} cells were not measured again on both sides, for one {missing[0]}")
    if not cells:
        raise UsageError("--confirm: the list is empty, there is nothing to confirm")
    return cells
