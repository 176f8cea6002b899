# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which cells stand side by side: the same traffic on the same ranks, by different methods; and short names of cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dlmb_plotting.results import OWN, Cell
from dlmb_results.converted import contradictions
from dlmb_results.names import WINDOWED


@dataclass
class Group:
    """Cells that differ only in backend, method and the parameters in `without`."""

    title: str
    cells: list[Cell]


Setting = tuple[tuple[str, Any], ...]
NAMED = ("operation", "window", "pairs")  # parameters without which nobody knows what traffic it is
NOT_SAID = ("seed", "draws", "cache", "fill")  # by results of other programs


def setting(cell: Cell, without: Collection[str] = ()) -> Setting:
    """Everything but backend and method, flat: what a group has in common."""
    pairs = (
        ("preset", cell.preset),
        ("memory", cell.memory),
        ("ranks", cell.ranks),
        ("ranks per node", cell.ranks_per_node),
        ("timing", cell.mode),  # a pattern has a parameter mode
        ("seed", cell.seed),
        ("draws", cell.draws),
        ("cache", cell.cache),
        ("fill", cell.fill),
        *(pair for pair in cell.parameters if pair[0] not in without),
    )
    return tuple(pair for pair in pairs if pair[0] not in NOT_SAID) if cell.suite else pairs


def home(own: Setting, measured: dict[Setting, dict[str, Any]]) -> Setting:
    """The one measured setting of which nothing is against what a result of another program says, else the one that differs in its element
    alone, else its own."""
    said = {name: value for name, value in own if (name, value) != ("ranks per node", 0)}
    against = {other: contradictions(said, values) for other, values in measured.items()}
    for unlike in ([], ["element"]):
        agreeing = [other for other, names in against.items() if names == unlike]
        if agreeing:
            return agreeing[0] if len(agreeing) == 1 else own
    return own


def beside_others(group: Group) -> Group:
    """Where cells of other programs are in it, with DLMB's own named as such, and by the mean where their definition has one: that is what the
    others print. Elements are named where they differ."""
    if not any(cell.suite for cell in group.cells):
        return group
    elements = {dict(cell.parameters).get("element") for cell in group.cells}
    found = []
    for cell in group.cells:
        element = dict(cell.parameters).get("element") if len(elements) > 1 else None
        named = cell._replace(method=f"{cell.method} {element}") if element else cell
        found.append(named if cell.suite else of_dlmb(named))
    return Group(group.title, found)


def of_dlmb(cell: Cell) -> Cell:
    if not cell.mean_ns:
        return cell._replace(suite=OWN)
    rate = None if cell.bus_bandwidth is None else cell.bus_bandwidth * cell.median_ns / cell.mean_ns
    return cell._replace(suite=OWN, statistic="mean", median_ns=cell.mean_ns, low_ns=cell.mean_ns, high_ns=cell.mean_ns, phases_ns=(), bus_bandwidth=rate)


def grouped(cells: list[Cell], without: Collection[str] = ()) -> list[Group]:
    """Groups of one pattern in file order; inside a group methods are sorted, because the order of measuring is random. A title
    names the preset, the ranks, and what else differs between groups of that preset. What another program timed stands beside what was
    measured here where nothing that it says is against it."""
    groups: dict[Setting, list[Cell]] = {}
    settings = [setting(cell, without) for cell in cells]
    measured = {own: dict(own) for cell, own in zip(cells, settings) if not cell.suite}
    homes = {own: home(own, measured) for cell, own in zip(cells, settings) if cell.suite and cell.timed}
    for cell, own in zip(cells, settings):
        groups.setdefault(homes.get(own, own) if cell.suite and cell.timed else own, []).append(cell)
    values: dict[str, dict[str, set[Any]]] = {}  # of every name, by preset
    for key in groups:
        of_preset = values.setdefault(str(key[0][1]), {})
        for name, value in key:
            of_preset.setdefault(name, set()).add(value)
    return [Group(title(dict(key), values[str(key[0][1])]), sorted(each, key=lambda cell: cell.method_name)) for key, each in groups.items()]


def title(values: dict[str, Any], of_preset: dict[str, set[Any]]) -> str:
    """Names the traffic, and of other parameters those that differ between the groups of a preset."""
    always = ("preset", "memory", "ranks", "ranks per node", *NAMED)
    extra = [f"{name} {value}" for name, value in values.items() if name not in always and len(of_preset[name]) > 1]
    ranks = f"{values['ranks']} ranks"
    if values["ranks per node"] not in (0, values["ranks"]):
        ranks += f", {values['ranks per node']} per node"
    return ", ".join([*filter(None, [values["preset"], traffic(values)]), ranks, f"{values['memory']} memory", *extra])


def traffic(parameters: Mapping[str, Any]) -> str:
    """Which operation, and of one with windows how they are: "allreduce", "bandwidth window 64 pairs all". Empty: the pattern says it."""
    operation = str(parameters.get("operation", ""))
    windows = [f"{name} {parameters[name]}" for name in NAMED[1:] if operation in WINDOWED and name in parameters]
    return " ".join(filter(None, (operation, *windows)))


def short_names(names: Mapping[str, str]) -> dict[str, str]:
    """By the same keys. A name is sorted key=value parts joined by '/', as a cell id is; parts that all share are left out, but not the
    operation."""
    parts = {key: name.split("/") for key, name in names.items()}
    shared = set.intersection(*(set(each) for each in parts.values())) if len(parts) > 1 else set()
    kept = {part for each in parts.values() for part in each if part not in shared or name_of(part) in NAMED}
    return {key: " ".join(shown(part) for part in each if part in kept) or names[key] for key, each in parts.items()}


def name_of(part: str) -> str:
    return part.partition("=")[0].removeprefix("p.")


def shown(part: str) -> str:
    name, value = name_of(part), part.partition("=")[2]
    return value if name in ("backend", "method", "pattern", "preset", "operation") else f"{name}={value}"
