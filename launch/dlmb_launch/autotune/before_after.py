# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The check of an export by a plain program: rounds of launches with the files, without them, and without them once more. The third
side is the control: by how much two equal sides differ.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.autotune.plain_program import Ratio, Round, Times, Visits, ratio, times_in
from dlmb_launch.sweep.faults import OutputError
from dlmb_launch.sweep.process import Interrupts, Process

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


@dataclass(frozen=True)
class SizeGain:
    bytes: int
    default_ns: float
    file_ns: float
    speedup: Ratio  # default / file
    control: Ratio  # default / control: near 1
    exported: bool


class Measurement:
    """Of one collective: one file per launch, so that a kill loses one launch. Another export has another folder."""

    def __init__(self, folder: Path, what: Visits, plain: Plain, of_file: dict[str, str]):
        self._folder = folder
        self.what = what
        self._plain = plain
        self._of_file = of_file

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
        times = sorted(one[side][size] for one in rounds)
        return times[len(times) // 2]

    return SizeGain(size, middle(DEFAULT), middle(FILE), ratio(rounds, DEFAULT, FILE, size), ratio(rounds, DEFAULT, CONTROL, size), exported)


def run_rounds(measurements: list[Measurement], has_time: Callable[[int, float], bool], launch: Callable[[Measurement, int], str]) -> tuple[int, str]:
    """Rounds over all collectives while there is time for one more, by what the last one took. Returns how many there are, and why a
    launch failed."""
    took = 0.0
    for number in range(1, MOST_ROUNDS + 1):
        missing = [one for one in measurements if not one.has(number)]
        if missing and not has_time(number, took):
            return number - 1, ""
        began = time.monotonic()
        for one in missing:
            if reason := launch(one, number):
                return number - 1, reason
        if missing:
            took = time.monotonic() - began
    return MOST_ROUNDS, ""
