# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The whole comparison: the verdict on every cell, and a summary per pattern.

A regression has to be significant among all cells, to have an interval that does not hold 1, and to matter.

The mean of a pattern is that of the cells' own ratios, so it lies among them and one odd launch moves it no more than them. A launch moves
all its cells together, so for the interval each launch counts as one number, the mean of its cells' logarithms, and the same exact test as
for a cell is inverted. Cells of other launches (another world, a launch that lacks some cells) are added launch by launch where the two have
nothing in common, because then the sums are as independent as the launches; where they share some, their bounds are added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell, Metric
from dlmb_launch.compare.evidence import NIGHTS, SIGNED_RANK, Columns, EvidenceTable, Side, arranged, evidence
from dlmb_launch.compare.pairing import Declared, Pairing, pair
from dlmb_launch.compare.verdict import AMONG_MANY, BELOW_FLOOR, BELOW_MARGIN, CLOCK, FEW_LAUNCHES, NIGHTS_DIFFER, NOT_IN_TURNS, WIDE, State, Verdict
from dlmb_results.cells import by_key
from dlmb_results.names import plural
from dlmb_results.program import UsageError
from dlmb_statistics.ranks import ENOUGH_PAIRS, significant

SUSPICIOUS = 0.05  # p value of a screening cell
Judged = tuple[State, str]


def decide(tables: Sequence[EvidenceTable]) -> list[list[Judged]]:
    """State and reason of every cell.

    Cells with too few launches, or whose sides were not measured in turns, are screened: they are no part of the family that false
    discoveries are controlled in.
    """
    family = [~table.below_floor & table.enough & table.arrangement.in_turns for table in tables]
    worse, better = (among_family(tables, family, name) for name in ("p_worse", "p_better"))
    return [[judge(table, index, bool(worse[at][index]), bool(better[at][index])) for index in range(len(table))] for at, table in enumerate(tables)]


def among_family(tables: Sequence[EvidenceTable], family: list[np.ndarray], name: str) -> list[np.ndarray]:
    """Per table, which cells are significant by that p value."""
    found = [np.zeros(len(table), dtype=bool) for table in tables]
    together = [table.columns[name][members] for table, members in zip(tables, family)]
    if sum(map(len, together)):
        marks = significant(np.concatenate(together))
        for members, marked, some in zip(family, found, np.split(marks, np.cumsum([len(part) for part in together])[:-1])):
            marked[members] = some
    return found


def judge(table: EvidenceTable, index: int, is_worse: bool, is_better: bool) -> Judged:
    ratio, low, high, margin, resolution, p_worse = (float(table.columns[name][index]) for name in ("ratio", "low", "high", "margin", "resolution", "p_worse"))
    if table.below_floor[index]:
        return State.INCONCLUSIVE, BELOW_FLOOR
    screened = NOT_IN_TURNS if not table.arrangement.in_turns else "" if table.enough[index] else FEW_LAUNCHES
    needed = max(margin, resolution)
    # The tests are one-sided at 5 %. The interval of launches leaves 2.5 % on each side: the stricter of both is what the reader sees.
    is_worse, is_better = is_worse and low > 1, is_better and high < 1
    if is_worse and ratio >= 1 + needed:
        return State.REGRESSED, ""
    if is_better and ratio <= 1 / (1 + needed):
        return State.IMPROVED, ""
    # Only the margin that was stated makes two sides the same; what else widens it leaves the question open.
    if low >= 1 / (1 + margin) and high <= 1 + margin and screened != NOT_IN_TURNS:
        return State.SAME, ""
    if screened:
        suspect = p_worse <= SUSPICIOUS and ratio >= 1 + needed
        return State.SUSPECT if suspect else State.INCONCLUSIVE, screened
    if low > 1 + needed:
        return State.SUSPECT, AMONG_MANY
    if high < 1 / (1 + needed):
        return State.INCONCLUSIVE, AMONG_MANY
    if is_worse or is_better:
        return State.INCONCLUSIVE, BELOW_MARGIN if 1 / (1 + margin) < ratio < 1 + margin else CLOCK
    return State.INCONCLUSIVE, NIGHTS_DIFFER if table.arrangement.test == NIGHTS else WIDE


@dataclass(frozen=True)
class Group:
    """Cells that were measured in the same launches."""

    columns: Columns  # launches of the baseline
    others: Columns  # of the candidate
    rows: list[int]  # of the baseline, one per line of the table
    table: EvidenceTable


