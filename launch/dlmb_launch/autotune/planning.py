# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The choice of the next launch: first where the gain that is still possible, times how much it is used, is largest for the time that it costs.

A launch measures methods at sizes of one operation, each method at each size. So sizes with the same methods left go together, and
different ones where that is cheaper than another launch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dlmb_launch.autotune.observations import Key, Standing

SEARCH_LAUNCHES = 8  # that a winner needs, as `dlmb_tune build` has it
CONFIRM_LAUNCHES = 8
FEWEST_CONFIRM_LAUNCHES = 6  # all six have to agree, or five and the least of them not
SHORTEST_CELL_S, LONGEST_CELL_S = 0.02, 0.2  # more launches tell more than longer ones
_FULL_LAUNCHES = 2  # with all methods, until most of them are out
_FEWEST_METHODS = 2
_FEWEST_FITTED = 4  # launches
_PLANNED_SHARE = 0.75  # the rest is for what the table asks for, and for launches that take longer
_USUALLY_LEFT = 3  # cells of a point after that, the default among them


@dataclass(frozen=True)
class Cost:
    """Seconds of a launch: `startup_s`, and `cell_s` for each cell, of which `limit_s` is measuring time."""

    startup_s: float
    cell_s: float
    limit_s: float

    def of(self, work: Work) -> float:
        return self.startup_s + work.cells * self.cell_s


def fitted(cells: list[int], seconds: list[float], limit_s: float, guess: Cost) -> Cost:
    """From what launches with so many cells took beside measuring: the line of least squares, where launches of different size say one.
    A launch is never taken to be faster than one that does nothing, whose time the guess holds."""
    if not cells:
        return guess
    mean_cells, mean_s = math.fsum(cells) / len(cells), math.fsum(seconds) / len(cells)
    around = math.fsum((count - mean_cells) ** 2 for count in cells)
    slope = math.fsum((count - mean_cells) * took for count, took in zip(cells, seconds)) / around if around else 0.0
    startup = mean_s - slope * mean_cells
    if len(cells) < _FEWEST_FITTED or slope <= 0 or startup < guess.startup_s:
        startup = guess.startup_s
        slope = max(mean_s - startup, 0.0) / mean_cells
    return Cost(startup, slope + limit_s, limit_s)


@dataclass(frozen=True)
class Work:
    """One launch."""

    backend: str
    operation: str
    sizes: tuple[int, ...]
    methods: tuple[str, ...]  # the one that others are compared with first

    @property
    def cells(self) -> int:
        return len(self.sizes) * len(self.methods)


Wanted = dict[Key, tuple[str, ...]]  # methods of each point, the one that others are compared with first


def grouped(wanted: Wanted, cost: Cost) -> list[Work]:
    """The launches that measure all of `wanted`, and more where that is cheaper than one more launch."""
    alike: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
    for (backend, point), (standard, *others) in sorted(wanted.items()):
        alike.setdefault((backend, point.operation, (standard, *sorted(others))), []).append(point.size)
    works = [Work(backend, operation, tuple(sizes), methods) for (backend, operation, methods), sizes in alike.items()]
    while pair := _best_pair(works, cost):
        joined = _joined(*pair)
        works = [each for each in works if each not in pair] + [joined]
    return sorted(works, key=lambda work: (work.backend, work.operation, work.sizes))


def _best_pair(works: list[Work], cost: Cost) -> tuple[Work, Work] | None:
    best, saved = None, 0.0
    for i, one in enumerate(works):
        for other in works[i + 1 :]:
            if (one.backend, one.operation, one.methods[0]) == (other.backend, other.operation, other.methods[0]):
                gain = cost.of(one) + cost.of(other) - cost.of(_joined(one, other))
                if gain > saved:
                    best, saved = (one, other), gain
    return best


def _joined(one: Work, other: Work) -> Work:
    sizes = tuple(sorted({*one.sizes, *other.sizes}))
    others = sorted({*one.methods[1:], *other.methods[1:]})
    return Work(one.backend, one.operation, sizes, (one.methods[0], *others))


