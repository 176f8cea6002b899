# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The last nights against the nights before them: whether they are further from them than nights are from each other.

A machine is faster on some nights than on others, whatever runs on it, and all launches of a night share that. So a night counts as
one number of each cell (the median over its launches), a random draw around a level that holds until something changes. Past nights
give the level and the scatter of nights.

A slowdown that lasts is in every night since it came. So the test is on a weighted mean of tonight and the two nights before it, each
with half the weight of the next one (an exponentially weighted moving average, Roberts 1959, cut at three nights), against the mean of
the n nights before these: t = (weighted mean - mean) / (s sqrt(sum of squared weights + 1/n)). Three equal weights are best in the third
night only, and tonight alone in the first night only. Both tests hold false alarms at the level of t, so nothing is divided between them.

Nights that resemble the night before them (what others do lasts for days) say less than independent ones: a mean of n of them is worth that
of n (1 - r) / (1 + r) (r: serial correlation at lag 1). Where the past shows that, tonight alone is tested, with so many nights.

Where the past itself has a clear step (a slowdown that was accepted, an improvement), only the nights since then give the level, and the
scatter is that within the parts. A step has to be clear without the night that shows it most: one fast night as the level would make every
night after it slower, and as such nights are not kept, for ever.

Few nights say little about their scatter. It is therefore a weighted mean of what is usual (USUAL_SCATTER, which counts as USUAL_WEIGHT
nights) and of what these nights show, as the moderated t statistic has it (Smyth 2004). One past night is enough to see a factor of
two; the more nights, the less the usual scatter counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dlmb_statistics import student

CONFIDENCE = 0.9  # of the interval: 5 % on either side, as the one-sided tests have
USUAL_SCATTER = 0.04  # standard deviation of a night
USUAL_WEIGHT = 2  # degrees of freedom
CLEAR_STEP = 0.001  # how often nights without a step may seem to have one
WEIGHT = 0.5  # of a night, as a share of that of the night after it
RECENT = 2  # nights before tonight that have a weight
CHANCE_RESEMBLANCE = 0.1  # how often independent nights may seem to resemble the night before them


