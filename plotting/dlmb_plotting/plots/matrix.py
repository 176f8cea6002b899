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
                              left_out(min(len(charts), limits.charts), len(charts), "matrices")))
    return [plot for plot in found if plot.charts]


def heats(document: dict[str, Any]) -> list[Heat]:
    """More than 64 ranks are summed in blocks of neighbours."""
    ranks = document["world"]["ranks"]
    block = -(-ranks // MOST_ROWS)
    rows = range(0, ranks, block)
    phases: dict[str, Matrix] = {}
    for plan in document["plans"]:
        for step in plan["steps"]:
            for part in step.get("send", ()):
                phase = step["label"].split(".")[0]
                matrix = phases.setdefault(phase, [[0.0] * len(rows) for _ in rows])
                matrix[plan["rank"] // block][part["peer"] // block] += part["bytes"]
    if len(phases) > 1:
        whole = [[sum(matrix[i][j] for matrix in phases.values()) for j in range(len(rows))] for i in range(len(rows))]
        phases = {"all phases": whole, **phases}
    names = [str(first) if block == 1 else f"{first}-{min(first + block, ranks) - 1}" for first in rows]
    return [heat(phase + (f", summed in blocks of {block} ranks" if block > 1 else ""), names, matrix) for phase, matrix in phases.items()]


def heat(title: str, names: list[str], matrix: Matrix) -> Heat:
    unit, size = style.byte_unit(max(map(max, matrix)))
    return Heat(f"{title} ({unit})", names, names, "source rank", "destination rank", [[value / size for value in row] for row in matrix], unit)
