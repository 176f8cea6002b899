# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Many files, read in as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

Read = TypeVar("Read")

LEAST_BYTES = 16 << 20  # of a part; less is read sooner than a process has started and handed over what it read


def equal_parts(paths: Sequence[Path], count: int) -> list[list[Path]]:
    """Runs of neighbours, at most `count`, none empty, of about equal bytes."""
    sizes = [size(path) for path in paths]
    found: list[list[Path]] = []
    before = 0
    for path, own in zip(paths, sizes):
        middle = before + own / 2
        number = min(count - 1, int(count * middle / max(1, sum(sizes))))
        if not found or number > latest:
            found.append([])
            latest = number
        found[-1].append(path)
        before += own
    return found


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # whoever opens it says what is wrong


def read_in_processes(read: Callable[[list[Path]], Read], paths: Sequence[Path], least_bytes: int = LEAST_BYTES) -> list[Read]:
    """What `read` makes of each part, in the order of `paths`; what it raises is raised."""
    cores = len(os.sched_getaffinity(0))
    parts = equal_parts(paths, max(1, min(cores, sum(map(size, paths)) // least_bytes)))
    if len(parts) < 2:
        return [read(part) for part in parts]
    try:
        with ProcessPoolExecutor(len(parts), multiprocessing.get_context("fork"), _end_quietly) as processes:
            return list(processes.map(read, parts))
    except BrokenProcessPool:  # one was killed, for its memory perhaps
        return [read(part) for part in parts]


def _end_quietly() -> None:
    """Ctrl-C reaches every process; only the first one has something to say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
