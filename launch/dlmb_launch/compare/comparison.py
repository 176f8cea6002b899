# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The whole comparison: every cell's verdict, and a summary per pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dlmb_launch.compare.arrangement import SIGNED_RANK, Columns, arranged
from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.checks import Declared, UsageError
from dlmb_launch.compare.deciding import decide
from dlmb_launch.compare.evidence import Side, evidence
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.pairing import Pairing, pair
from dlmb_launch.compare.statistics.signed_rank import ENOUGH_PAIRS
from dlmb_launch.compare.summary import Group, PatternSummary, summarise
from dlmb_launch.compare.verdict import State, Verdict


@dataclass(frozen=True)
class Rules:
    declared: Declared = Declared()
    margin: float | None = None  # share, instead of the usual 5 % or 3 %
    paired: bool = False
    history: bool = False  # the campaigns of the baseline are nights


@dataclass
class Comparison:
    metric: Metric
    rules: Rules
    baseline: Campaign
    candidate: Campaign
    verdicts: list[Verdict]  # by state, the worst first; then by cell id
    only_in_candidate: list[Cell]
    skipped: int
    candidate_is_wrong: bool
    patterns: list[PatternSummary]
    remarks: list[str]  # on what was compared

    def count(self, state: State) -> int:
        return self.counts[state]

    @cached_property
    def counts(self) -> Counter[State]:
        return Counter(verdict.state for verdict in self.verdicts)

    @property
    def worst(self) -> list[Verdict]:
        """The ten largest ratios of cells that are gated."""
        judged = [verdict for verdict in self.verdicts if verdict.evidence is not None and verdict.gated]
        return sorted(judged, key=lambda verdict: -verdict.evidence.ratio)[:10]  # type: ignore[union-attr]

    @property
    def judged(self) -> int:
        """Cells with enough launches on both sides."""
        return sum(verdict.evidence is not None for verdict in self.verdicts)


def compare(baseline: Campaign, candidate: Campaign, metric: Metric, rules: Rules, only: Set[str] | None = None) -> Comparison:
    """only: ids of the cells to look at; None: all."""
    shared = {launch.id for launch in baseline.launches} & {launch.id for launch in candidate.launches}
    if shared:
        raise UsageError(f"launch {min(shared)} is on both sides; compare two different sets of launches")
    pairing = pair(baseline, candidate, rules.declared, metric)
    if only is not None:
        keep(pairing, baseline, only)
    groups = judged_together(pairing, baseline, candidate, metric, rules)
    verdicts = pairing.verdicts + judged_verdicts(groups, baseline)
    severity = {state: rank for rank, state in enumerate(State)}
    verdicts.sort(key=lambda verdict: (severity[verdict.state], verdict.cell.id))
    return Comparison(
        metric,
        rules,
        baseline,
        candidate,
        verdicts,
        pairing.only_in_candidate,
        pairing.skipped,
        pairing.candidate_is_wrong,
        summarise(groups, baseline),
        [*rounds_alternate(groups, baseline), *not_paired(groups, rules)],
    )


def keep(pairing: Pairing, baseline: Campaign, only: Set[str]) -> None:
    pairing.rows = [rows for rows in pairing.rows if baseline.cells[rows[0]].id in only]
    pairing.verdicts = [verdict for verdict in pairing.verdicts if verdict.cell.id in only]
    pairing.only_in_candidate = [cell for cell in pairing.only_in_candidate if cell.id in only]


def judged_together(pairing: Pairing, baseline: Campaign, candidate: Campaign, metric: Metric, rules: Rules) -> list[Group]:
    """Cells that were measured in the same launches are computed together."""
    members: dict[tuple[Columns, Columns], list[tuple[int, int]]] = {}
    for row, other in pairing.rows:
        members.setdefault((baseline.launches_of(row), candidate.launches_of(other)), []).append((row, other))
    groups = []
    for (columns, others), pairs in members.items():
        rows = np.array(pairs)
        sides = Side(baseline, rows[:, 0], len(columns)), Side(candidate, rows[:, 1], len(others))
        arrangement = arranged(baseline, columns, candidate, others, rules.paired, rules.history)
        table = evidence(*sides, metric, rules.margin, arrangement)
        groups.append(Group(columns, others, rows[:, 0].tolist(), table))
    return groups


def judged_verdicts(groups: list[Group], baseline: Campaign) -> list[Verdict]:
    return [
        Verdict(baseline.cells[row], state, reason, len(group.columns), len(group.others), group.table.row(index))
        for group, judged in zip(groups, decide([group.table for group in groups]))
        for index, (row, (state, reason)) in enumerate(zip(group.rows, judged))
    ]


def rounds_alternate(groups: list[Group], baseline: Campaign) -> list[str]:
    """A bias that every launch has alike is seen inside launches only."""
    found = [
        (float(group.table.own_difference[index]), baseline.cells[group.rows[index]].name)
        for group in groups
        for index in np.flatnonzero(group.table.own_difference > group.table.columns["margin"]).tolist()
    ]
    if not found:
        return []
    largest, name = max(found)
    cells = "1 cell" if len(found) == 1 else f"{len(found)} cells"
    return [f"odd and even rounds inside the launches differ by more than the margin in {cells}, most by {100 * largest:.0f} % ({name}); verdicts compare launches"]


def not_paired(groups: list[Group], rules: Rules) -> list[str]:
    cells = sum(len(group.rows) for group in groups if group.table.arrangement.test != SIGNED_RANK)
    if not rules.paired or not cells:
        return []
    number = "1 cell was" if cells == 1 else f"{cells} cells were"
    return [f"--paired: {number} not tested as pairs: fewer than {ENOUGH_PAIRS} launches on a side, or launches that do not follow each other directly on the same day"]
