# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as one JSON object (docs/comparing.md lists its fields)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State, Verdict

SCHEMA = "dlmb.comparison/1.0"


def verdict_object(verdict: Verdict) -> dict[str, Any]:
    return {
        "cell_id": verdict.cell.id,
        "pattern": verdict.cell.pattern,
        "backend": verdict.cell.backend,
        "state": verdict.state.value,
        "reason": verdict.reason,
        "gated": verdict.gated,
        "launches": {"baseline": verdict.baseline_launches, "candidate": verdict.candidate_launches},
        "evidence": None if verdict.evidence is None else asdict(verdict.evidence),
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
        "counts": {state.value: comparison.count(state) for state in State},
        "baseline": side(comparison.baseline),
        "candidate": side(comparison.candidate),
        "patterns": [asdict(pattern) for pattern in comparison.patterns],
        "cells": [verdict_object(verdict) for verdict in comparison.verdicts],
        "only_in_candidate": [cell.id for cell in comparison.only_in_candidate],
        "worst": [verdict.cell.id for verdict in comparison.worst],
    }
