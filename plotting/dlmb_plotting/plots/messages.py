# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many messages of which size an iteration has, from a plan: a histogram by operation, as the table of --plan text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Rows, Span, left_out

CAPTION = ("Messages of one iteration over all ranks, in bins that begin at a power of two. A message is a block to another rank; of a collective "
           "each rank's call counts as one, of its whole vector. Bins without a message are left out. At the right: bytes of the bin.")
WITHOUT = ("compute", "recv", "barrier")  # nothing is sent, or it is the other end of a send


def plots(plans: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    by_pattern: dict[str, list[Rows]] = {}
    for document in plans.values():
        rows = chart(document)
        if rows.spans:
            by_pattern.setdefault(document["pattern"], []).append(rows)
    return [Plot(f"{pattern}.messages", f"{pattern}: messages of one iteration by size", CAPTION, charts[: limits.charts],
                 left_out(min(len(charts), limits.charts), len(charts), "plans"), palette="operations") for pattern, charts in by_pattern.items()]


def sizes_of(step: dict[str, Any], rank: int) -> list[int]:
    if "send" in step:
        return [block["bytes"] for block in step["send"] if block["peer"] != rank]
    return [step["bytes"]]


def chart(document: dict[str, Any]) -> Rows:
    """A row for each bin that has a message, from the smallest to the largest."""
    counts: Counter[tuple[int, str]] = Counter()  # by bits of the size, and operation
    totals: Counter[int] = Counter()
    for plan in document["plans"]:
        for step in plan["steps"]:
            if step["operation"] not in WITHOUT:
                for size in sizes_of(step, plan["rank"]):
                    counts[size.bit_length(), step["operation"]] += 1
                    totals[size.bit_length()] += size
    bins = sorted({bits for bits, _ in counts})
    title = ", ".join([document["preset"] or "no preset", f"{document['world']['ranks']} ranks"])
    rows = Rows(title, [style.byte_text(1 << bits >> 1) + " .." if bits else "0 B" for bits in bins], Axis("messages"))
    operations = sorted({operation for _, operation in counts})
    for row, bits in enumerate(bins):
        start = 0
        for operation in operations:
            count = counts[bits, operation]
            if count:
                rows.spans.append(Span(row, start, count, operation, f"{count} of {operation}, {rows.rows[row]}"))
                start += count
        if totals[bits]:
            rows.ends[row] = style.byte_text(totals[bits])
    return rows
