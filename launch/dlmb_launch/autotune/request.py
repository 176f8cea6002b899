# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is asked for, and the part of it that all runs into one folder must share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.autotune.consumers import Consumer
from dlmb_launch.autotune.observations import Key
from dlmb_launch.autotune.points import Point
from dlmb_launch.sweep.faults import UsageError
from dlmb_launch.sweep.launchers import Machine
from dlmb_launch.sweep.sweep_file import World
from dlmb_results.fields import load_json
from dlmb_results.output import write_output


@dataclass(frozen=True)
class Request:
    ranks: int
    nodes: int
    consumers: tuple[Consumer, ...]
    weights: dict[Key, float]  # of the points: calls in the workload, or 1
    weighted: bool  # by a workload, so that what a call takes counts, too
    budget_s: float
    timing: str
    build: Path
    machine: Machine
    output: Path
    accept: tuple[str, ...]  # for `dlmb_tune build`

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


def points(consumers: tuple[Consumer, ...], operations: list[str] | None, sizes: list[int], use: dict[Point, float] | None) -> dict[Key, float]:
    """use: of a workload, which then says the sizes, too."""
    found: dict[Key, float] = {}
    for consumer in consumers:
        for operation in consumer.operations:
            if operations is not None and operation not in operations:
                continue
            if use is None:
                found.update({(consumer.backend, Point(operation, size)): 1.0 for size in sizes})
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
        "launcher": request.machine.launcher,
        "arguments": list(request.machine.arguments),
        "bind": request.machine.bind,
        "build": str(request.build.resolve()),
    }
    file = request.campaign / "request.json"
    try:
        before = load_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        write_output(file, json.dumps(mine, indent=1) + "\n")
        return
    except (OSError, ValueError):
        raise UsageError(f"{file}: is not of a tuning; name another folder with -o") from None
    for name, value in mine.items():
        if not isinstance(before, dict) or before.get(name) != value:
            was = before.get(name) if isinstance(before, dict) else None
            raise UsageError(f"{request.output}: was measured with {name} {was!r}, not {value!r}; name another folder with -o")