@dataclass(frozen=True)
class PatternSummary:
    pattern: str
    cells: int
    ratio: float  # geometric mean; above 1 is worse
    low: float  # interval, of the confidence that the cells have
    high: float


def summarise(groups: list[Group], baseline: Campaign) -> list[PatternSummary]:
    by_pattern: dict[str, list[Part]] = {}
    for group in groups:
        patterns = np.array([baseline.cells[row].pattern for row in group.rows])
        for pattern in np.unique(patterns).tolist():
            by_pattern.setdefault(pattern, []).append(Part.of(group, np.flatnonzero(patterns == pattern)))
    return [summary(pattern, parts) for pattern, parts in sorted(by_pattern.items())]


@dataclass
class Part:
    """Sums over cells, per launch."""

    group: Group
    columns: set[int]
    others: set[int]
    cells: int
    ratio: float  # sum of logarithms
    baseline: np.ndarray
    candidate: np.ndarray

    @staticmethod
    def of(group: Group, cells: np.ndarray) -> Part:
        table = group.table
        sums = (values[cells].sum(axis=0) for values in (table.baseline, table.candidate))
        ratio = float(np.log(table.columns["ratio"][cells]).sum())
        return Part(group, set(group.columns), set(group.others), len(cells), ratio, *sums)

    def can_take(self, part: Part) -> bool:
        mine, its = self.group.table.arrangement, part.group.table.arrangement
        if mine != its or (len(self.baseline), len(self.candidate)) != (len(part.baseline), len(part.candidate)):
            return False
        return mine.test == NIGHTS or not (self.columns & part.columns or self.others & part.others)

    def take(self, part: Part) -> None:
        self.columns |= part.columns
        self.others |= part.others
        self.cells += part.cells
        self.baseline = self.baseline + part.baseline
        self.candidate = self.candidate + part.candidate

    def bounds(self) -> np.ndarray:
        """The bounds of the sum over the cells."""
        means = (values[None, :] / self.cells for values in (self.baseline, self.candidate))
        _, low, high, _, _ = self.group.table.arrangement.compared(*means)
        return self.cells * np.array([low[0], high[0]])


def summary(pattern: str, parts: list[Part]) -> PatternSummary:
    cells, ratio = sum(part.cells for part in parts), sum(part.ratio for part in parts)
    together: list[Part] = []
    for part in sorted(parts, key=lambda part: -part.cells):
        taker = next((other for other in together if other.can_take(part)), None)
        if taker is None:
            together.append(part)
        else:
            taker.take(part)
    low, high = sum(part.bounds() for part in together)
    mean, low, high = (float(np.exp(value / cells)) for value in (ratio, min(low, ratio), max(high, ratio)))
    return PatternSummary(pattern, cells, mean, low, high)


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
    return Comparison(metric, rules, baseline, candidate, verdicts, pairing.only_in_candidate, pairing.skipped, pairing.candidate_is_wrong,
                      summarise(groups, baseline), [*rounds_alternate(groups, baseline), *not_paired(groups, rules)])


def keep(pairing: Pairing, baseline: Campaign, only: Set[str]) -> None:
    pairing.rows = [rows for rows in pairing.rows if baseline.cells[rows[0]].id in only]
    pairing.verdicts = [verdict for verdict in pairing.verdicts if verdict.cell.id in only]
    pairing.only_in_candidate = [cell for cell in pairing.only_in_candidate if cell.id in only]


def judged_together(pairing: Pairing, baseline: Campaign, candidate: Campaign, metric: Metric, rules: Rules) -> list[Group]:
    """Cells that were measured in the same launches are computed together."""
    members = by_key(pairing.rows, lambda pair: (baseline.launches_of(pair[0]), candidate.launches_of(pair[1])))
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
    return [f"odd and even rounds inside the launches differ by more than the margin in {plural(len(found), 'cell')}, most by {100 * largest:.0f} % ({name}); verdicts compare launches"]


def not_paired(groups: list[Group], rules: Rules) -> list[str]:
    cells = sum(len(group.rows) for group in groups if group.table.arrangement.test != SIGNED_RANK)
    if not rules.paired or not cells:
        return []
    return [f"--paired: {plural(cells, 'cell')} {'was' if cells == 1 else 'were'} not tested as pairs: fewer than {ENOUGH_PAIRS} launches on a side, or launches that do not follow each other directly on the same day"]
