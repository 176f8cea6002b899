# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines that dlmb_convert made of the output of other programs, in the shape that readers of DLMB's own lines expect.

What such a line does not say gets the value that shows nothing: no samples, no interval, no phases. `suite_of` says whose line it is and
`statistic_of` what its time is, which readers have to tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Line = dict[str, Any]

NOTHING_MOVED = {
    "payload_bytes": 0, "wire_bytes": 0, "self_bytes": 0, "busiest_rank_bytes": 0, "largest_total_bytes": 0, "balanced_rank_bytes": 0.0,
    "imbalance_send": 1.0, "imbalance_recv": 1.0,
}
NOT_SAID: Line = {
    "seed": 0, "draws": 0, "fill": "", "samples_ns": [], "phases": {}, "flags": [], "below_floor": False, "shared_gpu": False, "iterations_per_sample": 1,
    "rounds": {"medians_ns": [], "median_of_rounds_ns": None, "aa_ratio": None}, "cache": {"mode": "", "slots": 0},
}

NOT_DONE = {"compute": "none", "transform": "none"}  # by the programs whose output is read


def suite_of(line: Line) -> str:
    """The suite of programs whose output the line was made of; empty: the line is DLMB's own."""
    origin = line.get("origin")
    return origin["suite"] if origin else ""


def statistic_of(line: Line) -> str:
    """What time_ns.median of a line for readers is: median or mean; empty: the cell has no time."""
    return line.get("statistic", "median")


def contradictions(said: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """By name what a line of another program says, and what another cell says: the names of what both say, and not alike. None: they may
    be of the same thing. What programs of others do not do is taken as said."""
    return [name for name, value in {**NOT_DONE, **said}.items() if other.get(name, value) != value]


def for_readers(line: Line) -> Line:
    """The line with every field that readers of DLMB's own lines look at. A time that is not known is NaN."""
    if line["kind"] == "launch":
        return {**line, "time": line["time"] or ""}
    if line["kind"] != "cell":
        return line
    said = line["time_ns"] or {}
    filled = {**NOT_SAID, **line, "traffic": line["traffic"] or {**NOTHING_MOVED, "payload_bytes": payload_of(line)}}
    if line["status"] == "ok":
        filled["statistic"] = next((name for name in ("median", "mean") if name in said), "")
        typical = float(said.get(filled["statistic"], math.nan))
        filled["time_ns"] = {"median": typical, "median_low": None, "median_high": None, "p99": None, "max": typical}
    return filled


def payload_of(line: Line) -> int:
    """Of an operation whose traffic is not known, as far as the size says: each rank gives a message of this size."""
    return round(line["parameters"].get("message-size", 0) * line["world"]["ranks"])
