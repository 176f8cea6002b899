# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The report: one HTML file that needs no network, data as JSON, drawn as SVG by report.js, and small. Around the charts are texts: what was
found, what ran and what did not, warnings, and the machine."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Chart, Limits, Plot, Points, Rows
from dlmb_plotting.findings import Finding, Judge, findings, how_sure
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.plots import plots
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.results import DOUBTS, Results
from dlmb_results.cells import TEST_DOUBLE, Launch, by_key
from dlmb_results.files import write_whole
from dlmb_results.lines import ResultError

MACHINE = ("cpu_model", "processing_units", "nodes", "gpus", "mpi_library", "binding", "build_type")
INFORMATIONAL = ("hosts", "kernel", "compiler", "version", "git_revision", "load", "ucx_version", "nccl_version", "cuda_driver")
MOST_REASONS = 40
WHERE = re.compile(r".*?: (?:launch \S+ )?")  # at the begin of a remark: file, line, launch
MOST_METHODS = 200
MOST_AT_A_GLANCE = 4


def table(head: list[str], rows: list[list[object]]) -> str:
    def cell(value: object) -> str:
        return f'<td class="number">{value}</td>' if isinstance(value, int) else f"<td>{escape(str(value))}</td>"

    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><tr>{top}</tr>" + "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows) + "</table>"


def more(shown: int, all_of_them: int, what: str) -> str:
    return f'<p class="left-out">{all_of_them - shown} more {what}</p>' if all_of_them > shown else ""


def machine(results: Results) -> str:
    """Every value that any launch has, because files of several machines may be in one report."""
    rows: list[list[object]] = []
    for name in (*MACHINE, *INFORMATIONAL, "ranks", "begin (UTC)"):
        values = sorted({str(value) for launch in results.launches.values() if (value := fact(launch, name))})
        if values:
            rows.append([name.replace("_", " "), "; ".join(values) if len(values) <= 3 else f"{values[0]} to {values[-1]} ({len(values)} values)"])
    return table(["fact", "value"], rows)


def fact(launch: Launch, name: str) -> object:
    known = {**launch.facts, **launch.identity, "ranks": launch.ranks, "begin (UTC)": launch.time}
    return known.get(name)


def at_a_glance(results: Results) -> str:
    """When and where it was measured, and what makes the numbers less than they could be: who reads no further has seen it."""
    if not results.launches:
        return ""
    launches = sorted(results.launches.values(), key=lambda launch: launch.time)
    first, last = launches[0].time, launches[-1].time
    when = first if len(launches) == 1 else f"{len(launches)} launches, {first} to {last}"
    parts = [when, *(f"{name} {values}" for name, values in (
        ("on", some(fact(launch, "hosts") for launch in launches)), ("ranks:", some(fact(launch, "ranks") for launch in launches)),
        ("revision", some(launch.revision for launch in launches))) if values)]
    warned = warning_rows(results)
    shown = "".join(f"<li>{escape(str(text))} ({escape(str(of))})</li>" for text, of in warned[:MOST_AT_A_GLANCE])
    rest = f'<li><a href="#warnings">{len(warned) - MOST_AT_A_GLANCE} more warnings</a></li>' if len(warned) > MOST_AT_A_GLANCE else ""
    listed = f'<p class="warning">Warnings:</p><ul class="found">{shown}{rest}</ul>' if warned else "<p>No warnings.</p>"
    return f'<p>{escape("; ".join(parts))}</p>{listed}'


def some(values: Iterable[object]) -> str:
    """Two different ones at most, and how many others there are."""
    known = sorted({str(value) for value in values if value})
    return ", ".join(known[:2]) + (f" and {len(known) - 2} more" if len(known) > 2 else "")


