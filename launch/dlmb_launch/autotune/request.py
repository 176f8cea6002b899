# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The request of a user, the part of it that all runs into one folder must share, and the time that a tuning may take over all of these runs."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.autotune.observations import Key
from dlmb_launch.autotune.points import Consumer, Point
from dlmb_launch.sweep.driver import duration
from dlmb_launch.sweep.launchers import Machine
from dlmb_launch.sweep.sweep_file import World
from dlmb_results.files import kept_json, write_output, write_whole
from dlmb_results.program import UsageError

NO_LOAD = "none"
LOADS = ("compute", "memory")  # that programs make themselves
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
    """The time that was used. It is kept in a file after every launch, so that a kill loses the time of one launch at most."""

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
        write_whole(self._file, json.dumps({"spent_s": round(self.spent_s, 1)}) + "\n")

    def say(self, text: str) -> None:
        left = f"{duration(self.left_s)} left" if self.left_s > 0 else "budget used up"
        print(f"[{left} of {duration(self.budget_s)}] {text}", flush=True)


def _read(file: Path) -> float:
    remedy = "cannot be read; remove it, and the time starts anew"
    kept = kept_json(file, remedy)
    try:
        return 0.0 if kept is None else float(kept["spent_s"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{file}: {remedy}") from None


@dataclass(frozen=True)
class Request:
    ranks: int
    nodes: int
    consumers: tuple[Consumer, ...]
    weights: dict[Key, float]  # of the points: calls in the workload, or 1
    weighted: bool  # by a workload, so that what a call takes counts, too
    budget_s: float
    timing: str
    beside: str  # NO_LOAD, one of LOADS, or the name of `traffic`
    traffic: Path | None  # the plan of what communicates meanwhile
    build: Path
    machine: Machine
    output: Path
    accept: tuple[str, ...]  # for `dlmb_tune build`
    commutative: bool  # for `dlmb_tune export`

    @property
    def world(self) -> World:
        return World(self.ranks, self.nodes)

    @property
    def campaign(self) -> Path:
        return self.output / "campaign"

    def consumer_of(self, backend: str) -> Consumer:
        return next(consumer for consumer in self.consumers if consumer.backend == backend)

    def operations(self, backend: str) -> list[str]:
        return list(dict.fromkeys(point.operation for each, point in sorted(self.weights) if each == backend))


def points(
    consumers: tuple[Consumer, ...], operations: list[str] | None, sizes: list[int], use: dict[Point, float] | None, ranks: int
) -> dict[Key, float]:
    """use: of a workload, which then says the sizes, too."""
    found: dict[Key, float] = {}
    for consumer in consumers:
        for operation in consumer.operations:
            if operations is not None and operation not in operations:
                continue
            if use is None:
                found.update({(consumer.backend, Point(operation, size).whole(ranks)): 1.0 for size in sizes})
            else:
                found.update({(consumer.backend, point): calls for point, calls in use.items() if point.operation == operation})
    if not found:
        what = "the workload" if use is not None else "--operations"
        raise UsageError(f"{what}: holds nothing that {', '.join(consumer.name for consumer in consumers)} can be told")
    return found


def require_same(request: Request) -> None:
    """Launches of other ranks, timing or launcher make no table together."""
    mine = {
        "ranks": request.ranks,
        "nodes": request.nodes,
        "timing": request.timing,
        "beside": request.beside,
        "launcher": request.machine.launcher,
        "arguments": list(request.machine.arguments),
        "bind": request.machine.bind,
        "build": str(request.build.resolve()),
    }
    file = request.campaign / "request.json"
    before = kept_json(file, "is not of a tuning; name another folder with -o")
    if before is None:
        write_output(file, json.dumps(mine, indent=1) + "\n")
        return
    for name, value in mine.items():
        was = before.get(name, NO_LOAD if name == "beside" else None) if isinstance(before, dict) else None
        if was != value:
            raise UsageError(f"{request.output}: was measured with {name} {was!r}, not {value!r}; name another folder with -o")
