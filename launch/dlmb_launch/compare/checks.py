# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the launches of a cell may be compared at all."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dlmb_launch.compare.campaign import Campaign, Launch

DIFFERS_ALWAYS = frozenset({"SLURM_JOB_ID"})  # differs between any two launches and has no effect
EXPLAINING = ("kernel", "governor", "transparent_huge_pages", "numa_balancing", "network", "cuda_driver", "cuda_runtime")  # facts
VALUE_WIDTH = 60  # characters of a setting's value in a reason


class UsageError(Exception):
    """A wrong command line, or one that contradicts the files."""


@dataclass(frozen=True)
class Declared:
    """Settings (keys of the identity or variables) that may differ. A factor is what is under study: the sides may differ in
    it, launches of one side may not. What is ignored may differ anywhere."""

    factors: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def steering(self, settings: dict[str, str]) -> dict[str, str]:
        """Those that must agree in all launches of one side."""
        return {key: value for key, value in settings.items() if key not in self.ignored | DIFFERS_ALWAYS}

    def refuse_unknown(self, launches: Sequence[Launch]) -> None:
        known = {key for launch in launches for key in launch.settings}
        for key in sorted((self.factors | self.ignored) - known):
            near = difflib.get_close_matches(key, known, n=3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise UsageError(f"no launch records a setting '{key}'{hint}")


@dataclass
class Environments:
    """Whether the launches of cells may be compared. Cells that were measured in the same launches share one answer."""

    baseline: Campaign
    candidate: Campaign
    declared: Declared
    answers: dict[tuple[tuple[int, ...], tuple[int, ...]], str] = field(default_factory=dict)

    def why_not(self, baseline_columns: tuple[int, ...], candidate_columns: tuple[int, ...]) -> str:
        key = (baseline_columns, candidate_columns)
        if key not in self.answers:
            one = [self.baseline.launches[column] for column in baseline_columns]
            other = [self.candidate.launches[column] for column in candidate_columns]
            self.answers[key] = environments_differ(one, other, self.declared)
        return self.answers[key]


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
