# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The gain of exported files in a plain MPI program (dlmb_plain_mpi, which has nothing of DLMB in it), and the rules that it bears out.

Rounds of launches with the files, without them, and without them once more: the third side is the control, by how much two equal sides
differ. A rule was found, and confirmed, inside of dlmb_collective. It is exported only where a program without DLMB is faster with it than
without: only if the 95 % interval over all of its sizes together is above 1, and at sizes that are faster and whose own interval rules out
a loss worth speaking of. The test is on all sizes: on the faster ones alone it would find a gain in chance.
"""

from __future__ import annotations

import math
import os
import random
import shlex
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.autotune.request import LOADS, NO_LOAD
from dlmb_launch.sweep.process import Interrupts, Process
from dlmb_results.program import OutputError, UsageError
from dlmb_statistics.margins import SHARE_IF_SHORT
from dlmb_statistics.robust import Ratio, over_rounds

_LIBRARIES = ("OMPI_MCA_", "MPIR_CVAR_")  # how the variables of each begin

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
    """The calls of one launch: it comes by all sizes, again and again, and makes `calls` back to back each time."""

    collective: str  # as dlmb_plain_mpi names it
    sizes: tuple[int, ...]  # bytes
    calls: int
    visits: int
    beside: str = NO_LOAD

    def arguments(self) -> list[str]:
        load = [self.beside] if self.beside in LOADS else []
        return [self.collective, ",".join(",".join(map(str, self.sizes)) for _ in range(self.visits)), str(self.calls), *load]


def times_in(printed: str, sizes: tuple[int, ...]) -> Times:
    """The median of the visits' mean times; empty where a size is missing."""
    seen: dict[int, list[float]] = {size: [] for size in sizes}
    for line in printed.splitlines():
        words = line.split()
        if words[:1] == ["bytes"] and "mean_ns" in words and int(words[1]) in seen:
            seen[int(words[1])].append(float(words[words.index("mean_ns") + 1]))
    return {size: statistics.median(times) for size, times in seen.items()} if all(seen.values()) else {}


def ratio(rounds: list[Round], above: str, below: str, *sizes: int) -> Ratio:
    """The ratio of times at a size, or the geometric mean over several, with its interval over the rounds."""
    return over_rounds([statistics.fmean(math.log(one[above][size] / one[below][size]) for size in sizes) for one in rounds])


FILE, DEFAULT, CONTROL = "file", "default", "control"
SIDES = (FILE, DEFAULT, CONTROL)
MOST_ROUNDS = 10
VISITS = 3
_SHOWN_LINES = 3


@dataclass(frozen=True)
class Plain:
    """How the plain program is started: all before its own arguments, and the variables of both sides."""

    command: list[str]
    variables: dict[str, str]
    traffic_ended: Callable[[], str] = lambda: ""  # why what is to run beside it does not


@dataclass(frozen=True)
class SizeGain:
    bytes: int
    default_ns: float
    file_ns: float
    speedup: Ratio  # default / file
    control: Ratio  # default / control: near 1
    exported: bool


class Measurement:
    """The launches of one collective: one file per launch, so that a kill loses one launch. Another export has another folder."""

    def __init__(self, folder: Path, what: Visits, plain: Plain, of_file: dict[str, str]):
        self._folder = folder
        self.what = what
        self._plain = plain
        self._of_file = of_file
        self.problem = ""  # why a launch failed

    def has(self, number: int) -> bool:
        return all(self._times(side, number) for side in SIDES)

    def run(self, number: int, timeout_s: float, interrupts: Interrupts) -> str:
        """The launches of a round that are missing, in random order. Returns why one failed, or nothing."""
        for side in random.Random(f"{number} {self.what.collective}").sample(SIDES, k=len(SIDES)):
            if self._times(side, number):
                continue
            if reason := self._launch(side, number, timeout_s, interrupts):
                return reason
        return ""

    def _launch(self, side: str, number: int, timeout_s: float, interrupts: Interrupts) -> str:
        part = self._file(side, number).with_suffix(".part")
        try:
            part.unlink(missing_ok=True)  # of a run that was killed
            variables = {**self._plain.variables, **(self._of_file if side == FILE else {})}
            outcome = Process([*self._plain.command, *self.what.arguments()], variables, part).wait(timeout_s, interrupts)
            if outcome.interrupted:
                return "it was stopped"
            if outcome.timed_out:
                return f"it did not end in {timeout_s:.0f} s"
            if reason := self._plain.traffic_ended():
                return reason
            printed = part.read_text(encoding="utf-8", errors="replace")
            if outcome.exit_code != 0 or not times_in(printed, self.what.sizes):
                return f"it returned {outcome.exit_code}: {' / '.join(printed.strip().splitlines()[-_SHOWN_LINES:])}"
            part.replace(self._file(side, number))
        except OSError as error:
            raise OutputError(f"{part}: {error.strerror}") from None
        return ""

    def _file(self, side: str, number: int) -> Path:
        return self._folder / f"{self.what.collective}.{side}.{number:03d}.txt"

    def _times(self, side: str, number: int) -> Times:
        try:
            return times_in(self._file(side, number).read_text(encoding="utf-8"), self.what.sizes)
        except OSError:
            return {}

    def rounds(self) -> list[Round]:
        numbers = [number for number in range(1, MOST_ROUNDS + 1) if self.has(number)]
        return [{side: self._times(side, number) for side in SIDES} for number in numbers]

    def gains(self, exported: set[int]) -> list[SizeGain]:
        """`exported`: sizes whose rule is kept."""
        rounds = self.rounds()
        return [_gain(rounds, size, size in exported) for size in self.what.sizes] if rounds else []


