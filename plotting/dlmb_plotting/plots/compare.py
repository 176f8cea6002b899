# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of dlmb_compare as a forest plot: ratio and interval of every cell, the worst on top."""

from __future__ import annotations

from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Mark, Plot, Rows, plural
from dlmb_plotting.groups import short_names

CAPTION = "How many times worse the candidate is{}: above 1 is worse, whatever the metric. Worst cells on top."
WITH_INTERVAL = ", with its {:.0f} % interval"
WITHOUT = " NOT_COMPARABLE: numbers of another program, without an interval."


def plots(comparisons: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    return [plot for name, document in comparisons.items() for plot in of_document(name, document, limits)]


def of_document(name: str, document: dict[str, Any], limits: Limits) -> list[Plot]:
    cells = [cell for cell in document["cells"] if cell.get("evidence") or cell.get("bare_ratio")]
    if not cells:
        return []
    cells.sort(key=lambda cell: -ratio_of(cell)["ratio"])
    shown = cells[: limits.rows]
    names = short_names({cell["cell_id"]: cell.get("name", cell["cell_id"]) for cell in shown})
    metric = document["metric"]["name"]
    chart = Rows(verdicts(document), [names[cell["cell_id"]] for cell in shown],
                 Axis(f"{metric}: candidate / baseline (ratio, above 1 is worse)", reference=1.0))
    for row, cell in enumerate(shown):
        found = ratio_of(cell)
        value = found["ratio"]
        ratio = style.number(value)
        interval = f" ({style.number(found['low'])} to {style.number(found['high'])})" if "low" in found else ""
        chart.marks.append(Mark(row, value, found.get("low", value), found.get("high", value), cell["state"], f"{names[cell['cell_id']]}: {cell['state']}, {ratio}{interval}"))
        chart.ends[row] = ratio
    judged = next((cell["evidence"] for cell in shown if cell.get("evidence")), None)
    bare = any(cell.get("bare_ratio") for cell in shown)
    caption = CAPTION.format(WITH_INTERVAL.format(100 * judged.get("confidence", 0.95)) if judged else "") + (WITHOUT if bare else "")
    return [Plot(f"{name}.compare", f"comparison {name}", caption, [chart], missing(len(shown), len(cells), len(document["cells"])), palette="verdicts")]


def ratio_of(cell: dict[str, Any]) -> dict[str, float]:
    """Without low and high where it is of another program's number."""
    return cell.get("evidence") or cell["bare_ratio"]


def verdicts(document: dict[str, Any]) -> str:
    return ", ".join(f"{count} {state}" for state, count in document["counts"].items() if count) or "no cell"


def missing(shown: int, with_ratio: int, cells: int) -> str:
    texts = [f"the worst {shown} of {with_ratio} cells with a ratio are shown"] if shown < with_ratio else []
    texts += [f"{cells - with_ratio} of {plural(cells, 'cell')} without a ratio (not comparable, or invalid)"] if with_ratio < cells else []
    return "; ".join(texts)