def methods(results: Results) -> str:
    """Counts all cells, also those that the plots leave out."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    judge = Judge(results)
    for pattern, cells in results.patterns().items():
        for cell in cells:
            counts[pattern, cell.method_name].update(["cells", cell.status])
        for contest in judge.contests(cells):
            counts[pattern, contest.winner]["fastest"] += contest.decided
            for member in contest.cells:
                counts[pattern, member.method_name]["contested"] += 1
    rows: list[list[object]] = []
    for (pattern, method), count in sorted(counts.items()):
        wins = f"{count['fastest']} of {count['contested']}" if count["contested"] else "no other method"
        rows.append([pattern, method, count["cells"], count["ok"], count["skipped"], count["failed"] + count["timeout"], count["invalid"], wins])
    head = ["pattern", "backend, method", "cells", "ok", "skipped", "failed or timeout", "invalid", "fastest, of settings with others"]
    return table(head, rows[:MOST_METHODS]) + more(MOST_METHODS, len(rows), "rows")


def not_run(results: Results) -> str:
    reasons = Counter((cell.status, cell.pattern, cell.method_name, cell.reason) for cell in results.cells if not cell.ok)
    if not reasons:
        return "<p>Every cell ran and passed.</p>" if results.cells else ""
    rows: list[list[object]] = [[*reason, count] for reason, count in reasons.most_common(MOST_REASONS)]
    return table(["status", "pattern", "backend, method", "reason", "cells"], rows) + more(MOST_REASONS, len(reasons), "reasons")


def found(results: Results, findings: list[Finding]) -> str:
    parts = [f'<p class="warning">{escape(TEST_DOUBLE)}</p>'] if any(launch.test_double for launch in results.launches.values()) else []
    for finding in findings:
        items = "".join("<li>" + (f"<b>{escape(where)}</b>: " if where else "") + f"{escape(text)}</li>" for where, text in finding.lines)
        parts.append(f"<h3>{escape(finding.title)}</h3>" + (f"<p>{escape(finding.summary)}</p>" if finding.summary else "") + f'<ul class="found">{items}</ul>')
    if not findings:
        parts.append("<p>Nothing was measured: the pictures are of plans.</p>")
    return "".join(parts) + f'<p class="caption">{escape(how_sure(results))}</p>'


def warnings(results: Results) -> str:
    rows = warning_rows(results)
    return table(["warning", "of"], rows) if rows else "<p>None.</p>"


def warning_rows(results: Results) -> list[list[object]]:
    """Each once, with the number of launches or cells that have it."""
    ran = [cell for cell in results.cells if cell.ok]
    doubts = Counter(doubt for cell in ran for doubt in cell.doubts)
    rows: list[list[object]] = [[text, f"{count} of {len(results.launches)} launches"] for text, count in results.warnings()]
    rows += [[text, f"{doubts[name]} of {len(ran)} cells"] for name, text in DOUBTS.items() if doubts[name]]
    remarks: dict[str, list[str]] = {}
    for remark in results.remarks:
        where = WHERE.match(remark)
        remarks.setdefault(remark[where.end() :] if where else remark, []).append(where[0].rstrip(": ") if where else "")
    return rows + [[text, places[0] if len(places) == 1 else f"{len(places)} times"] for text, places in remarks.items()]


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
    index_of = {kind: palette[kind] for kind in plot.kinds()}
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
    chapters = by_key(plotted, lambda plot: plot.name.split(".")[0])
    results = inputs.results
    around = [("ran", "What ran", methods), ("not-run", "What did not run, and why", not_run),
              ("warnings", "Warnings", warnings), ("machine", "Machine and software", machine)] if results.launches else []
    links = [*((f"chapter-{name}", name) for name in chapters), *((identifier, title) for identifier, title, _ in around)]
    parts = ["<h1>DLMB report</h1>", at_a_glance(results), "<nav>", *(f'<a href="#{escape(identifier)}">{escape(title)}</a>' for identifier, title in links), "</nav>"]
    parts += ["<h2>What was found</h2>", found(results, findings(inputs))]
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
    write_whole(path, text)
    return path
