# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One night against the nights before it: whether it is further from them than nights are from each other.

A machine is faster on some nights than on others, whatever runs on it, and all launches of a night share that. So a night counts as
one number of each cell (the median over its launches), a random draw around a level that holds until something changes. Past nights
give the level and the scatter of nights. The test is that of a new draw against the mean of n: t = (tonight - mean) / (s sqrt(1 + 1/n)).

Where the past itself has a clear step (a slowdown that was accepted, an improvement), only the nights since then give the level, and the
scatter is that within the parts.

Few nights say little about their scatter. It is therefore a weighted mean of what is usual (USUAL_SCATTER, which counts as USUAL_WEIGHT
nights) and of what these nights show, as the moderated t statistic has it (Smyth 2004). One past night is enough to see a factor of
two; the more nights, the less the usual scatter counts.
"""

from __future__ import annotations

import numpy as np

from dlmb_statistics import student

CONFIDENCE = 0.9  # of the interval: 5 % on either side, as the one-sided tests have
USUAL_SCATTER = 0.04  # standard deviation of a night
USUAL_WEIGHT = 2  # degrees of freedom
CLEAR_STEP = 0.001  # how often nights without a step may seem to have one


def within(levels: np.ndarray) -> np.ndarray:
    """Per row, the sum of squares around its mean."""
    return ((levels - levels.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)


def variance(squares: np.ndarray, degrees: int) -> np.ndarray:
    """Of nights, from a sum of squares with so many degrees of freedom."""
    return (USUAL_WEIGHT * USUAL_SCATTER**2 + squares) / (USUAL_WEIGHT + degrees)


def clear_steps(levels: np.ndarray) -> np.ndarray:
    """Per row, before which night the clearest step is; 0: no step is clear."""
    nights = levels.shape[1]
    if nights < 2:
        return np.zeros(len(levels), dtype=int)
    sums = np.cumsum(levels - levels.mean(axis=1, keepdims=True), axis=1)[:, :-1]  # of the nights before each step
    before = np.arange(1, nights)
    between = sums**2 * (1 / before + 1 / (nights - before))  # sum of squares that the step takes away
    t = np.sqrt(between / variance(within(levels)[:, None] - between, nights - 2))
    needed = student.quantile(1 - CLEAR_STEP / 2 / (nights - 1), USUAL_WEIGHT + nights - 2)
    return np.where(t.max(axis=1) >= needed, t.argmax(axis=1) + 1, 0)


def parts(levels: np.ndarray) -> list[np.ndarray]:
    """The nights of one cell, cut at every clear step."""
    night = int(clear_steps(levels[None, :])[0])
    return [*parts(levels[:night]), *parts(levels[night:])] if night else [levels]


def estimate(past: np.ndarray, tonight: np.ndarray) -> tuple[np.ndarray, ...]:
    """past: one line per cell, one column per night. Per cell: difference of tonight from the level, its interval, p that tonight is
    larger, p that it is smaller."""
    nights = past.shape[1]
    level, since, squares, pieces = past.mean(axis=1), np.full(len(past), nights), within(past), np.ones(len(past), dtype=int)
    for cell in np.flatnonzero(clear_steps(past)).tolist():
        pieces_of_it = parts(past[cell])
        level[cell], since[cell], pieces[cell] = pieces_of_it[-1].mean(), len(pieces_of_it[-1]), len(pieces_of_it)
        squares[cell] = sum(float(within(piece[None, :])[0]) for piece in pieces_of_it)
    difference = tonight - level
    larger, smaller, half = np.empty(len(past)), np.empty(len(past)), np.empty(len(past))
    for count in np.unique(pieces).tolist():
        chosen = pieces == count
        degrees = USUAL_WEIGHT + nights - count
        error = np.sqrt(variance(squares[chosen], nights - count) * (1 + 1 / since[chosen]))
        t = difference[chosen] / error
        larger[chosen], smaller[chosen] = student.upper_tail(t, degrees), student.upper_tail(-t, degrees)
        half[chosen] = student.quantile((1 + CONFIDENCE) / 2, degrees) * error
    return difference, difference - half, difference + half, larger, smaller
