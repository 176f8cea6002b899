# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as Markdown: a merge request's comment, a step's summary."""

from __future__ import annotations

import re

from dlmb_launch.compare import wording
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State, Verdict

CUT = "\n\n*cut: the whole table does not fit here*\n"
MEANS_SOMETHING = re.compile(r"([\\`*\[\]<>|~])")
BACKTICKS = re.compile("`+")


def escaped(text: str) -> str:
    """As plain text of one line, whatever it holds."""
    return MEANS_SOMETHING.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A code span ends at as many backticks as it begins with, so it begins with more than the text has in a row. In a table a bar
    would end the column also there."""
    text = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, BACKTICKS.findall(text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def row(verdict: Verdict, comparison: Comparison) -> str:
    evidence = verdict.evidence
    state = verdict.state.value + (f": {escaped(wording.reason(verdict))}" if verdict.reason else "")
    if bare := verdict.bare_ratio:
        return (
            f"| {state} | {bare.ratio:.3f} | | {wording.quantity(bare.baseline, comparison.metric)} "
            f"| {wording.quantity(bare.candidate, comparison.metric)} | {code(verdict.cell.name)} |"
        )
    if evidence is None:
        return f"| {state} | | | | | {code(verdict.cell.name)} |"
    return (
        f"| {state} | {wording.ratio_with_interval(evidence)} | {wording.percent(evidence.margin)} "
        f"| {wording.quantity(evidence.baseline, comparison.metric)} | {wording.quantity(evidence.candidate, comparison.metric)} "
        f"| {code(verdict.cell.name)} |"
    )


def text(comparison: Comparison, largest_bytes: int | None = None) -> str:
    """Rows that are not SAME, the worst first. Cut at the end of a line so that it has at most that many bytes in UTF-8."""
    lines = [f"## dlmb_compare: {wording.counts(comparison)}", ""]
    for sentence in (wording.too_few_launches(comparison), wording.not_in_turns(comparison), wording.bare_ratios(comparison)):
        lines += [sentence, ""] if sentence else []
    lines += [
        f"{escaped(p.pattern)}: {p.ratio:.3f} [{p.low:.3f}, {p.high:.3f}] times worse over {wording.cells(p.cells)}\n"
        for p in comparison.patterns
    ]
    different = [verdict for verdict in comparison.verdicts if verdict.state != State.SAME]
    if different:
        lines += ["| state | times worse | margin | baseline | candidate | cell |", "|---|---|---|---|---|---|"]
        lines += [row(verdict, comparison) for verdict in different]
    if comparison.only_in_candidate:
        lines += ["", f"Only in the candidate: {wording.cells(len(comparison.only_in_candidate))}."]
    return cut("\n".join(lines) + "\n", largest_bytes)


def cut(whole: str, largest_bytes: int | None) -> str:
    encoded = whole.encode()
    if largest_bytes is None or len(encoded) <= largest_bytes:
        return whole
    kept = encoded[: max(largest_bytes - len(CUT.encode()), 0)]
    return kept[: kept.rfind(b"\n")].decode() + CUT if kept else ""
