# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The texts of the report around its charts: what was found, what ran and what did not, warnings, and the machine."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from html import escape

from dlmb_plotting.findings import Finding, Judge, how_sure
from dlmb_plotting.results import DOUBTS, Launch, Results
from dlmb_results.lines import TEST_DOUBLE

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
    known = {**launch.environment["informational"], **launch.environment["identity"], "ranks": launch.world["ranks"], "begin (UTC)": launch.time}
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
