# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The times of each method at each point, relative to the library's own choice in the same launch, over all launches so far; and the
methods that can still win there.

After every launch each method is tested, so the tests have to hold at all launches together (dlmb_statistics/robust.py). A method is out when
it is slower than another one, or too little faster than the library's own choice to be chosen, beyond that interval. The error rate is
ERROR_RATE divided by the number of comparisons at the point. So the fastest method of a point is lost with a probability of at most
ERROR_RATE, as far as the logarithms are normal with that spread. A lost one costs speed and never makes a wrong choice: what is chosen
passes the tests of `dlmb_tune build` on fresh launches.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from dlmb_launch.autotune.points import Point
from dlmb_results.cells import Line, median_of_rounds
from dlmb_results.lines import read_cells
from dlmb_statistics.margins import least_gain
from dlmb_statistics.robust import always_radius, hodges_lehmann, normal_spread

Key = tuple[str, Point]  # backend, point


@dataclass
class Measured:
    """The times of one backend at one point."""

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
    """A last line that a kill cut is passed over: the sweep measures that cell again."""
    found: dict[Key, Measured] = defaultdict(Measured)
    for file in files:
        times: dict[Key, dict[str, float]] = defaultdict(dict)
        standard: dict[Key, str] = {}
        for cell in _cells(file):
            key = (cell["backend"], cell["point"])
            if cell["status"] != "ok":
                found[key].refused.add(cell["method"])
                continue
            nanoseconds = median_of_rounds(cell)
            if not nanoseconds > 0:  # below what the clock sees; it has no ratio to another
                continue
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
    return sorted({(cell["backend"], cell["point"].operation, cell["method"]) for cell in cells})


def _cells(file: Path) -> list[Line]:
    try:
        found = file.stat()
    except FileNotFoundError:
        return []
    return _cells_in(file, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=None)  # each file is asked for after every launch
def _cells_in(file: Path, _bytes: int, _changed_ns: int) -> list[Line]:
    found: list[Line] = []

    def take(cell: Line) -> None:
        found.append(cell | {"point": Point(cell["parameters"]["operation"], int(cell["parameters"]["message-size"]))})

    read_cells(file, [], lambda _: None, take)
    return found


def _is_standard(cell: Line) -> bool:
    """As `dlmb_tune build --methods` has it: an exchange of equal blocks over MPI is compared with MPI_Alltoall."""
    if cell["backend"] == "mpi" and cell["point"].operation == "alltoall":
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
        similar = [normal_spread(each) ** 2 for other, each in own.items() if each and other[1].operation == key[1].operation]
        prior = statistics.median(similar) if similar else _PRIOR_SPREAD**2
        count = len(own[key])
        squares = normal_spread(own[key]) ** 2 * count if count else 0.0
        measured.spread = max(math.sqrt((squares + _PRIOR_FREEDOM * prior) / (count + _PRIOR_FREEDOM)), _LEAST_SPREAD)


def _residuals(measured: Measured) -> list[float]:
    """How much each launch differs from the one before; independent ones by the square root of 2 more than from their mean."""
    by_method = [list(logs.values()) for logs in measured.logs.values()]
    return [abs(b - a) / math.sqrt(2) for logs in by_method for a, b in zip(logs, logs[1:])]


def noise(found: dict[Key, Measured]) -> float | None:
    """How much the ratio of two methods differs from launch to launch: the median spread of the points; None: not known yet."""
    known = [measured.spread for measured in found.values() if any(len(logs) > 1 for logs in measured.logs.values())]
    return statistics.median(known) if known else None


ERROR_RATE = 0.05  # per point


@dataclass(frozen=True)
class Standing:
    """The methods that are left at a point, and how fast they are against the library's own choice."""

    alive: tuple[str, ...]  # fastest first; empty: the library's own choice stays
    best: str  # the fastest of those that have most launches: a method that was set aside has few, and perhaps lucky ones
    launches: int  # of the point
    gain: float  # share of the default's time that `best` saves; negative where it is slower
    gain_possible: float  # the largest that the interval of one of them holds

    @classmethod
    def settled(cls, launches: int) -> Standing:
        return cls((), "", launches, 0.0, 0.0)


def standing(measured: Measured, competitors: list[str]) -> Standing:
    """`competitors`: of them only those that have been measured here and did not fail are looked at."""
    logs = {method: measured.logs[method] for method in competitors if method in measured.logs and method not in measured.refused}
    if not logs:
        return Standing.settled(measured.launches)
    error_rate = ERROR_RATE / len(logs)
    middle = {method: hodges_lehmann(list(by_launch.values())) for method, by_launch in logs.items()}
    alive = sorted((method for method in logs if not _is_out(method, middle, logs, measured, error_rate)), key=middle.__getitem__)
    if not alive:
        return Standing.settled(measured.launches)
    most = max(len(logs[method]) for method in alive)
    best = next(method for method in alive if len(logs[method]) == most)
    least = min(middle[method] - always_radius(len(logs[method]), measured.spread, error_rate) for method in alive)
    return Standing(tuple(alive), best, measured.launches, -math.expm1(middle[best]), -math.expm1(least))


def _is_out(method: str, middle: dict[str, float], logs: dict[str, dict[int, float]], measured: Measured, error_rate: float) -> bool:
    mine = logs[method]
    least_log_gain = math.log(1 - least_gain(statistics.median(measured.default_ns)))
    if middle[method] - always_radius(len(mine), measured.spread, error_rate) > least_log_gain:
        return True
    # A method that was dropped is missing in later launches, but for those that measure it again beside others.
    for theirs in (log for other, log in logs.items() if other != method):
        behind = [log - theirs[launch] for launch, log in mine.items() if launch in theirs]
        if behind and hodges_lehmann(behind) > always_radius(len(behind), measured.spread, error_rate):
            return True
    return False
