# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a plot shows, before anything draws it: three kinds of charts. Pictures (matplotlib) and the report (SVG in a browser)
are drawn from the same ones, so that they cannot differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Union


@dataclass
class Axis:
    title: str  # with the unit
    log: bool = False
    ticks: list[tuple[float, str]] = field(default_factory=list)  # empty: chosen when it is drawn
    reference: float | None = None  # a line that values are read against
    last: float | None = None  # end of the axis, even if an interval is longer; None: behind everything


class Point(NamedTuple):
    x: float
    y: float
    low: float  # interval of y
    high: float
    text: str = ""


@dataclass
class Points:
    """Values over an axis."""

    title: str
    x: Axis
    y: Axis
    series: dict[str, list[Point]]
    joined: bool = True


class Span(NamedTuple):
    row: int
    start: float
    length: float
    kind: str
    text: str = ""


class Mark(NamedTuple):
    row: int
    x: float
    low: float  # interval of x
    high: float
    kind: str
    text: str = ""


@dataclass
class Rows:
    """Named rows, the first on top, with bars and values along one axis."""

    title: str
    rows: list[str]
    x: Axis
    spans: list[Span] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    ends: dict[int, str] = field(default_factory=dict)  # texts at the right end of rows
    remarks: dict[int, str] = field(default_factory=dict)  # for a row that is empty: why


@dataclass
class Heat:
    """A matrix; rows from the top."""

    title: str
    rows: list[str]
    columns: list[str]
    row_title: str
    column_title: str
    values: list[list[float]]
    unit: str


Chart = Union[Points, Rows, Heat]


@dataclass
class Plot:
    """Charts that belong together."""

    name: str  # of the file, without suffix
    title: str
    caption: str  # what is drawn, in words
    charts: Sequence[Chart]
    left_out: str = ""  # what is not drawn, and why
    launches: frozenset[str] = frozenset()  # whose times are drawn: their warnings apply
    palette: str = "methods"  # plots of one palette have the same colour for the same kind
    covered: bool = False  # another plot of the same files shows all of it

    def kinds(self) -> list[str]:
        found: dict[str, None] = {}
        for chart in self.charts:
            if isinstance(chart, Points):
                found.update(dict.fromkeys(chart.series))
            elif isinstance(chart, Rows):
                found.update(dict.fromkeys([span.kind for span in chart.spans] + [mark.kind for mark in chart.marks]))
        return list(found)


class Limits(NamedTuple):
    """How much a page can show and a reader can read."""

    charts: int
    rows: int = 40
    series: int = 8  # as many as there are colours


def evenly(items: list, count: int) -> list:
    """At most count of them, from the first to the last, evenly spaced."""
    if len(items) <= count:
        return items
    return [items[index * (len(items) - 1) // max(1, count - 1)] for index in range(count)]


def left_out(shown: int, all_of_them: int, what: str) -> str:
    if shown == all_of_them:
        return ""
    return f"{shown} of {all_of_them} {what} fit; draw fewer files to see the rest"
