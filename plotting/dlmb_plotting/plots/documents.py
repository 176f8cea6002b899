# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Plots of what the tools wrote as one JSON document: the verdicts of dlmb_compare as a forest plot, who wins where in a tuning table and by
how much."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Mark, Plot, Rows, Span, evenly, left_out
from dlmb_plotting.results import short_names
from dlmb_results.cells import by_key
from dlmb_results.names import plural

COMPARISON_CAPTION = "How many times worse the candidate is{}: above 1 is worse, whatever the metric. Worst cells on top."
WITH_INTERVAL = ", with its {:.0f} % interval"
WITHOUT_INTERVAL = " NOT_COMPARABLE: numbers of another program, without an interval."


def comparison_plots(name: str, document: dict[str, Any], limits: Limits) -> list[Plot]:
    cells = [cell for cell in document["cells"] if cell.get("evidence") or cell.get("bare_ratio")]
    if not cells:
        return []
    cells.sort(key=lambda cell: -ratio_of(cell)["ratio"])
    shown = cells[: limits.rows]
    names = short_names({cell["cell_id"]: cell.get("name", cell["cell_id"]) for cell in shown})
    chart = Rows(verdicts(document), [names[cell["cell_id"]] for cell in shown],
                 Axis(f"{document['metric']['name']}: {' / '.join(sides(document))} (ratio, above 1 is worse)", reference=1.0))
    for row, cell in enumerate(shown):
        found = ratio_of(cell)
        value = found["ratio"]
        ratio = style.number(value)
        interval = f" ({style.number(found['low'])} to {style.number(found['high'])})" if "low" in found else ""
        chart.marks.append(Mark(row, value, found.get("low", value), found.get("high", value), cell["state"], f"{names[cell['cell_id']]}: {cell['state']}, {ratio}{interval}"))
        chart.ends[row] = ratio
    judged = next((cell["evidence"] for cell in shown if cell.get("evidence")), None)
    bare = any(cell.get("bare_ratio") for cell in shown)
    caption = COMPARISON_CAPTION.format(WITH_INTERVAL.format(100 * judged.get("confidence", 0.95)) if judged else "") + (WITHOUT_INTERVAL if bare else "")
    return [Plot(f"{name}.compare", f"comparison {name}", caption, [chart], without_ratio(len(shown), len(cells), len(document["cells"])), palette="verdicts")]


def sides(document: dict[str, Any]) -> tuple[str, str]:
    """What a ratio is of. Of a metric that is better where it is larger, the baseline is above."""
    return ("candidate", "baseline") if document["metric"]["name"] == "time" else ("baseline", "candidate")


def ratio_of(cell: dict[str, Any]) -> dict[str, float]:
    """Without low and high where it is of another program's number."""
    return cell.get("evidence") or cell["bare_ratio"]


def verdicts(document: dict[str, Any]) -> str:
    return ", ".join(f"{count} {state}" for state, count in document["counts"].items() if count) or "no cell"


def without_ratio(shown: int, with_ratio: int, cells: int) -> str:
    texts = [f"the worst {shown} of {with_ratio} cells with a ratio are shown"] if shown < with_ratio else []
    texts += [f"{cells - with_ratio} of {plural(cells, 'cell')} without a ratio (not comparable, or invalid)"] if with_ratio < cells else []
    return "; ".join(texts)


DEFAULT_STAYS = "the default stays (measured: no gain, or a tie)"
OPEN = {
    "undecided": "the default stays until more launches decide",
    "unconfirmed": "the default stays until fresh launches confirm what looks better",
}
OPEN_END = 4  # how far beyond the largest size of the table a rule without an upper end is drawn
MAP_CAPTION = ("Each bar is a rule: the size range in which its choice is used. Outside the bars the default is used. A rule without an upper end is drawn up to "
               f"{OPEN_END} times the largest size of the table, one without a lower end from 1 byte on. At the end of a row, in the order of its bars: share of the default's time that is saved, where measured.")
GAIN_CAPTION = "Share of the default's median time that the choice saves, with its interval where there is one; 0: no difference. Rules without evidence are not drawn."


