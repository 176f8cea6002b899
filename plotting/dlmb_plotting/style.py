# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Colours that stay apart for colour-blind readers (the eight of Okabe and Ito), hatches for grey prints, units."""

from __future__ import annotations

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo", "++")
MARKER_COLOUR = "#000000"
ROW_HEIGHT_INCHES = 0.36
PANEL_FRAME_INCHES = 0.85  # title, axis label and distance to the next panel
FIGURE_FRAME_INCHES = 0.9  # heading and legend
LINE_INCHES = 0.2
WIDTH_INCHES = 8.0


def colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def hatch(index: int) -> str:
    return HATCHES[index % len(HATCHES)]


def time_unit(largest_ns: float) -> tuple[str, float]:
    """Name and nanoseconds of the unit in which the largest value reads best."""
    for name, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if largest_ns >= size:
            return name, size
    return "ns", 1.0


def number(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
