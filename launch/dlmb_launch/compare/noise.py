# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_compare --noise: how far launches of one campaign are from each other, and what slowdown so many of them can therefore show."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from dlmb_launch.compare.campaign import Campaign, Cell
from dlmb_launch.compare.evidence import margins_of
from dlmb_launch.compare.left_out import HELD_DOWN
from dlmb_launch.compare.verdict import ENOUGH_LAUNCHES
from dlmb_results.program import UsageError
from dlmb_statistics import detection, margins

LEAST_LAUNCHES = 3
PER_SIDE = (ENOUGH_LAUNCHES, 12, 16)  # launches
_MOST_ROWS = 20
_WIDEST = 10.0  # beyond ten times its size a column holds no more, and nobody asks


def _described(cell: Cell, times_ns: np.ndarray, given_margin: float | None) -> dict[str, Any]:
    median_ns, spread = float(np.median(times_ns)), detection.log_spread(times_ns)
    (margin,) = margins_of(np.array([cell.mode == "isolated"]), np.array([median_ns]), given_margin).tolist()
    return {
        "cell": cell.name,
        "median_ns": median_ns,
        "launches": len(times_ns),
        "spread": spread,
        "spread_at_most": spread * detection.spread_bound(len(times_ns)),
        "margin": margin,
        "least_slowdown": {str(launches): detection.least_slowdown(launches, spread, margin) for launches in PER_SIDE},
    }


def document(campaign: Campaign, margin: float | None = None) -> dict[str, Any]:
    """The noisiest cell first. Launches of different campaigns or environments are never taken together; one without --campaign belongs to its
    environment alone. As in a comparison, throttled launches do not count. Raises UsageError where no cell has enough launches."""
    families: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    throttled = campaign.numbers["throttled"] > 0
    campaign.leave_out(throttled)
    for row, column, time_ns in zip(campaign.rows.tolist(), campaign.columns.tolist(), campaign.numbers["time"].tolist()):
        launch = campaign.launches[column]
        if time_ns > 0 and not launch.test_double and not campaign.cells[row].shared_gpu:
            families[row, "" if launch.campaign == launch.id else launch.campaign, launch.settings_key].append(time_ns)
    cells = [_described(campaign.cells[row], np.array(times), margin) for (row, *_), times in families.items() if len(times) >= LEAST_LAUNCHES]
    if not cells:
        most = max(map(len, families.values()), default=0)
        raise UsageError(f"--noise: takes {LEAST_LAUNCHES} launches of one cell, campaign and environment; the most that this one holds is {most}")
    cells.sort(key=lambda cell: -cell["spread"])
    apart = len({family[1:] for family in families})
    remarks = [f"{apart} campaigns or environments, looked at apart"] if apart > 1 else []
    if throttled.any():
        remarks.append(f"{np.count_nonzero(throttled)} of {len(throttled)} numbers left out: {HELD_DOWN}")
    return {"power": detection.POWER, "alpha": detection.ALPHA, "cells": cells, "remarks": remarks}


def _percent(share: float | None) -> str:
    return "-" if share is None else ">1000" if share > _WIDEST else f"{100 * share:.1f}"


def _row(cell: dict[str, Any]) -> str:
    least = "".join(f"{_percent(share):>8}" for share in cell["least_slowdown"].values())
    return f"{cell['median_ns'] / 1000:>13.1f} {_percent(cell['spread']):>7} {_percent(cell['spread_at_most']):>7} {cell['launches']:>6}{least}  {cell['cell']}"


def text(noise: dict[str, Any], margin: float | None = None, every: bool = False) -> str:
    usual = f"{100 * margins.SHARE:.0f} %, of isolated cells below 50 us {100 * margins.SHARE_IF_SHORT:.0f} %"
    cells = noise["cells"]
    lines = [f"# {remark}" for remark in noise["remarks"]]
    lines += [
        "# spread between launches in %, with 90 % confidence at most the next column; then the least slowdown in % that a comparison of",
        f"# 8, 12 or 16 launches per side shows in {100 * noise['power']:.0f} of 100 tries (exact one-sided rank test at {noise['alpha']}, "
        f"margin {usual if margin is None else f'{100 * margin:g} %'})",
        f"{'median [us]':>13} {'spread':>7} {'at most':>7} {'of':>6}{''.join(f'{count:>8}' for count in PER_SIDE)}  cell",
        *map(_row, cells if every else cells[:_MOST_ROWS]),
    ]
    if len(cells) > _MOST_ROWS and not every:
        lines += [f"# and {len(cells) - _MOST_ROWS} quieter cells (--all and --json show all); the middle one:", _row(cells[len(cells) // 2])]
    return "\n".join(lines) + "\n"
