# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the two sides that can be compared, and a verdict on those that cannot: of other things, by launches in another environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell, Metric
from dlmb_launch.compare.left_out import leave_out
from dlmb_launch.compare.partners import partners
from dlmb_launch.compare.verdict import FEW_LAUNCHES, FEWEST_LAUNCHES, BareRatio, State, Verdict
from dlmb_results.arguments import unknown_name
from dlmb_results.cells import DIFFERS_ALWAYS, Launch
from dlmb_results.program import UsageError

EXPLAINING = ("kernel", "governor", "transparent_huge_pages", "numa_balancing", "network", "cuda_driver", "cuda_runtime")  # facts
VALUE_WIDTH = 60  # characters of a setting's value in a reason


@dataclass(frozen=True)
class Declared:
    """Settings (keys of the identity or variables) that may differ. A factor is what is under study: the sides may differ in
    it, launches of one side may not. What is ignored may differ anywhere."""

    factors: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def steering(self, settings: dict[str, str]) -> dict[str, str]:
        """The settings that must agree in all launches of one side."""
        return {key: value for key, value in settings.items() if key not in self.ignored | DIFFERS_ALWAYS}

    def refuse_unknown(self, launches: Sequence[Launch]) -> None:
        known = {key for launch in launches for key in launch.settings}
        for key in sorted((self.factors | self.ignored) - known):
            raise UsageError(f"no launch records it: {unknown_name('setting', key, known)}")


def environments_differ(baseline: list[Launch], candidate: list[Launch], declared: Declared) -> str:
    """Why these launches may not be compared; empty: they may."""
    if any(launch.test_double for launch in baseline + candidate):
        return "a launch ran on a test double of the CUDA runtime, so its times are no measurement"
    keys = {key for launch in baseline + candidate for key in launch.settings}
    for key in sorted(keys - declared.ignored - DIFFERS_ALWAYS):
        one = {launch.settings.get(key, "unset") for launch in baseline}
        other = {launch.settings.get(key, "unset") for launch in candidate}
        for side, values in (("baseline", one), ("candidate", other)):
            if len(values) > 1:
                return f"{key} differs within the {side}: {shown(values)}"
        if one != other and key not in declared.factors:
            return f"{key} differs: {shown(one)} in the baseline, {shown(other)} in the candidate"
    return ""


def facts_that_differ(baseline: Campaign, candidate: Campaign) -> list[str]:
    """Facts of the machine that forbid no comparison, but may be why something changed. Launches of dlmb_convert have none."""
    found = []
    for fact in EXPLAINING:
        one, other = ({launch.facts.get(fact, "unknown") for launch in campaign.launches if launch.facts} for campaign in (baseline, candidate))
        if one != other and one and other:
            found.append(f"{fact} differs, which may explain a change: {shown(one)} in the baseline, {shown(other)} in the candidate")
    return found


def shown(values: set[str]) -> str:
    return " and ".join(f"'{value[:VALUE_WIDTH]}'" for value in sorted(values))


def faults_of(campaign: Campaign, row: int, statuses: tuple[str, ...]) -> str:
    """How often and why a cell ended in one of these statuses; empty: never."""
    found = [(status, reason) for status, reason in campaign.faults.get(row, []) if status in statuses]
    if not found:
        return ""
    (status, reason), _ = Counter(found).most_common(1)[0]
    times = "1 launch" if len(found) == 1 else f"{len(found)} launches"
    return f"{status} in {times} of the {campaign.name}" + (f": {reason}" if reason else "")


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

    @cache
    def environments(columns: tuple[int, ...], others: tuple[int, ...]) -> str:
        """Cells that were measured in the same launches share one answer."""
        return environments_differ([baseline.launches[column] for column in columns], [candidate.launches[column] for column in others], declared)

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


def why_not(baseline: Campaign, row: int, candidate: Campaign, other: int | None, launches: tuple[int, int], environments: Callable[..., str]) -> str:
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
    return environments(baseline.launches_of(row), candidate.launches_of(other))


def traffic_differs(one: Cell, two: Cell) -> str:
    """Empty: it does not, as far as it is known. A converted line whose traffic is not known has no bytes on the wire."""
    known = one.wire_bytes and two.wire_bytes
    fields = [name for name in ("payload_bytes", "wire_bytes") if known and getattr(one, name) != getattr(two, name)]
    return f"{fields[0]} differs: {getattr(one, fields[0])} and {getattr(two, fields[0])}" if fields else ""
