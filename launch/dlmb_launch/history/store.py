# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Adds campaigns to a history and removes them. A kill at any moment leaves the history as it was before or after, at worst
with a file that the index does not name; the same command again makes it right."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from dlmb_results.lines import ResultError, read_lines, result_files

from dlmb_launch.compare.checks import UsageError
from dlmb_launch.history.index import StoredCampaign, Writer, beyond, writing


def append(folder: Path, results: Path, remarks: list[str]) -> StoredCampaign:
    """The launches of a result file, or of all in a folder, as one campaign. Samples are left out."""
    with writing(folder) as index:
        scratch = folder / "adding.new"  # one writer at a time
        try:
            entry = copy(results, scratch, remarks)
        except ResultError:
            scratch.unlink()
            raise
        refuse_known(index, entry)
        (folder / entry.file).parent.mkdir(exist_ok=True)
        scratch.replace(folder / entry.file)
        index.add(entry)
    return entry


def copy(results: Path, to: Path, remarks: list[str]) -> StoredCampaign:
    launches: dict[str, list[str]] = {}
    begins, cells = [], 0
    with to.open("w", encoding="utf-8") as file:
        for path in result_files(results):
            for _, line in read_lines(path, remarks):
                if line["kind"] == "launch":
                    if line.get("origin"):
                        raise ResultError(f"{path}: was converted from output of another program: a history keeps what DLMB measured, with its time")
                    environment = line.get("environment") or {}
                    launches.setdefault(environment.get("env_key", ""), []).append(line["launch_id"])
                    begins.append((line["time"], environment.get("informational") or {}))
                if line["kind"] == "cell":
                    cells += 1
                    if line["status"] == "ok":
                        line["samples_left_out"] = True
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())
    if not begins:
        raise ResultError(f"{results}: holds no launch")
    time, facts = min(begins, key=lambda begin: begin[0])
    name = name_of(time, launches)
    version, revision = (facts.get(key, "unknown") for key in ("version", "git_revision"))
    return StoredCampaign(name, f"campaigns/{name}.jsonl", time, launches, cells, version, revision)


def launch_ids(results: Path) -> set[str]:
    """Of a result file, or of all in a folder."""
    return {line["launch_id"] for path in result_files(results) for _, line in read_lines(path, []) if line["kind"] == "launch"}


def name_of(time: str, launches: dict[str, list[str]]) -> str:
    """A campaign that is added again after a kill has the same name."""
    ids = sorted(launch for some in launches.values() for launch in some)
    return f"{time.replace(':', '')}-{hashlib.sha256(' '.join(ids).encode()).hexdigest()[:8]}"


def refuse_known(index: Writer, entry: StoredCampaign) -> None:
    for held in index.entries:
        if shared := held.launch_ids() & entry.launch_ids():
            raise UsageError(f"launch {min(shared)} is in the history already, in campaign {held.name}")


def prune(folder: Path, keep: int) -> list[StoredCampaign]:
    """Removes what is not among the last `keep` campaigns of any environment."""
    with writing(folder) as index:
        gone = beyond(index.entries, keep)
        for entry in gone:
            index.prune(entry)
            (folder / entry.file).unlink(missing_ok=True)
    return gone
