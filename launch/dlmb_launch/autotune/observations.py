# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the launches so far say: of each point, the times of each method relative to the library's own choice in the same launch."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dlmb_launch.autotune.points import Point
from dlmb_results.fields import load_json

Key = tuple[str, Point]  # backend, point


@dataclass
class Measured:
    """Of one backend at one point."""

    default_ns: list[float] = field(default_factory=list)  # per launch
    logs: dict[str, dict[int, float]] = field(default_factory=dict)  # per method, by launch that had it: ln(method / default), never empty
    refused: set[str] = field(default_factory=set)  # methods that do not exist here, or fail
    spread: float = 0.0  # of one launch's logarithm: a standard deviation without the outliers, pooled over the methods

    @property
    def launches(self) -> int:
        return len(self.default_ns)


_PRIOR_SPREAD = 0.2  # before two launches have been seen; a machine that is shared or oversubscribed has about that
_PRIOR_FREEDOM = 4.0  # how many launches' worth the neighbours' spread counts beside a point's own
_LEAST_SPREAD = 0.01


def read(files: Iterable[Path]) -> dict[Key, Measured]:
    """Lines that a kill cut, and those of another kind, are passed over: the sweep measures them again."""
    found: dict[Key, Measured] = defaultdict(Measured)
    for file in files:
        times: dict[Key, dict[str, float]] = defaultdict(dict)
        standard: dict[Key, str] = {}
        for cell in _cells(file):
            key = (cell["backend"], Point(cell["parameters"]["operation"], int(cell["parameters"]["message-size"])))
            if cell["status"] != "ok":
                found[key].refused.add(cell["method"])
                continue
            nanoseconds = cell["rounds"]["median_of_rounds_ns"] or cell["time_ns"]["median"]
            times[key][cell["method"]] = nanoseconds
            if _is_standard(cell):
                standard[key] = cell["method"]
        for key, by_method in times.items():
            if key in standard:
                _add(found[key], by_method, standard[key])
    _pool(found)
    return dict(found)


def methods_in(files: Iterable[Path]) -> list[tuple[str, str, str]]:
    """Backend, operation and method of all cells that did not fail: what the backend offers."""
    cells = (cell for file in files for cell in _cells(file) if cell["status"] in ("ok", "skipped"))
    return sorted({(cell["backend"], cell["parameters"]["operation"], cell["method"]) for cell in cells})


def _cells(file: Path) -> list[dict]:
    """Without what nobody asks for here: samples are most of a file."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return []
    known = _CELLS.get(file)
    if known is None or known[0] != (found.st_size, found.st_mtime_ns):
        known = _CELLS[file] = ((found.st_size, found.st_mtime_ns), list(_read_cells(file)))
    return known[1]


_CELLS: dict[Path, tuple[tuple[int, int], list[dict]]] = {}  # by size and time of the file: each is asked for after every launch


def _read_cells(file: Path) -> Iterable[dict]:
    for line in file.read_bytes().splitlines():
        try:
            entry = load_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("kind") == "cell":
            yield {name: entry[name] for name in _FIELDS}


_FIELDS = ("backend", "method", "parameters", "status", "is_default", "rounds", "time_ns")


def _is_standard(cell: dict) -> bool:
    """As `dlmb_tune build --methods` has it: an exchange of equal blocks over MPI is compared with MPI_Alltoall."""
    if cell["backend"] == "mpi" and cell["parameters"]["operation"] == "alltoall":
        return cell["method"] == "alltoall"
    return cell["is_default"]


def _add(measured: Measured, by_method: dict[str, float], standard: str) -> None:
    launch = measured.launches
    measured.default_ns.append(by_method[standard])
    for method, nanoseconds in by_method.items():
        if method != standard:
            measured.logs.setdefault(method, {})[launch] = math.log(nanoseconds / by_method[standard])


def _pool(found: dict[Key, Measured]) -> None:
    """A point's own spread is known from few launches only, so that of its operation is counted in."""
    own = {key: _residuals(measured) for key, measured in found.items()}
    for key, measured in found.items():
        similar = [_scale(each) ** 2 for other, each in own.items() if each and other[1].operation == key[1].operation]
        prior = statistics.median(similar) if similar else _PRIOR_SPREAD**2
        count = len(own[key])
        squares = _scale(own[key]) ** 2 * count if count else 0.0
        measured.spread = max(math.sqrt((squares + _PRIOR_FREEDOM * prior) / (count + _PRIOR_FREEDOM)), _LEAST_SPREAD)


def _residuals(measured: Measured) -> list[float]:
    """How much each launch differs from the one before; independent ones by the square root of 2 more than from their mean."""
    by_method = [list(logs.values()) for logs in measured.logs.values()]
    return [abs(b - a) / math.sqrt(2) for logs in by_method for a, b in zip(logs, logs[1:])]


def _scale(residuals: list[float]) -> float:
    """The standard deviation of normal numbers whose median distance from their mean this is."""
    return 1.4826 * statistics.median(residuals)


def noise(found: dict[Key, Measured]) -> float | None:
    """How much the ratio of two methods differs from launch to launch: the median spread of the points; None: not known yet."""
    known = [measured.spread for measured in found.values() if any(len(logs) > 1 for logs in measured.logs.values())]
    return statistics.median(known) if known else None
