# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Made-up campaigns: lines of result files with chosen numbers, nothing measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import running

from dlmb_launch.compare.campaign import METRICS
from dlmb_launch.compare.comparison import Comparison, Rules, compare
from dlmb_launch.compare.reading import read_campaign

IDENTITY = {"cpu_model": "Made CPU", "build_type": "Release", "ranks": "4"}
BYTES = 1_000_000
CELL = "backend=mpi/method=alltoallv/p.tokens=16/pattern=moe_alltoall"


def launch(identifier: str, **fields: Any) -> dict[str, Any]:
    environment = {"env_key": fields.pop("env_key", "made"), "identity": IDENTITY | fields.pop("identity", {}), "variables": fields.pop("variables", {}),
                   "informational": {"version": "0.1.0", "git_revision": "ab12cd3"}, "warnings": []}
    line = {"kind": "launch", "schema": "dlmb.result/1.0", "launch_id": identifier, "campaign_id": identifier.split("-")[0]}
    line |= {"time": "2026-01-31T12:00:00Z", "program": "dlmb_moe_alltoall", "environment": environment}
    return line | {"world": {"ranks": 4}, "test_double": False, "calibration": None} | fields


def cell(launch_id: str, us: float, cell_id: str = CELL, **fields: Any) -> dict[str, Any]:
    """Six rounds of the same median."""
    parts = dict(part.split("=", 1) for part in cell_id.split("/"))
    ns = us * 1e3
    line = {
        "kind": "cell", "launch_id": launch_id, "cell_id": cell_id, "pattern": parts["pattern"], "preset": "", "backend": parts["backend"],
        "method": parts.get("method", "default"), "memory": "host", "mode": "isolated", "definition": "made up", "status": "ok", "reason": "",
        "seed": 1, "draws": 1, "world": {"ranks": 4, "ranks_per_node": 4}, "phases": {}, "flags": [], "samples_ns": [1, 2, 3], "rank_medians_ns": [], "below_floor": None,
        "traffic": {"payload_bytes": BYTES, "wire_bytes": BYTES, "imbalance_send": 1.0, "imbalance_recv": 1.0},
        "time_ns": {"median": ns, "median_low": None, "median_high": None, "p99": None, "max": ns},
        "rounds": {"medians_ns": [ns] * 6, "median_of_rounds_ns": ns, "aa_ratio": 1.0}, "cache": {"mode": "warm", "slots": 1}, "fill": "random",
        "bandwidth": {"busbw_GBps": BYTES / ns}, "iterations_per_sample": 1, "validation": {"verdict": "passed"}, "shared_gpu": False,
        "is_default": True, "statistics": {"shift": -0.5}, "parameters": {},
    }
    return line | fields


def fault(launch_id: str, status: str, cell_id: str = CELL) -> dict[str, Any]:
    rounds = {"medians_ns": [], "median_of_rounds_ns": None, "aa_ratio": None}
    return cell(launch_id, 1, cell_id, status=status, reason="made to fail", time_ns=None, bandwidth=None, definition="", rounds=rounds)


def side(name: str, cells: Mapping[str, Sequence[float]], **fields: Any) -> list[dict[str, Any]]:
    """Lines of a campaign: by cell id the medians in us, one per launch."""
    lines = []
    for index in range(max(map(len, cells.values()), default=0)):
        identifier = f"{name}-{index}"
        lines.append(launch(identifier, time=f"2026-01-31T12:00:{index:02}Z", **fields))
        lines += [cell(identifier, values[index], cell_id) for cell_id, values in cells.items() if index < len(values)]
        lines.append({"kind": "end", "launch_id": identifier, "status": "ok", "cells": {}})
    return lines


class WithFolder(running.WithFolder):
    def file(self, name: str, lines: Sequence[dict[str, Any]]) -> Path:
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def compared(self, baseline: Sequence[dict[str, Any]], candidate: Sequence[dict[str, Any]], metric: str = "time", rules: Rules = Rules()) -> Comparison:
        campaigns = [read_campaign(name, self.file(name, lines), METRICS[metric]) for name, lines in (("baseline", baseline), ("candidate", candidate))]
        return compare(*campaigns, METRICS[metric], rules)

    def verdict(self, baseline: Sequence[float], candidate: Sequence[float], metric: str = "time", rules: Rules = Rules()) -> Any:
        """On one cell with these medians in us."""
        return self.compared(side("base", {CELL: baseline}), side("cand", {CELL: candidate}), metric, rules).verdicts[0]
