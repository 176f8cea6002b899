# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What dlmb_compare --history does besides comparing: add, list, prune, and export all of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.checks import Declared
from dlmb_launch.compare.exports import otava
from dlmb_launch.compare.metrics import METRICS, Metric
from dlmb_launch.compare.reading import Reader
from dlmb_launch.history import store
from dlmb_launch.history.index import Chosen, StoredCampaign, everything, last, read_index
from dlmb_launch.history.nights import NightsReader


def baseline_for(candidate: Campaign, folder: Path, count: int, metric: Metric, declared: Declared) -> Campaign | None:
    """The last campaigns of the candidate's environments; None: there are none."""
    environments = {launch.env_key for launch in candidate.launches}
    own = {launch.id for launch in candidate.launches}
    chosen = last(read_index(folder), environments, count, own)
    return NightsReader(metric, declared).read_nights(folder, chosen) if chosen else None


def read(chosen: list[Chosen], folder: Path, metric: Metric) -> Campaign:
    reader = Reader("baseline", metric)
    for entry, environments in chosen:
        reader.read(folder / entry.file, entry.name, environments)
    return reader.finish()


def run(options: argparse.Namespace) -> list[str]:
    """The lines to print."""
    if options.append:
        remarks: list[str] = []
        entry = store.append(options.history, options.append, remarks)
        return [*remarks, f"added {described(entry)}"]
    if options.prune:
        return [f"removed {described(entry)}" for entry in store.prune(options.history, options.prune)] or ["nothing to remove"]
    entries = read_index(options.history)
    for _, file in options.export:
        metric = METRICS[options.metric]
        otava.write([read(everything(entries), options.history, metric)], metric, Path(file))
    if options.list is None:
        return []
    if options.list is not True:
        wanted = store.launch_ids(options.list)
        entries = [entry for entry in entries if entry.launch_ids() & wanted]
    return [described(entry) for entry in entries]


def described(entry: StoredCampaign) -> str:
    environments = ", ".join(f"{len(launches)} launches of {key}" for key, launches in sorted(entry.launches.items()))
    return f"{entry.name}  version {entry.version} ({entry.revision}), {entry.cells} cells; {environments}"
