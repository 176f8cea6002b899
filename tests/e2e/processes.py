# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The processes of one launch, found by a variable in their environment: also those whose parents were killed."""

import os
import pathlib
import signal
import uuid

MARK = "DLMB_TEST_LAUNCH"


def new_mark():
    """A variable for the environment of a launch."""
    return {MARK: str(uuid.uuid4())}


def processes_of(mark):
    """pid -> command line of everything that runs with this variable; no zombies."""
    wanted = f"{MARK}={mark[MARK]}".encode()
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended, or is another user's
            continue
    return found


def ranks_of(mark, program):
    """Process ids of the measuring program, by age."""
    return sorted(pid for pid, command in processes_of(mark).items() if command[0] == str(program))


def end_all(mark):
    for pid in processes_of(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
