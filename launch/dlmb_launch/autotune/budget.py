# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The time that a tuning may take, over all runs of the same command, and what of it has been used."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from dlmb_launch.sweep.driver import duration
from dlmb_launch.sweep.faults import OutputError, UsageError
from dlmb_results.fields import load_json
from dlmb_results.output import write_output

EXCESS_S = 60.0  # beyond the budget, for what was begun to come to its end
SHORTEST_S = 10.0
_FACTORS = {"s": 1, "m": 60, "h": 3600}


def parse(text: str) -> float:
    """"20m", "90s", "1h", "1h30m" in seconds."""
    if not re.fullmatch(r"(\d{1,6}[hms])+", text):
        raise UsageError(f"--budget: '{text}' is no time as 20m, 90s or 1h30m")
    seconds = sum(int(number) * _FACTORS[unit] for number, unit in re.findall(r"(\d+)([hms])", text))
    if seconds < SHORTEST_S:
        raise UsageError(f"--budget: {text} is too short; give {SHORTEST_S:.0f}s or more")
    return float(seconds)


class Clock:
    """What was used is kept in a file after every launch, so that a kill loses the time of one launch at most."""

    def __init__(self, file: Path, budget_s: float):
        self._file = file
        self.budget_s = budget_s
        self._before = _read(file)
        self._began = time.monotonic()

    @property
    def spent_s(self) -> float:
        return self._before + time.monotonic() - self._began

    @property
    def left_s(self) -> float:
        return self.budget_s - self.spent_s

    def keep(self) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self._file.parent}: {error.strerror}") from None
        write_output(self._file, json.dumps({"spent_s": round(self.spent_s, 1)}) + "\n")

    def say(self, text: str) -> None:
        left = f"{duration(self.left_s)} left" if self.left_s > 0 else "budget used up"
        print(f"[{left} of {duration(self.budget_s)}] {text}", flush=True)


def _read(file: Path) -> float:
    try:
        return float(load_json(file.read_text(encoding="utf-8"))["spent_s"])
    except FileNotFoundError:
        return 0.0
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{file}: cannot be read; remove it, and the time starts anew") from None