def within(levels: np.ndarray) -> np.ndarray:
    """Per row, the sum of squares around its mean."""
    return ((levels - levels.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)


def variance(squares: np.ndarray, degrees: int | np.ndarray) -> np.ndarray:
    """Of nights, from a sum of squares with so many degrees of freedom."""
    return (USUAL_WEIGHT * USUAL_SCATTER**2 + squares) / (USUAL_WEIGHT + degrees)


def clear_steps(levels: np.ndarray) -> np.ndarray:
    """Per row, before which night the clearest step is; 0: no step is clear."""
    nights = levels.shape[1]
    if nights < 3:
        return np.zeros(len(levels), dtype=int)
    levels = levels - levels.mean(axis=1, keepdims=True)
    sums, squares = np.cumsum(levels, axis=1)[:, :-2], (levels**2).sum(axis=1, keepdims=True)  # sums: of the nights before each step
    largest, smallest = (extreme.accumulate(levels[:, :0:-1], axis=1)[:, :0:-1] for extreme in (np.maximum, np.minimum))
    before = np.arange(1, nights - 1)
    rest = nights - 1 - before  # nights since the step but the one that shows it most
    up = np.where(sums < 0, 1, -1)
    most = np.where(sums < 0, largest, smallest)
    rest_sums = -sums - most
    inside = squares - most**2 - sums**2 / before - rest_sums**2 / rest
    t = up * (rest_sums / rest - sums / before) / np.sqrt(variance(inside, nights - 3) * (1 / before + 1 / rest))
    needed = student.quantile(1 - CLEAR_STEP / 2 / (nights - 2), USUAL_WEIGHT + nights - 3)
    return np.where(t.max(axis=1) >= needed, t.argmax(axis=1) + 1, 0)


def parts(levels: np.ndarray) -> list[np.ndarray]:
    """The nights of one cell, cut at every clear step."""
    night = int(clear_steps(levels[None, :])[0])
    return [*parts(levels[:night]), *parts(levels[night:])] if night else [levels]


def serial_correlation(levels: np.ndarray) -> np.ndarray:
    """Per row, at lag 1; 0 where it may be chance, by its mean and variance among independent nights (Moran 1948)."""
    nights = levels.shape[1]
    if nights < 3:
        return np.zeros(len(levels))
    around = levels - levels.mean(axis=1, keepdims=True)
    found = (around[:, 1:] * around[:, :-1]).sum(axis=1) / np.maximum(within(levels), np.finfo(float).tiny)
    chance = -1 / nights + ndtri(1 - CHANCE_RESEMBLANCE) * np.sqrt((nights - 2) / (nights**2 - 1))
    return np.where(found > max(chance, 0), found, 0)


@dataclass(frozen=True)
class Shift:
    """One entry per cell: how far the last nights are from the level, and by how much that scatters."""

    difference: np.ndarray
    error: np.ndarray
    degrees: np.ndarray

    @property
    def half(self) -> np.ndarray:
        """Half of the interval."""
        return student.quantile((1 + CONFIDENCE) / 2, self.degrees) * self.error

    def where(self, chosen: np.ndarray, other: Shift) -> Shift:
        """This one where chosen, else the other."""
        pairs = ((self.difference, other.difference), (self.error, other.error), (self.degrees, other.degrees))
        return Shift(*(np.where(chosen, *pair) for pair in pairs))

    @property
    def is_clear(self) -> np.ndarray:
        return np.abs(self.difference) >= self.half


@dataclass(frozen=True)
class Past:
    """Cells with equally many nights since their last clear step."""

    levels: np.ndarray  # one line per cell, one column per night since then
    older_squares: np.ndarray  # per cell, of the nights before, within their parts
    older_degrees: int

    def shift(self, tonight: np.ndarray, recent: int, correlation: np.ndarray) -> Shift:
        """Of tonight and so many nights before it."""
        nights = self.levels.shape[1] - recent
        independent = np.maximum(nights * (1 - correlation) / (1 + correlation), 1)
        weights = WEIGHT ** np.arange(recent + 1)
        weights /= weights.sum()
        latest = np.column_stack([tonight, self.levels[:, nights:][:, ::-1]])
        before = self.levels[:, :nights]
        degrees = self.older_degrees + independent - 1
        scatter = variance(self.older_squares + within(before) * independent / nights, degrees)
        error = np.sqrt(scatter * (weights @ weights + 1 / independent))
        return Shift(latest @ weights - before.mean(axis=1), error, USUAL_WEIGHT + degrees)

    def estimate(self, tonight: np.ndarray) -> np.ndarray:
        """Tested are the last nights, or tonight alone where nights resemble each other. Shown is tonight, or the last nights where only these
        are clear or where they differ by more."""
        correlation = serial_correlation(self.levels)
        alone, last = (self.shift(tonight, recent, correlation) for recent in (0, min(RECENT, (self.levels.shape[1] - 1) // 2)))
        tested = alone.where(correlation > 0, last)
        by_more = ~alone.is_clear | (np.abs(tested.difference) > np.abs(alone.difference))
        shown = tested.where(tested.is_clear & by_more, alone)
        t = tested.difference / tested.error
        tails = student.upper_tail(t, tested.degrees), student.upper_tail(-t, tested.degrees)
        return np.array([shown.difference, shown.difference - shown.half, shown.difference + shown.half, *tails])


def estimate(past: np.ndarray, tonight: np.ndarray) -> tuple[np.ndarray, ...]:
    """past: one line per cell, one column per night. Per cell: difference of the last nights from the level, its interval, p that they are
    larger, p that they are smaller."""
    nights = past.shape[1]
    since, pieces, older_squares = np.full(len(past), nights), np.ones(len(past), dtype=int), np.zeros(len(past))
    for cell in np.flatnonzero(clear_steps(past)).tolist():
        *older, latest = parts(past[cell])
        since[cell], pieces[cell] = len(latest), 1 + len(older)
        older_squares[cell] = sum(float(within(piece[None, :])[0]) for piece in older)
    found = np.empty((5, len(past)))
    for length, count in np.unique(np.column_stack([since, pieces]), axis=0).tolist():
        chosen = (since == length) & (pieces == count)
        alike = Past(past[chosen, nights - length :], older_squares[chosen], nights - length - (count - 1))
        found[:, chosen] = alike.estimate(tonight[chosen])
    return tuple(found)
