# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes plots (charts and texts) of the files that were read. One module per kind of plot. Nothing here draws."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from dlmb_plotting.charts import Limits, Plot
from dlmb_plotting.inputs import Inputs, refusing
from dlmb_plotting.plots import curves, documents, neighbors, phases, plans, requests, trend
from dlmb_plotting.plots.plans import Machine

Maker = Callable[[Inputs, Machine, Limits], list[Plot]]

MAKERS: dict[str, tuple[str, Maker]] = {
    "sizes": ("time and bandwidth by size, with the intervals that there are (result files)", lambda inputs, _, limits: curves.size_plots(inputs.results, limits)),
    "timings": ("one operation under several --timing (result files)", lambda inputs, _, limits: curves.timing_plots(inputs.results, limits)),
    "phases": ("where an iteration's time goes, and the bus bandwidth (result files)", lambda inputs, _, limits: phases.plots(inputs.results, limits)),
    "imbalance": ("imbalance of the traffic against time, and by draw where it moves (result files)", lambda inputs, _, limits: curves.imbalance_plots(inputs.results, limits)),
    "neighbors": ("how much plans that run at the same time, or other work of the ranks, slow traffic down (result files)", lambda inputs, _, limits: neighbors.plots(inputs.results, limits)),
    "requests": ("how long requests take that arrive during an iteration (result files)", lambda inputs, _, limits: requests.plots(inputs.results, limits)),
    "matrix": ("who sends how much to whom (plans of --plan jsonl)", lambda inputs, _, limits: plans.matrix_plots(inputs.plans, limits)),
    "messages": ("how many messages of which size (plans of --plan jsonl)", lambda inputs, _, limits: plans.message_plots(inputs.plans, limits)),
    "timeline": ("simulated schedule with its bubbles (plans of --plan jsonl)", lambda inputs, machine, limits: plans.timeline_plots(inputs.plans, machine, limits)),
    "tuning": ("who wins where, gain over the default (tuning tables)", lambda inputs, _, limits: documents.tuning_plots(inputs.tables, limits)),
    "compare": ("forest plot of verdicts (dlmb_compare --export json FILE)", lambda inputs, _, limits: documents.comparison_plots(inputs.comparisons, limits)),
    "trend": ("change over campaigns (result files of two or more)", lambda inputs, _, limits: trend.plots(inputs.results, limits)),
}

OF_DOCUMENTS = ("matrix", "messages", "timeline", "tuning", "compare")  # result lines were looked at when they were read


def plots(inputs: Inputs, machine: Machine, limits: Limits, only: str | None = None) -> list[Plot]:
    """only: a name in MAKERS; None: all that the inputs have something for, without those that another one shows as well."""
    return [plot for name in MAKERS if only in (None, name) for plot in made(name, inputs, machine, limits) if only == name or not plot.covered]


def made(name: str, inputs: Inputs, machine: Machine, limits: Limits) -> list[Plot]:
    with refusing(name) if name in OF_DOCUMENTS else nullcontext():
        return MAKERS[name][1](inputs, machine, limits)
