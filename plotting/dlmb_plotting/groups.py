# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which cells stand side by side: the same traffic on the same ranks, done in different ways."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dlmb_plotting.results import Cell


@dataclass
class Group:
    """Cells that differ in backend and method only."""

    title: str
    cells: list[Cell]


def setting(cell: Cell) -> dict[str, Any]:
    """Everything but the way it was done, flat: what a group has in common."""
    line = cell.line
    world = line.get("world") or {}
    flat = {"preset": line.get("preset") or "no preset", "memory": line.get("memory", "")}
    flat.update({f"world {name}": value for name, value in world.items()})
    flat.update(line.get("parameters") or {})
    flat.update({name: line[name] for name in ("mode", "seed", "draws", "fill") if name in line})
    if "cache" in line:
        flat["cache"] = line["cache"]["mode"]
    return flat


def grouped(cells: list[Cell]) -> dict[str, list[Group]]:
    """Groups by pattern, in file order; inside a group backends are sorted, because the order of measuring is random.
    A title names the preset, the ranks, and what else differs between groups."""
    patterns: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        key = json.dumps(setting(cell), sort_keys=True)
        patterns.setdefault(cell.line["pattern"], {}).setdefault(key, []).append(cell)
    return {pattern: titled(list(groups.values())) for pattern, groups in patterns.items()}


def titled(groups: list[list[Cell]]) -> list[Group]:
    settings = [setting(cells[0]) for cells in groups]
    names = {name: None for values in settings for name in values}
    differing = [name for name in names if len({json.dumps(values.get(name)) for values in settings}) > 1]
    by_preset: dict[str, list[dict[str, Any]]] = {}
    for values in settings:
        by_preset.setdefault(values["preset"], []).append(values)
    return [
        Group(title_of(values, by_preset[values["preset"]], differing), sorted(cells, key=lambda cell: cell.way))
        for values, cells in zip(settings, groups)
    ]


def title_of(values: dict[str, Any], same_preset: list[dict[str, Any]], differing: list[str]) -> str:
    """Parameters that only follow from the preset say nothing new, so only those that differ within it are named."""
    always = ("preset", "memory", "world ranks", "world ranks_per_node")
    extra = [
        f"{name.replace('world ', '')} {values.get(name)}"
        for name in differing
        if name not in always and len({json.dumps(other.get(name)) for other in same_preset}) > 1
    ]
    ranks = f"{values.get('world ranks', '?')} ranks"
    if values.get("world ranks_per_node") not in (None, 0, values.get("world ranks")):
        ranks += f", {values['world ranks_per_node']} per node"
    return ", ".join([str(values["preset"]), ranks, f"{values['memory']} memory", *extra])
