# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The writer of plan files, for tests of what reads them."""

from __future__ import annotations

import json
from typing import Any

from dlmb_results.plans import SCHEMA


def plan_text(document: dict[str, Any]) -> str:
    """The file of one iteration that plans_of() reads so. Where bytes lie is left out: who runs the plans lays them out."""
    header = {"schema": f"{SCHEMA}.0", "pattern": "", "preset": "", "parameters": {}, "draw": {"seed": 1, "index": 0}, "statistics": {},
              **{key: value for key, value in document.items() if key not in ("plans", "schema")}}
    lines: list[dict[str, Any]] = [header]
    groups: list[list[int]] = []
    for plan in document["plans"]:
        mine: list[int] = []
        for step in plan["steps"]:
            if "group" in step and step["group"] not in groups:
                groups.append(step["group"])
                lines.append({"group": len(groups) - 1, "members": step["group"]})
            if "group" in step and groups.index(step["group"]) not in mine:
                mine.append(groups.index(step["group"]))
        steps = [written(step, groups) for step in plan["steps"]]
        lines.append({"rank": plan["rank"], "groups": mine, "step_count": len(steps), "steps": steps})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def written(step: dict[str, Any], groups: list[list[int]]) -> dict[str, Any]:
    made = {**step, **({"group": groups.index(step["group"])} if "group" in step else {})}
    for end, side in (("to", "send"), ("from", "recv")):
        if step["operation"] == side:
            blocks = made.pop(side)
            stride = -(-blocks[0]["bytes"] // 64) * 64
            made |= {end: blocks[0], **({"window": {"messages": len(blocks), "stride": stride}} if len(blocks) > 1 else {})}
    return made
