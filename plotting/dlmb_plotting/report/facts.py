# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the report: where the numbers come from, and what ran and what did not."""

from __future__ import annotations

from collections import Counter
from html import escape

from dlmb_plotting.groups import setting
from dlmb_plotting.results import Cell, Results

MACHINE = ("cpu_model", "processing_units", "nodes", "gpus", "mpi_library", "binding", "build_type")
INFORMATIONAL = ("hosts", "kernel", "compiler", "version", "git_revision", "load", "ucx_version", "nccl_version", "cuda_driver")
MOST_REASONS = 40
MOST_METHODS = 200


def table(head: list[str], rows: list[list[object]]) -> str:
    def cell(value: object) -> str:
        return f'<td class="number">{value}</td>' if isinstance(value, int) else f"<td>{escape(str(value))}</td>"

    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><tr>{top}</tr>" + "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows) + "</table>"


def more(shown: int, all_of_them: int, what: str) -> str:
    return f'<p class="left-out">{all_of_them - shown} more {what}</p>' if all_of_them > shown else ""


def machine(results: Results) -> str:
    """Every value that any launch has, because files of several machines may be in one report."""
    facts: dict[str, dict[str, None]] = {}
    for launch in results.launches.values():
        for part, names in (("identity", MACHINE), ("informational", INFORMATIONAL)):
            values = launch.environment.get(part) or {}
            for name in names:
                if values.get(name):
                    facts.setdefault(name.replace("_", " "), {})[str(values[name])] = None
        facts.setdefault("ranks", {})[str(launch.world.get("ranks", "?"))] = None
        facts.setdefault("begin (UTC)", {})[launch.time] = None
    rows: list[list[object]] = []
    for name, found in facts.items():
        values = sorted(found)
        rows.append([name, "; ".join(values) if len(values) <= 3 else f"{values[0]} to {values[-1]} ({len(values)} values)"])
    return table(["fact", "value"], rows)


def methods(results: Results) -> str:
    """Counts all cells, also those that the plots leave out."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for pattern, cells in results.patterns().items():
        for cell in cells:
            count = counts.setdefault((pattern, cell.method_name), Counter())
            count["cells"] += 1
            count[cell.status] += 1
        for fastest, members in fastest_of(cells):
            counts[pattern, fastest.method_name]["fastest"] += 1
            for member in members:
                counts[pattern, member.method_name]["contested"] += 1
    rows: list[list[object]] = []
    for (pattern, method), count in sorted(counts.items()):
        wins = f"{count['fastest']} of {count['contested']}" if count["contested"] else "no other method"
        rows.append([pattern, method, count["cells"], count["ok"], count["skipped"], count["failed"] + count["timeout"], count["invalid"], wins])
    head = ["pattern", "backend, method", "cells", "ok", "skipped", "failed or timeout", "invalid", "fastest in settings"]
    return table(head, rows[:MOST_METHODS]) + more(MOST_METHODS, len(rows), "rows")


def fastest_of(cells: list[Cell]) -> list[tuple[Cell, list[Cell]]]:
    """For each setting in which two methods or more ran: the fastest cell, and all cells."""
    settings: dict[object, list[Cell]] = {}
    for cell in cells:
        if cell.ok:
            settings.setdefault(setting(cell), []).append(cell)
    return [(min(members, key=lambda cell: cell.median_ns), members) for members in settings.values() if len(members) > 1]


def not_run(results: Results) -> str:
    reasons = Counter((cell.status, cell.pattern, cell.method_name, cell.reason) for cell in results.cells if not cell.ok)
    if not reasons:
        return "<p>Every cell ran and passed.</p>" if results.cells else ""
    rows: list[list[object]] = [[*reason, count] for reason, count in reasons.most_common(MOST_REASONS)]
    return table(["status", "pattern", "backend, method", "reason", "cells"], rows) + more(MOST_REASONS, len(reasons), "reasons")
