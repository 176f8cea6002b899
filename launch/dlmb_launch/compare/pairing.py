# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which cells of the two sides can be compared, and a verdict on those that cannot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.checks import Declared, Environments, faults_of
from dlmb_launch.compare.left_out import leave_out
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.partners import partners
from dlmb_launch.compare.verdict import FEW_LAUNCHES, FEWEST_LAUNCHES, BareRatio, State, Verdict

WRONG_PAYLOAD = ("invalid",)
DID_NOT_END = ("failed", "timeout")
TURNS = "ranks took turns on one GPU, so its times are no measurement"


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
    found = partners(baseline, candidate)
    refused = leave_out(baseline, candidate, found.of)
    environments = Environments(baseline, candidate, declared)
    counts = baseline.counts(), candidate.counts()
    for row, cell in enumerate(baseline.cells):
        other = found.of.get(row)
        launches = int(counts[0][row]), 0 if other is None else int(counts[1][other])
        wrong = "" if other is None else faults_of(candidate, other, WRONG_PAYLOAD)
        pairing.candidate_is_wrong |= wrong != ""
        wrong = wrong or faults_of(baseline, row, WRONG_PAYLOAD)
        if wrong:
            pairing.verdicts.append(Verdict(cell, State.INVALID, wrong, *launches))
        elif launches == (0, 0) and only_skipped(baseline, row) and (other is None or only_skipped(candidate, other)):
            pairing.skipped += 1
        elif reason := (why_not(baseline, row, candidate, other, launches, environments) or refused.get(row)):
            near = found.alone.get(row)
            pairing.verdicts.append(Verdict(cell, State.NOT_COMPARABLE, f"{reason}; {near}" if near else reason, *launches))
        elif suite := cell.suite or candidate.cells[other].suite:
            reasons = [f"no verdict: {suite} recorded no launches, no machine, no check", *filter(None, [found.unlike.get(row)])]
            ratio = bare_ratio(baseline, row, candidate, other, metric)
            pairing.verdicts.append(Verdict(cell, State.NOT_COMPARABLE, "; ".join(reasons), *launches, bare_ratio=ratio))
        elif min(launches) < FEWEST_LAUNCHES:
            pairing.verdicts.append(Verdict(cell, State.INCONCLUSIVE, FEW_LAUNCHES, *launches))
        else:
            assert other is not None
            pairing.rows.append((row, other))
    paired = set(found.of.values())
    for row in range(len(candidate.cells)):
        if row not in paired:
            add_new(pairing, candidate, row, int(counts[1][row]))
    return pairing


def bare_ratio(baseline: Campaign, row: int, candidate: Campaign, other: int, metric: Metric) -> BareRatio | None:
    """Cells of dlmb_convert are shown, never judged: nothing tells how far a launch differs from the next, on what it ran, or whether it
    moved the right bytes. Medians over launches."""
    one, two = (float(np.median(values)) for values in comparable(metric, (baseline, row), (candidate, other)))
    better, worse = (one, two) if metric.worse_is_larger else (two, one)
    return BareRatio(worse / better, one, two) if better > 0 else None


def comparable(metric: Metric, *places: tuple[Campaign, int]) -> list[np.ndarray]:
    """Per launch the metric of both. Where the number of one is a mean, so is that of the other: a record of the definitions osu and nccl
    has both."""
    means = [side.values(row, "mean_ns") for side, row in places]
    if metric.name == "time":
        return [side.values(row, "time") for side, row in places] if np.isnan(np.concatenate(means)).any() else means
    found = []
    for (side, row), mean_ns in zip(places, means):
        at_median, has_mean = side.values(row, metric.name), bool((mean_ns > 0).all())
        found.append(at_median * side.values(row, "median_ns") / mean_ns if has_mean and not side.cells[row].suite else at_median)
    return found


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
    if (one.suite or two.suite) and (one.shared_gpu or two.shared_gpu):
        return TURNS
    if one.suite or two.suite:
        return traffic_differs(one, two)
    if one != two:
        return one.differs_from(two)
    if one.shared_gpu:
        return TURNS
    if one.fill == "zeros":
        return "it moved zeros, which machines may treat better than data"
    return environments.why_not(baseline.launches_of(row), candidate.launches_of(other))


def traffic_differs(one: Cell, two: Cell) -> str:
    """Empty: it does not, as far as it is known. A converted line whose traffic is not known has no bytes on the wire."""
    known = one.wire_bytes and two.wire_bytes
    fields = [name for name in ("payload_bytes", "wire_bytes") if known and getattr(one, name) != getattr(two, name)]
    return f"{fields[0]} differs: {getattr(one, fields[0])} and {getattr(two, fields[0])}" if fields else ""