def _gain(rounds: list[Round], size: int, exported: bool) -> SizeGain:
    def middle(side: str) -> float:
        return statistics.median(one[side][size] for one in rounds)

    return SizeGain(size, middle(DEFAULT), middle(FILE), ratio(rounds, DEFAULT, FILE, size), ratio(rounds, DEFAULT, CONTROL, size), exported)


def run_rounds(measurements: list[Measurement], has_time: Callable[[int, float], bool], launch: Callable[[Measurement, int], str]) -> None:
    """Rounds over all collectives while there is time for one more, by what the last one took. One of which a launch fails has no more."""
    took = 0.0
    for number in range(1, MOST_ROUNDS + 1):
        missing = [one for one in measurements if not one.problem and not one.has(number)]
        if missing and not has_time(number, took):
            return
        began = time.monotonic()
        for one in missing:
            one.problem = launch(one, number)
        if missing:
            took = time.monotonic() - began


DECIDING_ROUNDS = 6  # fewer give no interval
LEAST_SPEEDUP = 1 - SHARE_IF_SHORT  # what `dlmb_tune build` calls no difference, as a loss


def why_not_shown(size: int, measurement: Measurement | None) -> str:
    """Why nothing is known of a size; empty: it was measured."""
    if measurement is None or size not in measurement.what.sizes:
        return "it was not measured: no plain program was run there"
    made = len(measurement.rounds())
    if made >= DECIDING_ROUNDS:
        return ""
    if measurement.problem:
        return f"the plain program failed: {measurement.problem}"
    return f"{made} of {DECIDING_ROUNDS} rounds were made in the time that was left; a larger --budget goes on"


def gaining_sizes(rule: dict, measurement: Measurement | None) -> list[int]:
    """In bytes, ascending. `measurement`: of the rule's operation; None: it was not measured. Sizes that lose for certain are cut out first:
    one of them must not hide what the others gain together."""
    if measurement is None or len(rounds := measurement.rounds()) < DECIDING_ROUNDS:
        return []
    limits = rule["when"]["bytes"]
    speedups = {size: ratio(rounds, DEFAULT, FILE, size) for size in measurement.what.sizes if limits["min"] <= size <= limits["max"]}
    open_sizes = [size for size, speedup in speedups.items() if speedup.high >= 1]
    if not open_sizes or ratio(rounds, DEFAULT, FILE, *open_sizes).low <= 1:
        return []
    return sorted(size for size in open_sizes if speedups[size].value > 1 and speedups[size].low > LEAST_SPEEDUP)


def narrowed(rule: dict, gaining: list[int]) -> list[dict]:
    """The rule for neighbours among its sizes that gain; several where others lie between them. A rule that loses no size stays as it is."""
    runs: list[list[int]] = [[]]
    for size in rule["evidence"]["sizes"]:
        if size in gaining:
            runs[-1].append(size)
        elif runs[-1]:
            runs.append([])
    return [_part(rule, run, number) for number, run in enumerate(filter(None, runs))]


def _part(rule: dict, sizes: list[int], number: int) -> dict:
    """Beside a size that was dropped it ends at its own last one: what lies between is not known."""
    before, limits = rule["evidence"]["sizes"], rule["when"]["bytes"]
    limits = {
        **limits,
        "min": limits["min"] if sizes[0] == before[0] else sizes[0],
        "max": limits["max"] if sizes[-1] == before[-1] else sizes[-1],
    }
    name = f"{rule['id']}-{number + 1}" if number else rule["id"]
    return {**rule, "id": name, "when": {**rule["when"], "bytes": limits}, "evidence": {**rule["evidence"], "sizes": sizes}}
