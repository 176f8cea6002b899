# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the nights of a history as one campaign.

What may be compared changes in the course of a history: a variable, the traffic of a preset, the definition of a sample. The last night
says what counts, and older numbers of another thing are left out; else a change that was accepted would be refused for as long as one
older night is among those that are read.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.checks import Declared
from dlmb_launch.compare.metrics import Metric
from dlmb_launch.compare.reading import Reader
from dlmb_launch.history.index import Chosen


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

    def read_nights(self, folder: Path, chosen: list[Chosen]) -> Campaign:
        for entry, environments in reversed(chosen):
            self.night = entry.name
            self.read(folder / entry.file, entry.name, environments)
        if self.other_launches:
            self.campaign.remarks.append(f"{self.other_launches} launches of older nights left out: their settings are not those of the last night")
        if self.other_numbers:
            self.campaign.remarks.append(f"{self.other_numbers} numbers of older nights left out: what those cells measure has changed since")
        return self.finish()

    def launch(self, line: dict[str, Any], path: Path, campaign: str | None, environments: Set[str] | None) -> None:
        environment = line["environment"]
        if environments is None or environment["env_key"] in environments:
            settings = self.declared.steering({**environment["identity"], **environment["variables"]})
            night, known = self.settings.setdefault(environment["env_key"], (self.night, []))
            if night == self.night:
                known.append(settings)
            elif settings not in known:
                self.passed_over.add(line["launch_id"])
                self.other_launches += 1
                return
        super().launch(line, path, campaign, environments)

    def counts(self, cell: Cell, line: dict[str, Any]) -> bool:
        counted = self.counted.setdefault(cell.id, Counted(self.night, cell))
        if counted.night == self.night:
            counted.definitions.add(line["definition"])
            return True
        same = cell == counted.cell and line["definition"] in counted.definitions
        self.other_numbers += not same
        return same
