# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cell of the candidate that a cell of the baseline is compared with.

DLMB's own cells have the same id on both sides. What dlmb_convert read says less than a cell of DLMB does (no seed, no cache, not every
parameter), so its id is another one. It goes with the one cell that it may be about: nothing of what both say differs, neither the
operation, its size, the ranks nor the definition of the time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dlmb_launch.compare.campaign import Campaign
from dlmb_results.cells import NOT_DONE, contradictions
from dlmb_results.names import parts_of

Facts = dict[str, Any]  # what is known of a cell, by name
Differences = dict[str, tuple[Any, Any]]  # in the baseline and in the candidate, by name

KEY = ("pattern", "operation", "message-size", "ranks")  # cells that differ in these are of different things
WITHOUT_SIZE = "barrier"
IN_IDS = ("pattern", "backend", "method", "memory", "mode", "ranks", "ranks_per_node", "cache", "fill", "seed", "draws", "beside")
ELEMENT = "element"  # alone may differ, and is then named: as many bytes are moved
BY_ITSELF = "default"  # how converted lines call the method that a library takes by itself


@dataclass
class Partners:
    of: dict[int, int] = field(default_factory=dict)  # row of the candidate by row of the baseline
    unlike: dict[int, str] = field(default_factory=dict)  # by row of the baseline: in what the two differ all the same
    alone: dict[int, str] = field(default_factory=dict)  # by row of the baseline: why it has no partner, where cells are near


def facts_of(campaign: Campaign, row: int) -> Facts:
    """The facts of a cell. Its id holds only those parameters that are not the default."""
    parts = parts_of(campaign.cells[row].id)
    facts: Facts = {name: parts[name] for name in IN_IDS if name in parts}
    facts |= dict(campaign.parameters[row])
    if facts.get("ranks_per_node") == "0":  # not known
        del facts["ranks_per_node"]
    if facts.get("pairs") != "all" and str(facts.get("pairs")) == half_of(facts.get("ranks", "")):
        facts["pairs"] = "all"
    if facts.get("operation") == WITHOUT_SIZE:
        facts.pop("message-size", None)
    return facts


def half_of(ranks: str) -> str:
    return str(int(ranks) // 2) if re.fullmatch("[0-9]{1,18}", ranks) else ""


def key_of(facts: Facts) -> tuple[Any, ...]:
    return tuple(facts.get(name, "") for name in KEY)


def partners(baseline: Campaign, candidate: Campaign) -> Partners:
    found = Partners({row: candidate.row_of[cell.id] for row, cell in enumerate(baseline.cells) if cell.id in candidate.row_of})
    if not any(cell.suite for side in (baseline, candidate) for cell in side.cells):
        return found
    near: defaultdict[tuple[Any, ...], list[tuple[int, Facts]]] = defaultdict(list)
    for row in range(len(candidate.cells)):
        facts = facts_of(candidate, row)
        near[key_of(facts)].append((row, facts))
    for row, cell in enumerate(baseline.cells):
        if row not in found.of:
            facts = facts_of(baseline, row)
            others = [(other, its) for other, its in near[key_of(facts)] if cell.suite or candidate.cells[other].suite]
            choose(found, row, [(other, its, differences(baseline, row, facts, candidate, other, its)) for other, its in others])
    return found


def differences(baseline: Campaign, row: int, facts: Facts, candidate: Campaign, other: int, its: Facts) -> Differences:
    """The facts that both say, and not alike. A line of another program says of its library's own choice no more than that it is one."""
    if row in baseline.defaults and other in candidate.defaults and BY_ITSELF in (facts.get("method"), its.get("method")):
        facts, its = {**facts, "method": BY_ITSELF}, {**its, "method": BY_ITSELF}
    said, measured = (facts, its) if baseline.cells[row].suite else (its, facts)
    return {name: (facts.get(name, NOT_DONE.get(name, "")), its.get(name, NOT_DONE.get(name, ""))) for name in contradictions(said, measured)}


def choose(found: Partners, row: int, others: list[tuple[int, Facts, Differences]]) -> None:
    """The only one that agrees, else the only one that differs in its element alone."""
    for unlike in ([], [ELEMENT]):
        fitting = [(other, its, differing) for other, its, differing in others if list(differing) == unlike]
        if len(fitting) == 1:
            [(other, _, differing)] = fitting
            found.of[row] = other
            found.unlike |= {row: f"{name} {one} and {two}" for name, (one, two) in differing.items()}
            return
        if fitting:
            found.alone[row] = f"{len(fitting)} cells of the candidate may be it; they differ in {', '.join(varying(its for _, its, _ in fitting))}"
            return
    if others:
        nearest = min((differing for _, _, differing in others), key=len)
        found.alone[row] = "the candidate's has " + ", ".join(f"{name} {two}, not {one}" for name, (one, two) in nearest.items())


def varying(facts: Iterable[Facts]) -> list[str]:
    every = list(facts)
    return sorted(name for name in set().union(*every) if len({each.get(name) for each in every}) > 1)
