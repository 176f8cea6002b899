# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The whole comparison: every cell's verdict, and a summary per pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.checks import Declared, UsageError
from dlmb_launch.compare.deciding import decide
from dlmb_launch.compare.evidence import EvidenceTable, Side, evidence
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.pairing import Pairing, pair
from dlmb_launch.compare.summary import PatternSummary, summarise
from dlmb_launch.compare.verdict import State, Verdict


@dataclass(frozen=True)
class Rules:
    declared: Declared = Declared()
    margin: float | None = None  # share, instead of the usual 5 % or 3 %
    paired: bool = False


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
    verdicts = pairing.verdicts + judged_verdicts(pairing, baseline, candidate, metric, rules)
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
        summarise(pairing.rows, baseline, candidate, metric),
    )


def keep(pairing: Pairing, baseline: Campaign, only: Set[str]) -> None:
    pairing.rows = [rows for rows in pairing.rows if baseline.cells[rows[0]].id in only]
    pairing.verdicts = [verdict for verdict in pairing.verdicts if verdict.cell.id in only]
    pairing.only_in_candidate = [cell for cell in pairing.only_in_candidate if cell.id in only]


def judged_verdicts(pairing: Pairing, baseline: Campaign, candidate: Campaign, metric: Metric, rules: Rules) -> list[Verdict]:
    """Cells with the same numbers of launches are computed together."""
    if not pairing.rows:
        return []
    rows = np.array(pairing.rows)
    launches = np.column_stack([baseline.counts()[rows[:, 0]], candidate.counts()[rows[:, 1]]])
    tables: list[tuple[EvidenceTable, int]] = []
    members: list[np.ndarray] = []
    shapes = np.unique(launches, axis=0).tolist()
    for shape in shapes:
        chosen = rows[(launches == shape).all(axis=1)]
        sides = Side(baseline, chosen[:, 0], shape[0]), Side(candidate, chosen[:, 1], shape[1])
        tables.append((evidence(*sides, metric, rules.margin, rules.paired), min(shape)))
        members.append(chosen)
    return [
        Verdict(baseline.cells[chosen[index][0]], state, reason, shape[0], shape[1], table.row(index))
        for shape, chosen, (table, _), judged in zip(shapes, members, tables, decide(tables))
        for index, (state, reason) in enumerate(judged)
    ]
