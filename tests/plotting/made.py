# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: running the command, and made-up files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import running
from plan_files import plan_text
from running import run_main

from dlmb_plotting.charts import Limits, Plot
from dlmb_plotting.command import main
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.plots import plots
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.results import Results
from dlmb_results.fields import schema_of

EXAMPLE = Path(__file__).with_name("example.jsonl")
SCHEMA_EXAMPLES = EXAMPLE.parents[2] / "results-schema" / "examples"


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and what went to standard error."""
    return run_main(main, *arguments)[::2]


def drawn(name: str, results: Results) -> list[Plot]:
    """The plots of this name."""
    return plots(Inputs(results), Machine(), Limits(12), name)


def launch_line(launch: str = "l1", time: str = "2026-01-01T00:00:00Z", **fields: Any) -> dict[str, Any]:
    environment = {"env_key": "made", "identity": {}, "variables": {}, "informational": {}, "warnings": fields.pop("warnings", [])}
    return {"kind": "launch", "schema": "dlmb.result/1.0", "launch_id": launch, "campaign_id": launch, "time": time, "world": {"ranks": 4},
            "environment": environment, "test_double": False, "calibration": None, **fields}


def cell_line(size: int, median_ns: float, backend: str = "mpi", launch: str = "l1", skew: str = "balanced", imbalance: float = 1.0) -> dict[str, Any]:
    parameters = {"message-size": size, "skew": skew}
    return {
        "kind": "cell", "launch_id": launch, "cell_id": f"backend={backend}/p.message-size={size}/p.skew={skew}", "pattern": "collective", "preset": "",
        "parameters": parameters, "backend": backend, "method": "default", "memory": "host", "mode": "isolated", "definition": "made up",
        "world": {"ranks": 4, "ranks_per_node": 4}, "seed": 1, "draws": 1, "fill": "random", "cache": {"mode": "warm", "slots": 1}, "is_default": True, "iterations_per_sample": 1,
        "status": "ok", "reason": "", "below_floor": False, "rank_medians_ns": [], "flags": [], "validation": {"verdict": "passed"}, "shared_gpu": False,
        "rounds": {"medians_ns": [], "median_of_rounds_ns": None, "aa_ratio": None},
        "traffic": {"payload_bytes": 4 * size, "wire_bytes": 4 * size, "imbalance_send": imbalance, "imbalance_recv": 1.0},
        "time_ns": {"median": median_ns, "median_low": 0.9 * median_ns, "median_high": 1.2 * median_ns, "p99": None, "max": 2 * median_ns},
        "bandwidth": {"busbw_GBps": size / median_ns if median_ns else None}, "phases": {"allreduce": {"median": median_ns}},
    }  # fmt: skip


def converted_line(cell: dict[str, Any], suite: str, time_ns: dict[str, float] | None, **fields: Any) -> dict[str, Any]:
    """The same cell as dlmb_convert would write it, with the fields of its lines alone."""
    said = schema_of("result")["$defs"]["converted"]["properties"]
    return {name: value for name, value in cell.items() if name in said} | {"origin": {"suite": suite}, "time_ns": time_ns} | fields


def lines(*values: dict[str, Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def plan(rank: int, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"rank": rank, "steps": [{"id": index, "label": "forward", "after": [], "group": [0, 1], **step} for index, step in enumerate(steps)]}


def plan_document() -> dict[str, Any]:
    """Rank 0 computes 1 ms and sends 1 MB to rank 1, which computes 1 ms after it arrived."""
    compute = {"operation": "compute", "label": "compute.forward", "busy_ns": 1_000_000}
    plans = [plan(0, compute, {"operation": "send", "after": [0], "send": [{"peer": 1, "bytes": 1_000_000}], "channel": 0}),
             plan(1, {"operation": "recv", "recv": [{"peer": 0, "bytes": 1_000_000}], "channel": 0}, {**compute, "after": [0]})]
    return {"pattern": "pipeline_p2p", "preset": "", "parameters": {"schedule": "1f1b"}, "world": {"ranks": 2}, "plans": plans}


def comparison_document() -> dict[str, Any]:
    def cell(name: str, state: str, ratio: float) -> dict[str, Any]:
        return {"cell_id": f"backend=mpi/p.message-size={name}", "state": state, "evidence": {"ratio": ratio, "low": ratio - 0.1, "high": ratio + 0.1}}

    cells = [cell("8", "SAME", 1.0), cell("16", "REGRESSED", 1.5), {"cell_id": "backend=ucx", "state": "INVALID"}]
    return {"schema": "dlmb.comparison/1.0", "metric": {"name": "time", "unit": "ns"}, "counts": {"SAME": 1, "REGRESSED": 1, "INVALID": 1}, "cells": cells,
            "patterns": [{"pattern": "collective", "cells": 2, "ratio": 1.2, "low": 1.1, "high": 1.3}]}


def rule(identifier: str, backend: str, low: int, high: int | None, **fields: Any) -> dict[str, Any]:
    return {"id": identifier, "scope": "select", "when": {"operation": "allreduce", "bytes": {"basis": "buffer", "min": low, "max": high}},
            "choose": {"backend": backend, "method": "default"}, "status": "chosen", **fields}


def table_document() -> dict[str, Any]:
    evidence = {"sizes": [1024, 65536], "samples": 800, "launches": 8, "confirmed": 8, "median_ns": {"choice": 800.0, "default": 1000.0}, "gain": 0.2, "ci": [0.1, 0.3]}
    rules = [rule("r1", "ucx", 1024, 65536, evidence=evidence), rule("r2", "mpi", 131072, None), rule("r3", "ucx", 0, 512, status="tie"),
             rule("r4", "mpi", 513, 1023, status="unconfirmed", candidate={"choose": {"backend": "ucx", "method": "ring"}, "gain": 0.4, "ci": [0.3, 0.5]})]
    table = json.loads((SCHEMA_EXAMPLES / "tuning-table.json").read_text())
    return {**table, "system": {"key": "k", "cpu": "a CPU"}, "rules": rules}


class WithFolder(running.WithFolder):
    def file(self, text: str, name: str = "results.jsonl") -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def everything(self) -> Path:
        """A folder with a file for every plot."""
        folder = self.folder / "everything"
        folder.mkdir()
        cells = [cell_line(size, time, backend, launch, skew, imbalance)
                 for launch, slower in (("l1", 1), ("l2", 1.5)) for backend in ("mpi", "ucx") for skew, imbalance in (("balanced", 1.0), ("zipf", 2.0))
                 for size, time in ((1024, 1000 * slower), (4096, 3000 * slower * imbalance))]
        texts = lines(launch_line(), launch_line("l2", "2026-01-02T00:00:00Z"), *cells)
        (folder / "collective.jsonl").write_text(texts)
        timed = [{**cell_line(size, size), "cell_id": f"{mode} {size}", "mode": mode} for mode in ("isolated", "osu") for size in (1024, 4096)]
        (folder / "timings.jsonl").write_text(lines(launch_line("t"), *({**cell, "launch_id": "t"} for cell in timed)))
        together = cell_line(8, 10, launch="o") | {"cell_id": "o", "statistics": {"main_slowdown": 1.5, "beside_slowdown": 2.0}}
        together["parameters"] = {"overlay": "moe.jsonl + sum.jsonl"}
        (folder / "overlay.jsonl").write_text(lines(launch_line("o"), together))
        latencies = [{"name": f"request_latency_p{percent}", "value": percent * 1e4} for percent in (50, 99, 100)]
        served = cell_line(8, 10, launch="r") | {"cell_id": "r", "figures": latencies, "parameters": {"arrivals": "poisson:9"}}
        (folder / "requests.jsonl").write_text(lines(launch_line("r"), served))
        (folder / "example.jsonl").write_bytes(EXAMPLE.read_bytes())
        for name, document in (("verdicts", comparison_document()), ("table", table_document())):
            (folder / f"{name}.json").write_text(json.dumps(document))
        (folder / "pipe.plan.jsonl").write_text(plan_text(plan_document()))
        return folder
