# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Colours that stay apart for colour-blind readers (the eight of Okabe and Ito), hatches and markers for grey prints, units."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dlmb_plotting.charts import Plot

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo", "++")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")


# Colours by index that are the same in every picture: of backends, and of verdicts.
FIXED = {"mpi": 0, "ucx": 1, "nccl": 2, "ucc": 3, "in_process": 4, "tuned": 5,
         "SAME": 0, "SUSPECT": 1, "IMPROVED": 2, "INVALID": 3, "INCONCLUSIVE": 4, "REGRESSED": 5, "NOT_COMPARABLE": 7}


Palette = dict[str, int]  # by kind the index of its colour, hatch and marker


def palette(kinds: Iterable[str]) -> Palette:
    """A backend and the first of its methods have the index of the backend; other kinds have what these leave, in the order in which they
    come."""
    kinds = list(dict.fromkeys(kinds))
    found: Palette = {}
    for kind in kinds:
        name = kind.split(" ")[0]
        taken = any(other.split(" ")[0] == name and other not in FIXED for other in found)
        if name in FIXED and (kind in FIXED or not taken):
            found[kind] = FIXED[name]
    for kind in kinds:
        if kind not in found:
            found[kind] = next(index for index in itertools.count() if index not in found.values())
    return found


def palettes(plots: Iterable[Plot]) -> dict[str, Palette]:
    """By the name of the palette, of all the plots together."""
    kinds: dict[str, list[str]] = {}
    for plot in plots:
        kinds.setdefault(plot.palette, []).extend(plot.kinds())
    return {name: palette(of_name) for name, of_name in kinds.items()}


class Look(NamedTuple):
    colour: str
    hatch: str
    marker: str
    dash: str


def look(index: int) -> Look:
    """Beyond eight kinds colours repeat, but not together with the same hatch, marker or dash."""
    turned = index + index // len(COLOURS)
    return Look(COLOURS[index % len(COLOURS)], *(of[turned % len(of)] for of in (HATCHES, MARKERS, DASHES)))


def time_unit(largest_ns: float) -> tuple[str, float]:
    """Name and nanoseconds of the unit that suits the largest value."""
    for name, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if largest_ns >= size:
            return name, size
    return "ns", 1.0


def byte_unit(largest_bytes: float) -> tuple[str, float]:
    for power, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if largest_bytes >= 1 << power:
            return name, float(1 << power)
    return "B", 1.0


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value >= 100 or value == 0:
        return f"{value:.0f}"
    if value >= 1:
        return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{value:.{min(9, 2 - math.floor(math.log10(abs(value))))}f}"


def byte_text(count: float) -> str:
    unit, size = byte_unit(count)
    return f"{round(count / size, 2):g} {unit}"


def byte_ticks(smallest: float, largest: float) -> list[tuple[float, str]]:
    """Powers of two around the range, at most seven or so."""
    first, last = math.floor(math.log2(max(smallest, 1))), math.ceil(math.log2(max(largest, 2)))
    step = max(1, math.ceil((last - first) / 6))
    return [(float(1 << power), byte_text(1 << power)) for power in range(first, last + 1, step)]
