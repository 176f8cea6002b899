# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which cells of the two sides can be compared, and a verdict on those that cannot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.checks import Declared, Environments, faults_of
from dlmb_launch.compare.definitions import leave_out_others
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.verdict import FEWEST_LAUNCHES, State, Verdict

WRONG_PAYLOAD = ("invalid",)
DID_NOT_END = ("failed", "timeout")


@dataclass
class Pairing:
    rows: list[tuple[int, int]] = field(default_factory=list)  # baseline and candidate row of every cell to be judged
    verdicts: list[Verdict] = field(default_factory=list)  # on those that cannot be judged
    only_in_candidate: list[Cell] = field(default_factory=list)
    skipped: int = 0  # cells that ran on neither side
    candidate_is_wrong: bool = False  # it failed validation in some cell


def pair(baseline: Campaign, candidate: Campaign, declared: Declared, metric: Metric) -> Pairing:
    """Cells in the order of the baseline, then those that only the candidate has."""
    declared.refuse_unknown(baseline.launches + candidate.launches)
    pairing = Pairing()
    differing = leave_out_others(baseline, candidate)
    converted = Converted(baseline, candidate, metric)
    environments = Environments(baseline, candidate, declared)
    counts = baseline.counts(), candidate.counts()
    for row, cell in enumerate(baseline.cells):
        other = candidate.row_of.get(cell.id)
        launches = int(counts[0][row]), 0 if other is None else int(counts[1][other])
        wrong = "" if other is None else faults_of(candidate, other, WRONG_PAYLOAD)
        pairing.candidate_is_wrong |= wrong != ""
        wrong = wrong or faults_of(baseline, row, WRONG_PAYLOAD)
        if wrong:
            pairing.verdicts.append(Verdict(cell, State.INVALID, wrong, *launches))
        elif launches == (0, 0) and only_skipped(baseline, row) and (other is None or only_skipped(candidate, other)):
            pairing.skipped += 1
        elif reason := (
            why_not(baseline, row, candidate, other, launches, environments) or differing.get(cell.id) or converted.why_not(row, other)
        ):
            pairing.verdicts.append(Verdict(cell, State.NOT_COMPARABLE, reason, *launches))
        elif min(launches) < FEWEST_LAUNCHES:
            pairing.verdicts.append(Verdict(cell, State.INCONCLUSIVE, "few_launches", *launches))
        else:
            assert other is not None
            pairing.rows.append((row, other))
    for row, cell in enumerate(candidate.cells):
        if cell.id not in baseline.row_of:
            add_new(pairing, candidate, row, int(counts[1][row]))
    return pairing


@dataclass
class Converted:
    """Cells of dlmb_convert are shown, never judged: nothing tells how far a launch differs from the next, on what it ran, or whether it
    moved the right bytes."""

    baseline: Campaign
    candidate: Campaign
    metric: Metric

    def why_not(self, row: int, other: int | None) -> str:
        """Empty: the cell is DLMB's own."""
        suite = self.baseline.cells[row].suite
        if not suite or other is None:
            return ""
        medians = [float(np.median(side.values(at, self.metric.name))) for side, at in ((self.baseline, row), (self.candidate, other))]
        better, worse = medians if self.metric.worse_is_larger else reversed(medians)
        ratio = f"ratio {worse / better:.3f}" if better > 0 else "no ratio"
        return f"{ratio}, no verdict: {suite} recorded no launches, no machine, no check"


def add_new(pairing: Pairing, candidate: Campaign, row: int, launches: int) -> None:
    cell = candidate.cells[row]
    if wrong := faults_of(candidate, row, WRONG_PAYLOAD):
        pairing.candidate_is_wrong = True
        pairing.verdicts.append(Verdict(cell, State.INVALID, wrong, 0, launches))
    elif launches == 0 and only_skipped(candidate, row):
        pairing.skipped += 1
    else:
        pairing.only_in_candidate.append(cell)


def only_skipped(campaign: Campaign, row: int) -> bool:
    return not faults_of(campaign, row, DID_NOT_END)


def why_not(
    baseline: Campaign, row: int, candidate: Campaign, other: int | None, launches: tuple[int, int], environments: Environments
) -> str:
    """Why a cell of the baseline cannot be compared; empty: it can. A cell that the candidate no longer measures could hide a
    regression, so it is no less a reason than a difference."""
    if other is None:
        return "only in the baseline"
    one, two = baseline.cells[row], candidate.cells[other]
    if fault := faults_of(candidate, other, DID_NOT_END):
        return fault
    for campaign, its_row, count in ((baseline, row, launches[0]), (candidate, other, launches[1])):
        if count == 0:
            return faults_of(campaign, its_row, (*DID_NOT_END, "skipped")) or f"no number in the {campaign.name}"
        if its_row in campaign.changed:
            return f"within the {campaign.name} {campaign.changed[its_row]}"
    if one != two:
        return one.differs_from(two)
    if one.shared_gpu:
        return "ranks took turns on one GPU, so its times are no measurement"
    if one.suite:
        return ""  # Converted says it, with the ratio
    if not one.validated:
        return "not validated (-c off), so its times may be those of wrong bytes"
    if one.fill == "zeros":
        return "it moved zeros, which machines may treat better than data"
    return environments.why_not(baseline.launches_of(row), candidate.launches_of(other))