@dataclass(frozen=True)
class Candidate:
    key: Key
    methods: tuple[str, ...]  # that can still win, without the default; the fastest first where there are launches
    began: int  # how many methods there were
    launches: int
    value: float  # gain that is still possible, times use

    def cells_to_decide(self) -> float:
        """Cells until the point is decided and confirmed, as far as one can know."""
        full = max(_FULL_LAUNCHES - self.launches, 0)
        later = max(SEARCH_LAUNCHES - max(self.launches, _FULL_LAUNCHES), 0)
        left = len(self.methods) + 1
        return full * left + later * (min(left, _USUALLY_LEFT) if full else left) + 2 * CONFIRM_LAUNCHES

    def halved(self) -> Candidate:
        """After n launches the fastest of the methods, one in 2^n of those that began (sequential halving; Karnin, Koren, Somekh, Almost
        optimal exploration in multi-armed bandits, ICML 2013), and two at least."""
        kept = max(math.ceil(self.began / 2**self.launches), _FEWEST_METHODS)
        return replace(self, methods=self.methods[:kept])


def launches_to_decide(candidates: list[Candidate]) -> float:
    """Launches of all points together: half as many again as the operations, since not all sizes keep the same methods."""
    operations = {(key[0], key[1].operation) for key in (candidate.key for candidate in candidates)}
    most = max((SEARCH_LAUNCHES - candidate.launches for candidate in candidates), default=0)
    return 1.5 * len(operations) * max(most, 0) + len(operations) * CONFIRM_LAUNCHES


def racing(candidates: list[Candidate], cost: Cost, seconds_left: float) -> list[Candidate]:
    """The points that the next launches measure: as many as can be decided in the time that is left, the best first. Where that is not
    enough for all of them, methods are left out that may win, but look as if they did not.
    """
    everything = _fitting(candidates, cost, seconds_left)
    return everything if len(everything) == len(candidates) else _fitting([each.halved() for each in candidates], cost, seconds_left)


def _fitting(candidates: list[Candidate], cost: Cost, seconds_left: float) -> list[Candidate]:
    ordered = sorted(candidates, key=lambda each: (-each.value / max(each.cells_to_decide(), 1), each.key))
    taken: list[Candidate] = []
    for candidate in ordered:
        more = [*taken, candidate]
        seconds = launches_to_decide(more) * cost.startup_s + sum(each.cells_to_decide() for each in more) * cost.cell_s
        if seconds <= seconds_left:
            taken = more
    return taken


def cell_limit(candidates: list[Candidate], cost: Cost, seconds_left: float) -> float:
    """Seconds of measuring per cell with which all points are decided in most of the time that is left; between the shortest and the
    longest."""
    cells = sum(candidate.cells_to_decide() for candidate in candidates)
    per_cell = (_PLANNED_SHARE * seconds_left - launches_to_decide(candidates) * cost.startup_s) / max(cells, 1)
    overhead = max(cost.cell_s - cost.limit_s, 0.0)
    wanted = min(max(per_cell - overhead, SHORTEST_CELL_S), LONGEST_CELL_S)
    return float(f"{wanted:.2g}")


def value_of(standing: Standing, weight: float) -> float:
    return weight * max(standing.gain_possible, 0.0) if standing.alive else 0.0


def fitting(wanted: Wanted, values: dict[Key, float], launches: int, cost: Cost, seconds_left: float) -> Wanted:
    """The part of `wanted` that so many launches measure in the time that is left, what gains most first."""
    taken: Wanted = {}
    for key in sorted(wanted, key=lambda key: (-value_near(key, values), key)):
        more = {**taken, key: wanted[key]}
        if launches * sum(cost.of(work) for work in grouped(more, cost)) <= seconds_left:
            taken = more
    return taken


def value_near(key: Key, values: dict[Key, float]) -> float:
    """The value of a point. One between two that were measured has the larger value of both: it says where a choice ends, and is worth what the
    choice is."""
    if key in values:
        return values[key]
    backend, point = key
    alike = {other.size: value for (name, other), value in values.items() if (name, other.operation) == (backend, point.operation)}
    below = [size for size in alike if size < point.size]
    above = [size for size in alike if size > point.size]
    return max((alike[size] for size in [*sorted(below)[-1:], *sorted(above)[:1]]), default=0.0)
