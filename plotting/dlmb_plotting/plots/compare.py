# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of dlmb_compare as a forest plot: ratio and interval of every cell, the worst on top."""

from __future__ import annotations

from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Mark, Plot, Rows
from dlmb_plotting.groups import short_names

CAPTION = "How many times worse the candidate is, with its 95 % interval: above 1 is worse, whatever the metric. Worst cells on top."


def plots(comparisons: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    return [plot for name, document in comparisons.items() for plot in of_document(name, document, limits)]


def of_document(name: str, document: dict[str, Any], limits: Limits) -> list[Plot]:
    cells = [cell for cell in document["cells"] if cell.get("evidence")]
    if not cells:
        return []
    cells.sort(key=lambda cell: -cell["evidence"]["ratio"])
    shown = cells[: limits.rows]
    names = short_names(cell["cell_id"] for cell in shown)
    metric = document["metric"]["name"]
    chart = Rows(verdicts(document), [names[cell["cell_id"]] for cell in shown],
                 Axis(f"{metric}: candidate / baseline (ratio, above 1 is worse)", reference=1.0))
    for row, cell in enumerate(shown):
        evidence = cell["evidence"]
        ratio = style.number(evidence["ratio"])
        text = f"{names[cell['cell_id']]}: {cell['state']}, {ratio} ({style.number(evidence['low'])} to {style.number(evidence['high'])})"
        chart.marks.append(Mark(row, evidence["ratio"], evidence["low"], evidence["high"], cell["state"], text))
        chart.ends[row] = ratio
    return [Plot(f"{name}.compare", f"comparison {name}", CAPTION, [chart], missing(len(shown), len(cells), len(document["cells"])), measured=False)]


def verdicts(document: dict[str, Any]) -> str:
    return ", ".join(f"{count} {state}" for state, count in document["counts"].items() if count) or "no cell"


def missing(shown: int, with_ratio: int, cells: int) -> str:
    texts = [f"the worst {shown} of {with_ratio} cells with a ratio are shown"] if shown < with_ratio else []
    texts += [f"{cells - with_ratio} of {cells} cells have no ratio (not comparable, or invalid)"] if with_ratio < cells else []
    return "; ".join(texts)
