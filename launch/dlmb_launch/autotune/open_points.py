# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The points that a table leaves open: candidates that no fresh launch has confirmed, candidates that more launches decide, and sizes between
neighbours that chose differently."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dlmb_launch.autotune.observations import Key
from dlmb_launch.autotune.planning import Wanted
from dlmb_launch.autotune.points import OPERATIONS, Point, from_table_bytes

REPEAT, REFINE, CONFIRM = "repeat", "refine", "confirm"
KINDS = (REPEAT, REFINE, CONFIRM)
_KIND_OF = {"undecided": REPEAT, "unconfirmed": CONFIRM}  # by the status of a rule
_WIDEST_GAP = 2  # beyond this factor `dlmb_tune build` makes no rule between two sizes
_FINE_STEP, _COARSE_STEP, _COARSE_FROM = 8, 64, 4096  # bytes: whole elements of every type, and packed blocks of an exchange
_PLAIN = {table: operation for operation, (table, _) in OPERATIONS.items()}

Rule = dict[str, Any]


def open_points(table: dict[str, Any], ranks: int, standard: Callable[[Key], str]) -> dict[str, Wanted]:
    """By kind: the points to measure, each by its standard method and those that may beat it. ranks: of the campaign, whose table this is.
    standard: the method that others at a point are compared with."""
    found: dict[str, Wanted] = {kind: {} for kind in KINDS}

    def want(kind: str, scope: str, points: list[Point], methods: set[str]) -> None:
        for key in ((scope, point) for point in points):
            found[kind][key] = (standard(key), *sorted(methods - {standard(key)}))

    for series in _series(table["rules"]):
        scope = series[0]["scope"]
        for rule in series:
            if rule["status"] in _KIND_OF:
                want(_KIND_OF[rule["status"]], scope, _points(rule, ranks), {_method(rule)})
        methods = {_method(rule) for rule in series if rule["status"] in ("chosen", "unconfirmed")}
        want(REFINE, scope, _points_between(series, table["policy"]["cut"], ranks), methods)
    return found


def _series(rules: list[Rule]) -> list[list[Rule]]:
    """The rules of one backend under the same conditions, ascending in bytes."""
    found: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        if rule["scope"] != "select":
            conditions = {name: value for name, value in rule["when"].items() if name != "bytes"}
            found[json.dumps([rule["scope"], conditions], sort_keys=True)].append(rule)
    return [sorted(series, key=lambda rule: rule["evidence"]["sizes"]) for series in found.values()]


def _point(rule: Rule, table_bytes: int, ranks: int) -> Point:
    return from_table_bytes(_PLAIN[rule["when"]["operation"]], table_bytes, ranks)


def _points(rule: Rule, ranks: int) -> list[Point]:
    """The points at which the rule was measured."""
    return [_point(rule, size, ranks) for size in rule["evidence"]["sizes"]]


def _choice(rule: Rule) -> dict[str, Any] | None:
    """Nothing where the default stands."""
    return rule["choose"] if rule["status"] == "chosen" else None


def _method(rule: Rule) -> str:
    return (rule["candidate"] if rule["status"] in _KIND_OF else rule)["choose"]["method"]


def _points_between(series: list[Rule], cut: float, ranks: int) -> list[Point]:
    """In the geometric middle of neighbours that chose differently and are further apart than the factor `cut`, and of choices with a gap
    between them that has no rule; not where no whole element lies between."""
    measured = {point for rule in series for point in _points(rule, ranks)}
    found = []
    for left, right in zip(series, series[1:]):
        last, first = left["evidence"]["sizes"][-1], right["evidence"]["sizes"][0]
        differ = _choice(left) != _choice(right) and first > cut * max(last, 1)
        gap = None not in (_choice(left), _choice(right)) and (first - 1) // _WIDEST_GAP >= max(last, 1)
        middle = _point(left, math.isqrt(last * first), ranks)
        step = _COARSE_STEP if middle.size >= _COARSE_FROM else _FINE_STEP
        middle = replace(middle, size=max(middle.size // step * step, _FINE_STEP)).whole(ranks)
        if (differ or gap) and middle not in measured:
            found.append(middle)
    return found
