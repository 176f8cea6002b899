# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who sends how much to whom in one iteration, from a plan: in all, and by phase."""

from __future__ import annotations

from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Heat, Limits, Plot, left_out

MOST_ROWS = 64
CAPTION = ("Bytes of exchanges and of single messages from the plan, blocks to the rank itself included. Collectives (allreduce and the like) are "
           "not drawn: who sends what in them is the library's choice.")
Matrix = list[list[float]]


def plots(plans: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    """One plot per plan."""
    by_pattern: dict[str, dict[str, dict[str, Any]]] = {}
    for name, document in plans.items():
        by_pattern.setdefault(document["pattern"], {})[name] = document
    found = []
    for pattern, documents in by_pattern.items():
        for name, document in list(documents.items())[: limits.charts]:
            charts = heats(document)
            title = f"{pattern}, {document['preset'] or 'no preset'}, {document['world']['ranks']} ranks: traffic of one iteration"
            found.append(Plot(f"{pattern}.matrix" if len(documents) == 1 else f"{pattern}.{name}.matrix", title, CAPTION, charts[: limits.charts],
                              left_out(min(len(charts), limits.charts), len(charts), "matrices"), measured=False))
    return [plot for plot in found if plot.charts]


def heats(document: dict[str, Any]) -> list[Heat]:
    ranks = document["world"]["ranks"]
    phases: dict[str, Matrix] = {}
    for plan in document["plans"]:
        for step in plan["steps"]:
            for block in step.get("send", ()):
                phase = step["label"].split(".")[0]
                matrix = phases.setdefault(phase, [[0.0] * ranks for _ in range(ranks)])
                matrix[plan["rank"]][block["peer"]] += block["bytes"]
    if len(phases) > 1:
        whole = [[sum(matrix[i][j] for matrix in phases.values()) for j in range(ranks)] for i in range(ranks)]
        phases = {"all phases": whole, **phases}
    return [heat(phase, matrix) for phase, matrix in phases.items()]


def heat(title: str, matrix: Matrix) -> Heat:
    """More than 64 ranks are summed in blocks of neighbours."""
    ranks = len(matrix)
    block = -(-ranks // MOST_ROWS)
    names = [str(first) if block == 1 else f"{first}-{min(first + block, ranks) - 1}" for first in range(0, ranks, block)]
    sums = [[sum(sum(row[j : j + block]) for row in matrix[i : i + block]) for j in range(0, ranks, block)] for i in range(0, ranks, block)]
    unit, size = style.byte_unit(max(map(max, sums)))
    if block > 1:
        title += f", summed in blocks of {block} ranks"
    return Heat(f"{title} ({unit})", names, names, "source rank", "destination rank", [[value / size for value in row] for row in sums], unit)
