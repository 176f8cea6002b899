# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of the past in a folder: FOLDER/index.jsonl says which, FOLDER/campaigns/ holds them.

Lines of the index are only ever appended, by one process at a time. A campaign's line is written when its file is whole and on disk, so
whatever the index names can be read. A line that a kill cut off is left out by readers and removed by the next writer. A kill at any moment
leaves the history as it was before or after, at worst with a file that the index does not name; the same command again makes it right. An
environment is its env_key, the hash of its identity: only launches of the same one can be compared.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from dlmb_results.fields import checker, is_version, load_json
from dlmb_results.lines import ResultError, read_lines, result_files
from dlmb_results.program import UsageError

SCHEMA = "dlmb.history/1.0"
READABLE = "dlmb.history/1"


@dataclass(frozen=True)
class StoredCampaign:
    """One campaign: what one --append added."""

    name: str
    file: str  # below the history's folder
    time: str  # UTC, ISO 8601, begin of the first launch
    launches: dict[str, list[str]]  # ids by env_key
    cells: int  # lines of cells
    version: str  # of the programs
    revision: str

    def launch_ids(self) -> set[str]:
        return {launch for launches in self.launches.values() for launch in launches}


def campaign_from(value: dict[str, Any]) -> StoredCampaign:
    if wrong := checker(StoredCampaign)(value):
        raise ValueError(wrong.removeprefix("."))
    if ".." in Path(value["file"]).parts or Path(value["file"]).is_absolute():
        raise ValueError("file: is outside of the history's folder")
    return StoredCampaign(**value)


def index_file(folder: Path) -> Path:
    return folder / "index.jsonl"


def read_index(folder: Path) -> list[StoredCampaign]:
    """In order of time; a history that does not exist yet is empty."""
    try:
        return entries_in(index_file(folder), index_file(folder).read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ResultError(f"{index_file(folder)}: {error.strerror}") from None


def entries_in(path: Path, text: bytes) -> list[StoredCampaign]:
    found: dict[str, StoredCampaign] = {}
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        try:
            value = load_json(line)
            if not is_version(value.pop("schema"), READABLE):
                raise ValueError("another schema")
            if value.pop("kind") == "pruned":
                found.pop(value["name"], None)
            else:
                found[value["name"]] = campaign_from(value)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ResultError(f"{path}:{number}: not a line of a history's index ({SCHEMA}): {error}") from error
    return sorted(found.values(), key=lambda entry: entry.time)


class Writer:
    """The index while no other process writes it."""

    def __init__(self, path: Path, file: BinaryIO):
        self._file = file
        text = file.read()
        self.entries = entries_in(path, text)
        file.truncate(text.rfind(b"\n") + 1)

    def add(self, entry: StoredCampaign) -> None:
        self._append({"kind": "campaign", **asdict(entry)})

    def prune(self, entry: StoredCampaign) -> None:
        self._append({"kind": "pruned", "name": entry.name})

    def _append(self, value: dict[str, Any]) -> None:
        self._file.write(json.dumps({"schema": SCHEMA, **value}).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[Writer]:
    """Waits for other writers."""
    folder.mkdir(parents=True, exist_ok=True)
    with index_file(folder).open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield Writer(index_file(folder), file)


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


def append(folder: Path, results: Path, remarks: list[str]) -> StoredCampaign:
    """The launches of a result file, or of all in a folder, as one campaign. Samples are left out."""
    with writing(folder) as index:
        scratch = folder / "adding.new"  # one writer at a time
        try:
            entry = copy(results, scratch, remarks)
            refuse_known(index, entry)
        except UsageError:
            scratch.unlink()
            raise
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
