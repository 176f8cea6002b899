# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which rules a plain program bears out. A rule was found, and confirmed, inside of dlmb_collective. It is exported only where a program
without DLMB is faster with it than without: at sizes where it is, and whose 95 % interval rules out a loss worth speaking of, and only
if the 95 % interval of all of these sizes together is above 1.
"""

from __future__ import annotations

from dlmb_launch.autotune.before_after import DEFAULT, FILE, Measurement
from dlmb_launch.autotune.plain_program import Round, ratio

DECIDING_ROUNDS = 6  # fewer give no interval to speak of
LEAST_SPEEDUP = 0.95  # what `dlmb_tune build` calls no difference, as a loss


def gaining_sizes(rule: dict, measurement: Measurement | None) -> list[int]:
    """In bytes, ascending. `measurement`: of the rule's operation; None: it was not measured."""
    rounds: list[Round] = measurement.rounds() if measurement else []
    if len(rounds) < DECIDING_ROUNDS:
        return []
    limits = rule["when"]["bytes"]
    inside = [size for size in measurement.what.sizes if limits["min"] <= size <= limits["max"]]
    speedups = {size: ratio(rounds, DEFAULT, FILE, size) for size in inside}
    faster = sorted(size for size, speedup in speedups.items() if speedup.value > 1 and speedup.low > LEAST_SPEEDUP)
    return faster if faster and ratio(rounds, DEFAULT, FILE, *faster).low > 1 else []


def narrowed(rule: dict, gaining: list[int]) -> list[dict]:
    """The rule for neighbours among its sizes that gain; several where others lie between them. A rule that loses no size stays as it is."""
    runs: list[list[int]] = [[]]
    for size in rule["evidence"]["sizes"]:
        if size in gaining:
            runs[-1].append(size)
        elif runs[-1]:
            runs.append([])
    return [_part(rule, run, number) for number, run in enumerate(filter(None, runs))]


def _part(rule: dict, sizes: list[int], number: int) -> dict:
    """Beside a size that was dropped it ends at its own last one: what lies between is not known."""
    before, limits = rule["evidence"]["sizes"], rule["when"]["bytes"]
    limits = {
        **limits,
        "min": limits["min"] if sizes[0] == before[0] else sizes[0],
        "max": limits["max"] if sizes[-1] == before[-1] else sizes[-1],
    }
    name = f"{rule['id']}-{number + 1}" if number else rule["id"]
    return {**rule, "id": name, "when": {**rule["when"], "bytes": limits}, "evidence": {**rule["evidence"], "sizes": sizes}}
