# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes plots (charts and texts) of the files that were read. One module per kind of plot. Nothing here draws."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from dlmb_plotting.charts import Limits, Plot
from dlmb_plotting.inputs import Inputs, refusing
from dlmb_plotting.plots import curves, documents, neighbors, phases, plans, requests, trend
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.results import Cell, Results

Maker = Callable[[Inputs, Machine, Limits], list[Plot]]


def of_results(make: Callable[[Results, str, list[Cell], Limits], list[Plot]]) -> Maker:
    """The plots of each pattern."""
    return lambda inputs, _, limits: [plot for pattern, cells in inputs.results.patterns().items() for plot in make(inputs.results, pattern, cells, limits)]


def of_documents(kind: str, make: Callable[[str, dict[str, Any], Limits], list[Plot]]) -> Maker:
    """kind: of Inputs."""
    return lambda inputs, _, limits: [plot for name, document in getattr(inputs, kind).items() for plot in make(name, document, limits)]


MAKERS: dict[str, tuple[str, Maker]] = {
    "sizes": ("time and bandwidth by size, with the intervals that there are (result files)", of_results(curves.size_plots)),
    "timings": ("one operation under several --timing (result files)", of_results(curves.timing_plots)),
    "phases": ("where an iteration's time goes, and the bus bandwidth (result files)", of_results(phases.plots)),
    "imbalance": ("imbalance of the traffic against time, and by draw where it moves (result files)", of_results(curves.imbalance_plots)),
    "neighbors": ("how much plans that run at the same time, or other work of the ranks, slow traffic down (result files)", of_results(neighbors.plots)),
    "requests": ("how long requests take that arrive during an iteration (result files)", of_results(requests.plots)),
    "matrix": ("who sends how much to whom (plans of --plan jsonl)", lambda inputs, _, limits: plans.matrix_plots(inputs.plans, limits)),
    "messages": ("how many messages of which size (plans of --plan jsonl)", lambda inputs, _, limits: plans.message_plots(inputs.plans, limits)),
    "timeline": ("simulated schedule with its bubbles (plans of --plan jsonl)", lambda inputs, machine, limits: plans.timeline_plots(inputs.plans, machine, limits)),
    "tuning": ("who wins where, gain over the default (tuning tables)", of_documents("tables", documents.tuning_plots)),
    "compare": ("forest plot of verdicts (dlmb_compare --export json FILE)", of_documents("comparisons", documents.comparison_plots)),
    "trend": ("change over campaigns (result files of two or more)", of_results(trend.plots)),
}

OF_DOCUMENTS = ("matrix", "messages", "timeline", "tuning", "compare")  # result lines were looked at when they were read


def plots(inputs: Inputs, machine: Machine, limits: Limits, only: str | None = None) -> list[Plot]:
    """Those that have a chart. only: a name in MAKERS; None: all that the inputs have something for, without those that another one shows as well."""
    return [plot for name in MAKERS if only in (None, name) for plot in made(name, inputs, machine, limits) if plot.charts and (only == name or not plot.covered)]


def made(name: str, inputs: Inputs, machine: Machine, limits: Limits) -> list[Plot]:
    with refusing(name) if name in OF_DOCUMENTS else nullcontext():
        return MAKERS[name][1](inputs, machine, limits)
