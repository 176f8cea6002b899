# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of the past in a folder: FOLDER/campaigns/NAME.jsonl is a result file of each, without samples.

One process writes at a time. A campaign's file gets its name when it is whole and on disk, so a kill at any moment leaves the history as it was
before or after; the same command again makes it right. An environment is its env_key, the hash of its identity: only launches of the same one
can be compared.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from dlmb_results.lines import ResultError, read_in_processes, read_lines, result_files
from dlmb_results.names import environment_part
from dlmb_results.program import UsageError


CELL = b'{"kind":"cell",'  # as `copy`, which has checked the line, begins one where "kind" was its first field


@dataclass(frozen=True)
class StoredCampaign:
    """One campaign: what one --append added."""

    path: Path
    time: str  # UTC, ISO 8601, begin of the first launch
    launches: dict[str, list[str]]  # ids by env_key
    cells: int  # lines of cells
    version: str  # of the programs
    revision: str

    @property
    def name(self) -> str:
        return self.path.stem

    def launch_ids(self) -> set[str]:
        return {launch for launches in self.launches.values() for launch in launches}


def folder_of(history: Path) -> Path:
    return history / "campaigns"


def campaigns(history: Path) -> list[StoredCampaign]:
    """In order of time; a history that does not exist yet is empty."""
    try:
        paths = sorted(path for path in folder_of(history).iterdir() if path.suffix == ".jsonl")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ResultError(f"{folder_of(history)}: {error.strerror}") from None
    found = [campaign for part in read_in_processes(read_campaigns, paths) for campaign in part]
    return sorted(found, key=lambda campaign: campaign.time)


def read_campaigns(paths: Iterable[Path]) -> list[StoredCampaign]:
    return [read_campaign(path) for path in paths]


def read_campaign(path: Path) -> StoredCampaign:
    launches: dict[str, list[str]] = {}
    begins, cells = [], 0
    for _, line in read_lines(path, [], unread=CELL):
        kind = line.get("kind", "cell")
        cells += kind == "cell"
        if kind == "launch":
            launches.setdefault(line["environment"]["env_key"], []).append(line["launch_id"])
            begins.append((line["time"], line["environment"]["informational"]))
    if not begins:
        raise ResultError(f"{path}: holds no launch")
    time, facts = min(begins, key=lambda begin: begin[0])
    version, revision = (facts.get(key, "unknown") for key in ("version", "git_revision"))
    return StoredCampaign(path, time, launches, cells, version, revision)


@contextlib.contextmanager
def writing(history: Path) -> Iterator[None]:
    """Waits for other writers."""
    history.mkdir(parents=True, exist_ok=True)
    with (history / "lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


Chosen = tuple[StoredCampaign, Set[str]]  # a campaign, and of which environments its launches count


def last(entries: Sequence[StoredCampaign], environments: Iterable[str], count: int, without: Set[str] = frozenset()) -> list[Chosen]:
    """Of each environment the last `count` campaigns; none that holds one of the launches `without`."""
    chosen: dict[str, set[str]] = {}
    others = [entry for entry in entries if not entry.launch_ids() & without]
    for environment in environments:
        for entry in [entry for entry in others if environment in entry.launches][-count:]:
            chosen.setdefault(entry.name, set()).add(environment)
    return [(entry, chosen[entry.name]) for entry in others if entry.name in chosen]


def beyond(entries: Sequence[StoredCampaign], keep: int) -> list[StoredCampaign]:
    """The campaigns that are not among the last `keep` of any of their environments."""
    kept = {entry.name for entry, _ in last(entries, {key for entry in entries for key in entry.launches}, keep)}
    return [entry for entry in entries if entry.name not in kept]


def append(history: Path, results: Path, remarks: list[str]) -> StoredCampaign:
    """The launches of a result file, or of all in a folder, as one campaign. Samples are left out."""
    with writing(history):
        scratch = history / "adding.new"  # one writer at a time
        try:
            copy(results, scratch, remarks)
            entry = read_campaign(scratch)
            refuse_known(campaigns(history), entry)
        except UsageError:
            scratch.unlink()
            raise
        folder_of(history).mkdir(exist_ok=True)
        return replace(entry, path=scratch.replace(folder_of(history) / f"{name_of(entry)}.jsonl"))


def copy(results: Path, to: Path, remarks: list[str]) -> None:
    with to.open("w", encoding="utf-8") as file:
        for path in result_files(results):
            part = environment_part(path, results)
            for _, line in read_lines(path, remarks):
                if part and "cell_id" in line:
                    line["cell_id"] += part
                if line["kind"] == "launch" and line.get("origin"):
                    raise ResultError(f"{path}: was converted from output of another program: a history keeps what DLMB measured, with its time")
                if line["kind"] == "cell" and line["status"] == "ok":
                    line["samples_left_out"] = True
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())


def launch_ids(results: Path) -> set[str]:
    """Of a result file, or of all in a folder."""
    return {line["launch_id"] for path in result_files(results) for _, line in read_lines(path, []) if line["kind"] == "launch"}


def name_of(campaign: StoredCampaign) -> str:
    """A campaign that is added again after a kill has the same name."""
    ids = " ".join(sorted(campaign.launch_ids()))
    return f"{campaign.time.replace(':', '')}-{hashlib.sha256(ids.encode()).hexdigest()[:8]}"


def refuse_known(entries: Iterable[StoredCampaign], entry: StoredCampaign) -> None:
    for held in entries:
        if shared := held.launch_ids() & entry.launch_ids():
            raise UsageError(f"launch {min(shared)} is in the history already, in campaign {held.name}")


def prune(history: Path, keep: int) -> list[StoredCampaign]:
    """Removes what is not among the last `keep` campaigns of any environment."""
    with writing(history):
        gone = beyond(campaigns(history), keep)
        for entry in gone:
            entry.path.unlink()
    return gone
