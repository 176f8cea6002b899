# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launches of one cell whose samples are defined alike.

With `--start auto` a launch begins its samples as its machine can keep it then: at one time on all ranks, or behind a barrier. On a
machine with other work one launch of ten may begin otherwise than the rest. Its number is of another thing: it is left out and said, as
long as most launches of each side remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from dlmb_launch.compare.campaign import Campaign


def leave_out_others(baseline: Campaign, candidate: Campaign, partner_of: Mapping[int, int]) -> dict[int, str]:
    """Drops the numbers of such launches from both sides. By row of the baseline why the others cannot be compared."""
    sides = baseline, candidate
    refused: dict[int, str] = {}
    kept = [np.ones(len(side.rows), dtype=bool) for side in sides]
    codes = [side.numbers["definition"].astype(int) for side in sides]
    for row in np.flatnonzero(not_alike(*sides, partner_of)).tolist():
        rows = row, partner_of[row]
        parts = [slice(side.starts[at], side.starts[at + 1]) for side, at in zip(sides, rows)]
        counts = [Counter(side.definitions[code] for code in its[part]) for side, its, part in zip(sides, codes, parts)]
        total = counts[0] + counts[1]
        most = max(total, key=lambda text: (total[text], text))
        if any(2 * count[most] <= count.total() for count in counts):
            refused[row] = differences(counts)
            continue
        for side, its, part, mask in zip(sides, codes, parts, kept):
            mask[part] = its[part] == side.definitions.index(most)
    for side, mask in zip(sides, kept):
        if count := int(np.count_nonzero(~mask)):
            side.remarks.append(
                f"{side.name}: {count} of {len(mask)} numbers left out; these launches began the samples of that cell otherwise than most "
                "(--start window or barrier fixes it)"
            )
            side.keep(mask)
    return refused


def not_alike(baseline: Campaign, candidate: Campaign, partner_of: Mapping[int, int]) -> np.ndarray:
    """Per row of the baseline: both sides have numbers of that cell, and not all have one definition."""
    code_of = {text: code for code, text in enumerate(baseline.definitions)}
    shared = np.array([code_of.get(text, -1) for text in candidate.definitions], dtype=int)
    least, most = extremes(baseline, np.arange(len(baseline.definitions)))
    its_least, its_most = extremes(candidate, shared)
    others = np.array([partner_of.get(row, -1) for row in range(len(baseline.cells))], dtype=int)
    measured = (others >= 0) & (baseline.counts() > 0)
    measured[measured] = candidate.counts()[others[measured]] > 0
    differ = np.zeros(len(others), dtype=bool)
    at, of = measured, others[measured]
    differ[at] = (least[at] != most[at]) | (its_least[of] != its_most[of]) | (least[at] != its_least[of])
    return differ


def extremes(side: Campaign, code_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest definition, as code_of names them, per row; of rows without a number anything."""
    least, most = np.zeros(len(side.cells), dtype=int), np.zeros(len(side.cells), dtype=int)
    full = side.counts() > 0
    if full.any():
        codes = code_of[side.numbers["definition"].astype(int)]
        least[full] = np.minimum.reduceat(codes, side.starts[:-1][full])
        most[full] = np.maximum.reduceat(codes, side.starts[:-1][full])
    return least, most


def differences(counts: list[Counter[str]]) -> str:
    texts = sorted(counts[0] + counts[1], key=lambda text: (-counts[0][text], text))
    held = ", ".join(f"'{text}' in {counts[0][text]} and {counts[1][text]} launches" for text in texts)
    return f"definition differs: {held}"
