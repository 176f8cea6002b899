# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What exported files gain in a plain MPI program (dlmb_plain_mpi, which has nothing of DLMB in it): launches with them and without
them in turns, and the ratio inside of each round.
"""

from __future__ import annotations

import math
import os
import random
import shlex
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.sweep.faults import UsageError

_LIBRARIES = ("OMPI_MCA_", "MPIR_CVAR_")  # how the variables of each begin
_RESAMPLES = 1000

Times = dict[int, float]  # nanoseconds per call, by bytes
Round = dict[str, Times]  # by side


def settings_of(exported: Path) -> dict[str, str]:
    """The variables that env.sh of an export sets for the MPI library."""
    script = exported / "env.sh"
    without = {name: value for name, value in os.environ.items() if not name.startswith(_LIBRARIES)}
    done = subprocess.run(["bash", "-c", f". {shlex.quote(str(script))} && env -0"], env=without, capture_output=True, check=False)
    after = dict(line.split("=", 1) for line in os.fsdecode(done.stdout).split("\0") if "=" in line)
    settings = {name: value for name, value in after.items() if name.startswith(_LIBRARIES)}
    if done.returncode != 0 or not settings:
        raise UsageError(f"{script} sets nothing for Open MPI or MPICH: name a folder that dlmb_tune export wrote for one of them")
    return settings


@dataclass(frozen=True)
class Visits:
    """What one launch does: it comes by all sizes, again and again, and makes `calls` back to back each time."""

    collective: str  # as dlmb_plain_mpi names it
    sizes: tuple[int, ...]  # bytes
    calls: int
    visits: int

    def arguments(self) -> list[str]:
        return [self.collective, ",".join(",".join(map(str, self.sizes)) for _ in range(self.visits)), str(self.calls)]


def times_in(printed: str, sizes: tuple[int, ...]) -> Times:
    """The median of the visits' mean times; empty where a size is missing."""
    seen: dict[int, list[float]] = {size: [] for size in sizes}
    for line in printed.splitlines():
        words = line.split()
        if words[:1] == ["bytes"] and "mean_ns" in words and int(words[1]) in seen:
            seen[int(words[1])].append(float(words[words.index("mean_ns") + 1]))
    return {size: statistics.median(times) for size, times in seen.items()} if all(seen.values()) else {}


def hodges_lehmann(logarithms: list[float]) -> float:
    """Median of the means of all pairs, each with itself included."""
    return statistics.median((a + b) / 2 for i, a in enumerate(logarithms) for b in logarithms[i:])


@dataclass(frozen=True)
class Ratio:
    """Above 1: the side below is faster."""

    value: float
    low: float
    high: float


def ratio(rounds: list[Round], above: str, below: str, *sizes: int) -> Ratio:
    """Of times at a size, or geometric mean over several, with the 95 % bootstrap interval over the rounds (the same each time it is
    asked)."""
    logarithms = [statistics.fmean(math.log(one[above][size] / one[below][size]) for size in sizes) for one in rounds]
    draw = random.Random(sizes[0])
    drawn = sorted(hodges_lehmann(draw.choices(logarithms, k=len(logarithms))) for _ in range(_RESAMPLES))
    low, high = drawn[int(0.025 * _RESAMPLES)], drawn[int(0.975 * _RESAMPLES)]
    return Ratio(math.exp(hodges_lehmann(logarithms)), math.exp(low), math.exp(high))


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))
