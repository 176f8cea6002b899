# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What dlmb_compare --history does: the nights of a history as one campaign to compare with; and add, list, prune, export all of it.

What may be compared changes in the course of a history: a variable, the traffic of a preset, the definition of a sample, the cells. The last night
says what counts, and older numbers of another thing are left out; else a change that was accepted would be refused for as long as one
older night is among those that are read.
"""

from __future__ import annotations

import argparse
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path

from dlmb_launch.compare.campaign import METRICS, Campaign, Cell, Metric
from dlmb_launch.compare.exports import otava
from dlmb_launch.compare.pairing import Declared
from dlmb_launch.compare.reading import Reader
from dlmb_launch.history import store
from dlmb_launch.history.store import Chosen, StoredCampaign, campaigns, last
from dlmb_results.cells import Launch, Line
from dlmb_results.program import UsageError


@dataclass
class Counted:
    """What the last night with a cell measured."""

    night: str
    cell: Cell
    definitions: set[str] = field(default_factory=set)


class NightsReader(Reader):
    def __init__(self, metric: Metric, declared: Declared) -> None:
        super().__init__("baseline", metric)
        self.declared = declared
        self.night = ""
        self.settings: dict[str, tuple[str, list[dict[str, str]]]] = {}  # by env_key: the last night, and those of its launches
        self.counted: dict[str, Counted] = {}  # by cell id
        self.other_launches = self.other_numbers = 0
        self.gone: set[str] = set()  # ids of cells

    def read_nights(self, chosen: list[Chosen]) -> Campaign:
        for entry, environments in reversed(chosen):
            self.night = entry.name
            self.read(entry.path, entry.name, environments)
        if self.other_launches:
            self.campaign.remarks.append(f"{self.other_launches} launches of older nights left out: their settings are not those of the last night")
        if self.other_numbers:
            self.campaign.remarks.append(f"{self.other_numbers} numbers of older nights left out: what those cells measure has changed since")
        if self.gone:
            self.campaign.remarks.append(f"{len(self.gone)} cells of older nights left out: the last night does not have them")
        return self.finish()

    def launch(self, launch: Launch, path: Path, environments: Set[str] | None) -> None:
        if environments is None or launch.env_key in environments:
            settings = self.declared.steering(launch.settings)
            night, known = self.settings.setdefault(launch.env_key, (self.night, []))
            if night == self.night:
                known.append(settings)
            elif settings not in known:
                self.passed_over.add(launch.id)
                self.other_launches += 1
                return
        super().launch(launch, path, environments)

    def cell(self, line: Line) -> None:
        column = self.column_of.get(line["launch_id"])
        if column is not None and line["cell_id"] not in self.campaign.row_of:
            last_night, _ = self.settings[self.campaign.launches[column].env_key]
            if last_night != self.night:
                self.gone.add(line["cell_id"])
                return
        super().cell(line)

    def counts(self, cell: Cell, line: Line) -> bool:
        counted = self.counted.setdefault(cell.id, Counted(self.night, cell))
        if counted.night == self.night:
            counted.definitions.add(line["definition"])
            return True
        same = cell == counted.cell and line["definition"] in counted.definitions
        self.other_numbers += not same
        return same


def baseline_for(candidate: Campaign, folder: Path, count: int, metric: Metric, declared: Declared) -> Campaign | None:
    """The last campaigns of the candidate's environments; None: there are none."""
    if known := sorted(name for name in declared.factors | declared.ignored if any(name in launch.identity for launch in candidate.launches)):
        raise UsageError(f"{known[0]} with --history: it is part of the environment's key, by which campaigns of the past are chosen; name two campaigns")
    environments = {launch.env_key for launch in candidate.launches}
    own = {launch.id for launch in candidate.launches}
    chosen = last(campaigns(folder), environments, count, own)
    return NightsReader(metric, declared).read_nights(chosen) if chosen else None


def read(entries: list[StoredCampaign], metric: Metric) -> Campaign:
    reader = Reader("baseline", metric)
    for entry in entries:
        reader.read(entry.path, entry.name)
    return reader.finish()


def run(options: argparse.Namespace) -> list[str]:
    """The lines to print."""
    if options.append:
        remarks: list[str] = []
        entry = store.append(options.history, options.append, remarks)
        return [*remarks, f"added {described(entry)}"]
    if not store.folder_of(options.history).is_dir():
        raise UsageError(f"{options.history}: there is no history here; --append begins one")
    if options.prune:
        return [f"removed {described(entry)}" for entry in store.prune(options.history, options.prune)] or ["nothing to remove"]
    entries = campaigns(options.history)
    for _, file in options.export:
        metric = METRICS[options.metric]
        otava.write([read(entries, metric)], metric, Path(file))
    if options.list is None:
        return []
    if options.list is not True:
        wanted = store.launch_ids(options.list)
        entries = [entry for entry in entries if entry.launch_ids() & wanted]
    return [described(entry) for entry in entries]


def described(entry: StoredCampaign) -> str:
    environments = ", ".join(f"{len(launches)} launches of {key}" for key, launches in sorted(entry.launches.items()))
    return f"{entry.name}  version {entry.version} ({entry.revision}), {entry.cells} cells; {environments}"
