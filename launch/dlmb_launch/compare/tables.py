# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as text: for a terminal of 100 columns, and as Markdown for a merge request's comment or a step's summary."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from dlmb_launch.compare import wording
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State, Verdict
from dlmb_results.names import plural

WIDTH = 100
ROWS_PER_STATE = 20
STATE_WIDTH = 14
NUMBER = re.compile(r"[0-9]+")


def shortened(text: str, width: int) -> str:
    """Cuts the middle: the ends of a name tell more."""
    if len(text) <= width:
        return text
    kept = width - 3
    return text[: kept - kept // 2] + "..." + text[len(text) - kept // 2 :]


def terminal_row(verdict: Verdict, name: str, comparison: Comparison) -> str:
    state, figures = verdict.state.value, wording.figures(verdict, comparison.metric)
    if figures is None:
        return f"{state:<{STATE_WIDTH}} {shortened(name, WIDTH - STATE_WIDTH - 1)}"
    numbers = f"{state:<{STATE_WIDTH}} {figures.ratio:>6} {figures.interval or 'none':<14} {figures.margin or 'none':>7} "
    numbers += f"{figures.baseline:>10} {figures.candidate:>10}  "
    return numbers + shortened(name, WIDTH - len(numbers))


def by_numbers(name: str) -> tuple[str, list[tuple[int, str]]]:
    """Names that differ in numbers alone stand together, 8 before 16. Numbers of any length: Python reads no more than 4300 digits."""
    numbers = [number.lstrip("0") for number in NUMBER.findall(name)]
    return NUMBER.sub("0", name), [(len(number), number) for number in numbers]


def differing_parts(cell_ids: list[str]) -> list[str]:
    """The parts of each id that not all of them have; one alone is whole."""
    parts = [cell_id.split("/") for cell_id in cell_ids]
    shared = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    return sorted(("/".join(part for part in each if part not in shared) for each in parts), key=by_numbers)


def wrapped(text: str, indent: str = "  ") -> list[str]:
    """Whole sentences, never cut."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)


def heading(comparison: Comparison) -> str:
    interval = wording.intervals(comparison)
    return f"{'state':<{STATE_WIDTH}} {'ratio':>6} {interval:<14} {'margin':>7} {'baseline':>10} {'candidate':>10}  cell"


def table(comparison: Comparison, with_same: bool) -> Iterator[str]:
    shown = [verdict for verdict in comparison.verdicts if with_same or verdict.state != State.SAME]
    if not shown:
        return
    keys, names = wording.short_names([verdict.cell for verdict in comparison.verdicts])
    yield from ("", shortened(f"cell: {keys}", WIDTH), heading(comparison))
    for state in State:
        rows, reason = [verdict for verdict in shown if verdict.state == state], ""
        for verdict in sorted(rows, key=lambda verdict: (verdict.reason, by_numbers(names[verdict.cell.id])))[: None if with_same else ROWS_PER_STATE]:
            if verdict.reason and verdict.reason != reason:
                yield from wrapped(f"{state.value}: {wording.reason(verdict)}")
            reason = verdict.reason
            yield terminal_row(verdict, names[verdict.cell.id], comparison)
        if not with_same and len(rows) > ROWS_PER_STATE:
            yield f"{'':<{STATE_WIDTH}} and {len(rows) - ROWS_PER_STATE} more {state.value}; --all lists them"


def worst(comparison: Comparison) -> Iterator[str]:
    if comparison.worst:
        _, names = wording.short_names([verdict.cell for verdict in comparison.verdicts])
        yield from ("", "largest ratios, whatever their verdict:", heading(comparison))
        yield from (terminal_row(verdict, names[verdict.cell.id], comparison) for verdict in comparison.worst)


def summary(comparison: Comparison) -> Iterator[str]:
    if comparison.patterns:
        yield from ("", f"geometric mean of the ratios per pattern (above 1: the candidate is worse), {wording.intervals(comparison)}:")
    for pattern in comparison.patterns:
        interval = f"[{pattern.low:.3f}, {pattern.high:.3f}]"
        yield f"  {pattern.pattern:<24} {pattern.ratio:.3f} {interval}  {plural(pattern.cells, 'cell')}"


def terminal(comparison: Comparison, with_same: bool) -> str:
    lines = [f"{comparison.metric.name} ({comparison.metric.unit}): {comparison.metric.definition}"]
    if bare := wording.bare_ratios(comparison):
        lines.append(bare)
    lines.append(wording.launches(comparison))
    lines += [*table(comparison, with_same), *worst(comparison), *summary(comparison), ""]
    if comparison.only_in_candidate:
        lines.append(f"only in the candidate, not compared: {plural(len(comparison.only_in_candidate), 'cell')}")
        lines += [f"  {shortened(name, WIDTH - 2)}" for name in differing_parts([cell.name for cell in comparison.only_in_candidate])[:ROWS_PER_STATE]]
    if comparison.skipped:
        lines.append(f"skipped on both sides: {plural(comparison.skipped, 'cell')}")
    for sentence in filter(None, (wording.too_few_launches(comparison), wording.not_in_turns(comparison))):
        lines += wrapped(sentence, "")
    lines.append(wording.counts(comparison))
    return "\n".join(lines) + "\n"


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


def markdown_row(verdict: Verdict, comparison: Comparison) -> str:
    state = verdict.state.value + (f": {escaped(wording.reason(verdict))}" if verdict.reason else "")
    figures = wording.figures(verdict, comparison.metric)
    if figures is None:
        return f"| {state} | | | | | {code(verdict.cell.name)} |"
    ratio = f"{figures.ratio} {figures.interval}".strip()
    columns = [state, ratio, figures.margin, figures.baseline, figures.candidate, code(verdict.cell.name)]
    return "".join(f"| {column} " if column else "| " for column in columns) + "|"


def markdown(comparison: Comparison, largest_bytes: int | None = None) -> str:
    """Rows that are not SAME, the worst first. Cut at the end of a line so that it has at most that many bytes in UTF-8."""
    lines = [f"## dlmb_compare: {wording.counts(comparison)}", ""]
    for sentence in (wording.too_few_launches(comparison), wording.not_in_turns(comparison), wording.bare_ratios(comparison)):
        lines += [sentence, ""] if sentence else []
    lines += [
        f"{escaped(p.pattern)}: {p.ratio:.3f} [{p.low:.3f}, {p.high:.3f}] times worse over {plural(p.cells, 'cell')}\n"
        for p in comparison.patterns
    ]
    different = [verdict for verdict in comparison.verdicts if verdict.state != State.SAME]
    if different:
        lines += ["| state | times worse | margin | baseline | candidate | cell |", "|---|---|---|---|---|---|"]
        lines += [markdown_row(verdict, comparison) for verdict in different]
    if comparison.only_in_candidate:
        lines += ["", f"Only in the candidate: {plural(len(comparison.only_in_candidate), 'cell')}."]
    return cut("\n".join(lines) + "\n", largest_bytes)


def cut(whole: str, largest_bytes: int | None) -> str:
    encoded = whole.encode()
    if largest_bytes is None or len(encoded) <= largest_bytes:
        return whole
    kept = encoded[: max(largest_bytes - len(CUT.encode()), 0)]
    return kept[: kept.rfind(b"\n")].decode() + CUT if kept else ""