def tuning_plots(name: str, table: dict[str, Any], limits: Limits) -> list[Plot]:
    title = ", ".join(text for text in (name, table["system"]["cpu"], table["system"].get("gpu")) if text)
    charts = [map_chart(scope, rules, limits) for scope, rules in by_key(table["rules"], itemgetter("scope")).items()]
    measured = [rule for rule in table["rules"] if rule.get("evidence")]
    shown = evenly(measured, limits.rows)
    return [Plot(f"{name}.tuning", f"tuning table {title}: who wins where", MAP_CAPTION, charts),
            Plot(f"{name}.gain", f"tuning table {title}: gain over the default", GAIN_CAPTION, [gain_chart(shown)] if shown else [],
                 left_out(len(shown), len(measured), "rules"), palette="rules")]


def choice(rule: dict[str, Any]) -> str:
    choose = rule["choose"]
    name = (choose.get("algorithm") or {}).get("name")
    return " ".join(filter(None, (choose["backend"], choose["method"], name)))


def interval(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    low, high = value["min"], value["max"]
    return str(low) if low == high else f"{low} to {high}"


def condition(rule: dict[str, Any]) -> str:
    """All conditions except the size."""
    when = {name: value for name, value in rule["when"].items() if value is not None}
    basis = (when.pop("bytes", None) or {}).get("basis")
    parts = [when.pop("operation"), *(f"{name} {interval(value)}" for name, value in when.items())]
    return ", ".join([*parts, *([f"size of {basis}"] if basis else [])])


def gain_text(rule: dict[str, Any]) -> str:
    return f"{rule['evidence']['gain']:+.0%}" if rule.get("evidence") else "not measured"


def map_chart(scope: str, rules: list[dict[str, Any]], limits: Limits) -> Rows:
    sizes = [rule["when"].get("bytes") or {} for rule in rules]
    ends = [size[end] for size in sizes for end in ("min", "max") if size.get(end)]
    largest = OPEN_END * max(ends, default=1 << 20)
    smallest = min((size.get("min") or 1 for size in sizes), default=1)
    conditions = list(dict.fromkeys(condition(rule) for rule in rules))
    shown = evenly(conditions, limits.rows)
    title = f"scope {scope}" + (f" ({len(shown)} of {len(conditions)} conditions)" if len(shown) < len(conditions) else "")
    chart = Rows(title, shown, Axis("size (bytes)", log=True, ticks=style.byte_ticks(smallest, largest)))
    gains: dict[int, list[tuple[int, str]]] = {}
    for rule, size in zip(rules, sizes):
        if condition(rule) in shown:
            first, last = max(1, size.get("min") or 1), size.get("max") or largest
            kind = choice(rule) if rule["status"] == "chosen" else OPEN.get(rule["status"], DEFAULT_STAYS)
            text = f"{rule['id']}: {choice(rule)}, {style.byte_text(first)} to {style.byte_text(last)}, {rule['status']}, gain {gain_text(rule)}"
            if candidate := rule.get("candidate"):
                text += f", candidate {choice(candidate)} {candidate['gain']:+.0%}"
            chart.spans.append(Span(shown.index(condition(rule)), first, last - first, kind, text))
            if rule.get("evidence"):
                gains.setdefault(shown.index(condition(rule)), []).append((first, gain_text(rule)))
    chart.ends = {row: ", ".join(text for _, text in sorted(texts)) for row, texts in gains.items()}
    return chart


def gain_chart(rules: list[dict[str, Any]]) -> Rows:
    rows = [f"{rule['id']} {rule['when']['operation']}: {choice(rule)}" for rule in rules]
    chart = Rows("by rule", rows, Axis("gain over the default (% of its time)", reference=0.0))
    for row, rule in enumerate(rules):
        gain = 100 * rule["evidence"]["gain"]
        low, high = (100 * end for end in rule["evidence"].get("ci") or (gain / 100, gain / 100))
        chart.marks.append(Mark(row, gain, low, high, rule["status"], f"{rows[row]}: {gain:+.1f} % ({low:+.1f} to {high:+.1f})"))
    return chart
