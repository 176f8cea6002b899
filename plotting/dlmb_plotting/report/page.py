# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Puts the report together and keeps it small."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from dlmb_results.lines import ResultError
from dlmb_results.output import write_output

from dlmb_plotting import style
from dlmb_plotting.charts import Chart, Limits, Plot, Points, Rows
from dlmb_plotting.findings import findings
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.plots import plots
from dlmb_plotting.report import facts
from dlmb_plotting.simulation import Machine

FOLDER = Path(__file__).resolve().parent
SCRIPT = "report.js"
LARGEST_DATA_BYTES = 4_000_000  # the rest of the page is far below 1 MB
CHARTS_AT_FIRST = 64
FORBID_NETWORK = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"  # the browser enforces it
DIGITS = 6  # significant


def short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, (list, tuple)):
        return [short(each) for each in value]
    if isinstance(value, dict):
        return {key: short(each) for key, each in value.items()}
    return value


def chart_object(chart: Chart, index_of: dict[str, int]) -> dict[str, Any]:
    """As it is, but kinds by their index."""
    found = {"kind": type(chart).__name__.lower(), **vars(chart)}
    if isinstance(chart, Points):
        found |= {"x": vars(chart.x), "y": vars(chart.y), "series": [[index_of[name], points] for name, points in chart.series.items()]}
    elif isinstance(chart, Rows):
        found |= {"x": vars(chart.x), **{name: [each._replace(kind=index_of[each.kind]) for each in found[name]] for name in ("spans", "marks")}}
    return found


def plot_object(plot: Plot, palette: style.Palette) -> dict[str, Any]:
    """Kinds by the index of their colour."""
    index_of = {kind: palette.index[kind] for kind in plot.kinds()}
    charts = [chart_object(chart, index_of) for chart in plot.charts]
    bars = sorted({span[3] for chart in charts for span in chart.get("spans", ())})
    return {"name": plot.name, "kinds": {index: kind for kind, index in index_of.items()}, "bars": bars, "charts": charts}


def data_text(found: list[Plot]) -> str:
    """JSON that is safe inside a script element."""
    palettes = style.palettes(found)
    data = {"colours": style.COLOURS, "plots": [short(plot_object(plot, palettes[plot.palette])) for plot in found]}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def fitting(inputs: Inputs, machine: Machine) -> tuple[list[Plot], str]:
    """Fewer charts per plot until the page is small enough; each plot says what it leaves out."""
    charts = CHARTS_AT_FIRST
    while True:
        found = plots(inputs, machine, Limits(charts))
        data = data_text(found)
        size = len(data.encode())
        if size <= LARGEST_DATA_BYTES or charts == 1:
            return found, data
        charts = max(1, min(charts - 1, charts * LARGEST_DATA_BYTES // size))


def section(plot: Plot) -> str:
    missing = f'<p class="left-out">{escape(plot.left_out)}</p>' if plot.left_out else ""
    return (f'<section id="{escape(plot.name)}"><h3>{escape(plot.title)}</h3><p class="caption">{escape(plot.caption)}</p>{missing}'
            '<div class="legend"></div><div class="charts"></div></section>')


def body(inputs: Inputs, plotted: list[Plot]) -> str:
    chapters: dict[str, list[Plot]] = {}
    for plot in plotted:
        chapters.setdefault(plot.name.split(".")[0], []).append(plot)
    results = inputs.results
    around = [("ran", "What ran", facts.methods), ("not-run", "What did not run, and why", facts.not_run),
              ("warnings", "Warnings", facts.warnings), ("machine", "Machine and software", facts.machine)] if results.launches else []
    links = [*((f"chapter-{name}", name) for name in chapters), *((identifier, title) for identifier, title, _ in around)]
    parts = ["<h1>DLMB report</h1>", facts.at_a_glance(results), "<nav>", *(f'<a href="#{escape(identifier)}">{escape(title)}</a>' for identifier, title in links), "</nav>"]
    parts += ["<h2>What was found</h2>", facts.found(results, findings(inputs))]
    for name, of_chapter in chapters.items():
        parts += [f'<h2 id="chapter-{escape(name)}">{escape(name)}</h2>', *map(section, of_chapter)]
    parts += [f'<h2 id="{identifier}">{title}</h2>{text(results)}' for identifier, title, text in around]
    return "\n".join(parts)


def html(inputs: Inputs, machine: Machine) -> str:
    plotted, data = fitting(inputs, machine)
    if not plotted:
        raise ResultError("the files hold nothing to draw; give result files, plans, tuning tables or comparisons")
    script = (FOLDER / SCRIPT).read_text(encoding="utf-8")
    css = (FOLDER / "page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>DLMB report</title>
<meta http-equiv="Content-Security-Policy" content="{FORBID_NETWORK}">
<meta name="viewport" content="width=device-width">
<style>{css}</style></head><body>
{body(inputs, plotted)}
<noscript><p class="warning">The charts are drawn by a script of this page; this browser runs none.</p></noscript>
<div id="tip" hidden></div><svg id="patterns" aria-hidden="true"></svg>
<script>const REPORT = {data};
{script}</script>
</body></html>
"""


def write(inputs: Inputs, machine: Machine, path: Path) -> Path:
    text = html(inputs, machine)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, text)
    return path
