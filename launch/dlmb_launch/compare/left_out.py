# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of single launches that are left out of a cell, and said, as long as most launches of each side remain.

A launch in which clocks or processor time were held down says nothing of the program. With `--start auto` a launch begins its samples as
its machine can keep it then: at one time on all ranks, or behind a barrier. On a machine with other work one launch of ten may begin
otherwise than the rest; its number is of another thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from dlmb_launch.compare.campaign import Campaign

BY_START = "at one time on all ranks", "behind a dissemination barrier"
HELD_DOWN = "clocks or processor time were held down (throttled)"
UNCHECKED = "not validated (-c off), so its times may be those of wrong bytes"
MARKS = (("unchecked", UNCHECKED), ("throttled", HELD_DOWN))  # numbers of a launch that are 1 where it does not count, and why not


def leave_out(baseline: Campaign, candidate: Campaign, partner_of: Mapping[int, int]) -> dict[int, str]:
    """Drops numbers from both sides. By row of the baseline why cells of which too many would go cannot be compared."""
    refused: dict[int, str] = {}
    for mark, why in MARKS:
        refused |= leave_out_marked(baseline, candidate, partner_of, mark, why)
    return refused | leave_out_others(baseline, candidate, partner_of)


def leave_out_marked(baseline: Campaign, candidate: Campaign, partner_of: Mapping[int, int], mark: str, why: str) -> dict[int, str]:
    refused: dict[int, str] = {}
    row_of = {partner: row for row, partner in partner_of.items()}
    for side in (baseline, candidate):
        marked = side.numbers[mark] > 0
        dropped = marked.copy()
        for row in np.unique(side.rows[marked]).tolist():
            part = slice(side.starts[row], side.starts[row + 1])
            count, of = int(marked[part].sum()), len(marked[part])
            if 2 * count >= of:
                dropped[part] = False
                if (at := row if side is baseline else row_of.get(row)) is not None:
                    refused.setdefault(at, f"{why}, in {count} of {of} launches of the {side.name}")
        if dropped.any():
            side.remarks.append(f"{side.name}: {np.count_nonzero(dropped)} of {len(dropped)} numbers left out: {why}")
            side.leave_out(dropped)
    return refused


def leave_out_others(baseline: Campaign, candidate: Campaign, partner_of: Mapping[int, int]) -> dict[int, str]:
    """Launches of one cell whose samples are defined otherwise than those of most."""
    sides = baseline, candidate
    refused: dict[int, str] = {}
    dropped = [np.zeros(len(side.rows), dtype=bool) for side in sides]
    codes = [side.numbers["definition"].astype(int) for side in sides]
    code_of = {text: code for code, text in enumerate(baseline.definitions)}
    shared = codes[0], np.array([code_of.get(text, -1 - code) for code, text in enumerate(candidate.definitions)], dtype=int)[codes[1]]
    for row in sorted(partner_of):
        rows = row, partner_of[row]
        parts = [slice(side.starts[at], side.starts[at + 1]) for side, at in zip(sides, rows)]
        found = [set(its[part].tolist()) for its, part in zip(shared, parts)]
        if not all(found) or len(set.union(*found)) == 1:  # one side has no number, or all have one definition
            continue
        counts = [Counter(side.definitions[code] for code in its[part]) for side, its, part in zip(sides, codes, parts)]
        total = counts[0] + counts[1]
        most = max(total, key=lambda text: (total[text], text))
        if any(2 * count[most] <= sum(count.values()) for count in counts):
            refused[row] = differences(counts)
            continue
        for side, its, part, mask in zip(sides, codes, parts, dropped):
            mask[part] = its[part] != side.definitions.index(most)
    for side, mask in zip(sides, dropped):
        if count := int(np.count_nonzero(mask)):
            side.remarks.append(
                f"{side.name}: {count} of {len(mask)} numbers left out: these launches defined the samples of that cell otherwise than most "
                "(--start barrier or window fixes how they begin)"
            )
            side.leave_out(mask)
    return refused


def differences(counts: list[Counter[str]]) -> str:
    texts = sorted(counts[0] + counts[1], key=lambda text: (-counts[0][text], text))
    held = ", ".join(f"'{part}' in {counts[0][text]} and {counts[1][text]} launches" for text, part in zip(texts, what_differs(texts)))
    remedy = "; measure again with --start barrier (start = \"barrier\" in a sweep)" if any(start in held for start in BY_START) else ""
    return f"definition differs: {held} (baseline and candidate){remedy}"


def what_differs(texts: list[str]) -> list[str]:
    """The words of each text between those that all begin with and those that all end with; equal parts tell nothing."""
    words = [text.split() for text in texts]
    before = common(words)
    after = common([each[before:][::-1] for each in words])
    return [" ".join(each[before : len(each) - after]).rstrip(",") or text for each, text in zip(words, texts)]


def common(words: list[list[str]]) -> int:
    """How many first words all have alike."""
    return next((index for index, column in enumerate(zip(*words)) if len(set(column)) > 1), min(map(len, words)))
