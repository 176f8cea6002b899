# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a sweep's folder holds, so that it can go on after a kill, a reboot or a time limit.

    FOLDER/sweep.json            the sweep, written once, without values of variables that may be secrets
    FOLDER/SIDE/JOB.NNN.jsonl    results of one launch
    FOLDER/state/SIDE/JOB.NNN.json   what became of it: running, done, failed, timeout, interrupted
    FOLDER/logs/SIDE/JOB.NNN.log     what it printed

With environments SIDE is SIDE/ENVIRONMENT.

Files are replaced whole, so that a kill at any moment leaves the old one or the new one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dlmb_launch.sweep.sweep_file import Launch, Sweep
from dlmb_results.fields import load_json
from dlmb_results.files import kept_json, write_whole
from dlmb_results.program import OutputError, UnavailableError, UsageError
from dlmb_results.variables import recorded

DONE = "done"  # every cell is in the result file
NO_STATE = "is not a launch's state; remove it, and the launch is done again"
NO_SWEEP = "is not a sweep's; name another folder"
NOTHING = "nothing"  # nothing of it can run here (exit code 77): not tried again


class Folder:
    def __init__(self, root: Path):
        self.root = root

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """For one command only: another one would take its launches for those of a killed one, and end them. The system gives the folder
        back when the command ends, by a kill, too. Where the file system knows no locks nothing is held.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise OutputError(f"{self.root}: {error.strerror}") from None
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnavailableError(f"{self.root}: another command measures into this folder; wait for its end, or name another folder") from None
            except OSError:
                pass  # no locks there
            yield
        finally:
            os.close(folder)

    def results(self, launch: Launch) -> Path:
        return self.root / f"{launch.name}.jsonl"

    def log(self, launch: Launch) -> Path:
        return self.root / "logs" / f"{launch.name}.log"

    def status(self, launch: Launch) -> dict[str, Any]:
        status = kept_json(self._status_file(launch), NO_STATE) or {}
        if not isinstance(status, dict) or not isinstance(status.get("process", {}), dict) or not isinstance(status.get("attempt", 0), int):
            raise UsageError(f"{self._status_file(launch)}: {NO_STATE}")
        return status

    def set_status(self, launch: Launch, status: dict[str, Any]) -> None:
        write_whole(self._status_file(launch), json.dumps(status, indent=1) + "\n")

    def finished(self, launch: Launch) -> bool:
        return self.status(launch).get("state") in (DONE, NOTHING)

    def open(self, sweep: Sweep) -> bool:
        """True where the folder already holds a part of this sweep."""
        described = asdict(sweep)
        for entry in (*described["environments"], *described["sides"]):
            entry["variables"] = recorded(dict(entry["variables"]))
        if any(environment.name for environment in sweep.environments):
            described["layout"] = "SIDE/ENVIRONMENT"  # older folders hold all environments together
        text = json.dumps(described, sort_keys=True)
        mine = {"sweep": json.loads(text), "digest": hashlib.sha256(text.encode()).hexdigest()}
        file = self.root / "sweep.json"
        before = kept_json(file, NO_SWEEP)
        if before is None:
            write_whole(file, json.dumps(mine, indent=1) + "\n")
            return False
        if not isinstance(before, dict) or "digest" not in before:
            raise UsageError(f"{file}: {NO_SWEEP}")
        if before["digest"] != mine["digest"]:
            raise UsageError(f"{self.root}: holds results of another sweep; name another folder, or remove it")
        return True

    def _status_file(self, launch: Launch) -> Path:
        return self.root / "state" / f"{launch.name}.json"


def settle(results: Path) -> None:
    """Before a launch is repeated: cells that are ok stay in its result file, and --resume skips them. A broken last line and cells
    that failed go to a file beside it: they will be measured again, and a cell has one line in a launch's results."""
    try:
        lines = results.read_bytes().splitlines(keepends=True)  # of text they would also end at U+2028 and the like
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"{results}: {error.strerror}") from None
    kept = [line for line in lines if _stays(line)]
    aside = [line if line.endswith(b"\n") else line + b"\n" for line in lines if not _stays(line)]
    if not aside:
        return
    superseded = results.with_name(results.name + ".superseded")
    try:
        with superseded.open("ab") as file:
            file.writelines(aside)
    except OSError as error:
        raise OutputError(f"{superseded}: {error.strerror}") from None
    write_whole(results, b"".join(kept))


def _stays(line: bytes) -> bool:
    if not line.endswith(b"\n"):
        return False
    try:
        entry = load_json(line)
    except ValueError:
        return False
    return not isinstance(entry, dict) or entry.get("kind") != "cell" or entry.get("status") in ("ok", "skipped")
