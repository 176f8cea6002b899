# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines as dlmb_collective writes them with `--timing osu` and `--timing nccl`, with made-up times. tests/e2e/converted.py holds the
program's own lines against converted ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "results-schema" / "examples" / "results.jsonl"
LAUNCH, CELL, *_, END = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]

PARAMETERS = {
    "channels": 1, "compute": "none", "compute-progress": "off", "compute-us": "auto", "element": "int8", "in-place": "off", "message-size": 8,
    "operation": "allreduce", "pairs": "all", "reduction": "sum", "root": 0, "route": "ring", "skew": "balanced", "transform": "none", "window": 64,
    "window-buffers": "single",
}
DEFAULTS = PARAMETERS | {"element": "fp32"}  # those are not in ids
DEFINITION = "osu: each call timed by itself, a barrier between calls, mean over ranks of (done - enter)"
NCCL_DEFINITION = "nccl: calls back to back behind a barrier, waited for together, mean over ranks of (done - enter) / calls"


# Of windows of pairs.
RATE_DEFINITION = "osu: each call timed by itself, two barriers between calls, mean over the first ranks of pairs of (done - enter)"


def without_barrier(over: str) -> str:
    return f"osu: each call timed by itself, nothing between calls, mean over {over}"


def cell(operation: str = "allreduce", *, size: int = 8, ranks: int = 4, ranks_per_node: int = 0, mean_us: float = 2, median_us: float = 2, backend: str = "mpi",
         method: str = "blocking", memory: str = "host", mode: str = "osu", definition: str = DEFINITION, seed: int = 1, busbw: float = 1.0,
         traffic: dict[str, int] | None = None, **parameters: Any) -> dict[str, Any]:
    """traffic: by default that of an allreduce."""
    said = PARAMETERS | {"operation": operation, "message-size": size} | parameters
    identity = {"backend": backend, "method": method, "memory": memory, "mode": mode, "pattern": "collective", "ranks": ranks, "ranks_per_node": ranks_per_node or ranks,
                "seed": seed, "cache": "warm", "fill": "random", "draws": 1} | {f"p.{name}": value for name, value in said.items() if value != DEFAULTS[name]}
    escaped = {name: str(value).replace(":", "+3A").replace("=", "+3D") for name, value in identity.items()}
    moved = {"payload_bytes": size * ranks, "wire_bytes": 2 * size * (ranks - 1) // ranks * ranks} if operation == "allreduce" else {"payload_bytes": 0, "wire_bytes": 0}
    return CELL | {
        "cell_id": "/".join(f"{name}={value}" for name, value in sorted(escaped.items())), "pattern": "collective", "preset": "", "parameters": said,
        "backend": backend, "method": method, "memory": memory, "mode": mode, "definition": definition, "world": {"ranks": ranks, "ranks_per_node": ranks_per_node or ranks},
        "seed": seed, "is_default": method in ("blocking", "native", "collective"), "cache": {**CELL["cache"], "mode": "warm", "slots": 1}, "traffic": CELL["traffic"] | (traffic or moved),
        "time_ns": CELL["time_ns"] | {"median": 1e3 * median_us, "median_low": 0.9e3 * median_us, "median_high": 1.1e3 * median_us},
        "rounds": {"medians_ns": [1e3 * median_us], "median_of_rounds_ns": 1e3 * median_us, "aa_ratio": None},
        "rank_means_ns": {"mean": 1e3 * mean_us, "min": 1e3 * mean_us, "max": 1e3 * mean_us},
        "bandwidth": {"algbw_GBps": busbw, "busbw_GBps": busbw, "aggregate_GBps": busbw},
    }


def launch(*cells: dict[str, Any]) -> str:
    """A launch as the text of a result file."""
    return "".join(json.dumps(line) + "\n" for line in (LAUNCH, *cells, END))
