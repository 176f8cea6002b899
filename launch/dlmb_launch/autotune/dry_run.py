# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a tuning, before anything is launched. How long launches take is guessed here, and learned when they run."""

from __future__ import annotations

import re
from typing import Any

from dlmb_launch.autotune.observations import Key
from dlmb_launch.autotune.outcome import reserve_s
from dlmb_launch.autotune.planning import SEARCH_LAUNCHES, Candidate, Cost, cell_limit, launches_to_decide, racing
from dlmb_launch.autotune.points import OPERATIONS, shown_sizes
from dlmb_launch.autotune.request import Request
from dlmb_launch.sweep.driver import duration
from dlmb_launch.sweep.launchers import Launcher

_STARTUP_S = 1.0
_CELL_S = 0.05  # beside the time that it measures
_USUAL_METHODS = 6  # of an operation, where dlmb_info does not list them


def describe(request: Request, info: dict[str, Any], launcher: Launcher) -> list[str]:
    lines = [f"launches by {' '.join(launcher.command(request.machine, request.world))} PROGRAM"]
    candidates = [_candidate(request, info, key) for key in sorted(request.weights)]
    for consumer in request.consumers:
        for operation in request.operations(consumer.backend):
            sizes = [point.size for backend, point in sorted(request.weights) if (backend, point.operation) == (consumer.backend, operation)]
            count = _methods(request, info, consumer.backend, operation)
            lines.append(f"{consumer.name}: {operation}, {shown_sizes(sizes)}, about {count} methods beside the library's own choice")
    operations = {(backend, point.operation) for backend, point in request.weights}
    reserve = reserve_s(len(operations), request.budget_s, _STARTUP_S)
    left = request.budget_s - reserve
    limit = cell_limit(candidates, Cost(_STARTUP_S, _CELL_S, 0.0), left)
    cost = Cost(_STARTUP_S, _CELL_S + limit, limit)
    fitting = racing(candidates, cost, left)
    cells = sum(candidate.cells_to_decide() for candidate in fitting)
    measuring = launches_to_decide(fitting) * cost.startup_s + cells * cost.cell_s
    lines.append(f"search and confirmation: about {launches_to_decide(fitting):.0f} launches, {cells:.0f} cells of {limit:g} s, {duration(measuring)}")
    lines.append(f"verification and gain in a plain program: about {duration(reserve)}")
    if len(fitting) < len(candidates):
        left_out = f"{len(candidates) - len(fitting)} of {len(candidates)} points cannot be decided in {duration(request.budget_s)}"
        lines.append(f"{left_out}: give more, or fewer --operations or --sizes")
    lines.append(f"{SEARCH_LAUNCHES} launches decide a point; how small a gain can be seen is said when the noise is known")
    return lines


def _candidate(request: Request, info: dict[str, Any], key: Key) -> Candidate:
    methods = tuple(map(str, range(_methods(request, info, key[0], key[1].operation))))
    return Candidate(key, methods, len(methods), 0, request.weights[key])


def _methods(request: Request, info: dict[str, Any], backend: str, operation: str) -> int:
    consumer = request.consumer_of(backend)
    if consumer.methods:
        return len(consumer.methods)
    knobs = [
        method["knobs"]
        for each in info["backends"]
        if each["name"] == backend
        for method in each.get("methods", [])
        if method["name"] == "algorithm"
    ]
    found = re.search(rf"\b{OPERATIONS[operation][1]}=([^,]*)", ", ".join(knobs))
    return found[1].count("|") + 1 if found else _USUAL_METHODS
