# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Self-consistency of measured collectives: what a program can do by other calls, or by a call of another size, should not be faster than
the call made for it. Rules: Traff, Gropp, Thakur, "Self-Consistent MPI Performance Guidelines", 2010; Hunold, Carpen-Amarie, "Tuning MPI
Collectives by Verifying Performance Guidelines", 2018. A call that breaks one is slow without a reference machine or library to compare
with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class TimeRange:
    """A time and the interval that holds it, us. Where the interval is not known, low and high are the time."""

    time: float
    low: float
    high: float
    known: bool = True

    def __add__(self, other: TimeRange) -> TimeRange:
        return TimeRange(self.time + other.time, self.low + other.low, self.high + other.high, self.known and other.known)

    def __mul__(self, count: int) -> TimeRange:
        return TimeRange(count * self.time, count * self.low, count * self.high, self.known)


# By bytes of the full vector: what all ranks give, or get, together; alltoall: what one rank sends.
Sizes = dict[int, TimeRange]
# What calls must share to be compared (machine, library, ranks, memory, method, ...), and the collective.
Calls = dict[str, dict[str, Sizes]]

# T(call) <= sum of T(mock), all of the same full vector.
GUIDELINES = (
    ("allreduce", ("reduce", "bcast")),
    ("allreduce", ("reduce_scatter", "allgather")),
    ("reduce", ("allreduce",)),
    ("reduce", ("reduce_scatter", "gather")),
    ("reduce_scatter", ("reduce", "scatter")),
    ("reduce_scatter", ("allreduce",)),
    ("bcast", ("scatter", "allgather")),
    ("bcast", ("allreduce",)),  # the others give zeros
    ("allgather", ("gather", "bcast")),
    ("allgather", ("alltoall",)),
    ("allgather", ("allreduce",)),  # of a vector that is zero but for the own block
    ("gather", ("allgather",)),
    ("gather", ("reduce",)),  # the same
    ("scatter", ("bcast",)),
)
COLLECTIVES = {"alltoall", *(call for call, _ in GUIDELINES)}


@dataclass(frozen=True)
class Violation:
    """A call that may be slower than what does the same. Excess: by which share of the mock's time it is slower; low: what the intervals
    leave sure."""

    guideline: str
    setting: str
    collective: str
    bytes: int
    us: TimeRange
    mock_bytes: int  # the largest where they differ
    mock_us: TimeRange  # of the faster calls together

    @property
    def excess(self) -> float:
        return self.us.time / self.mock_us.time - 1

    @property
    def excess_low(self) -> float:
        return self.us.low / self.mock_us.high - 1

    @property
    def excess_high(self) -> float:
        return self.us.high / self.mock_us.low - 1

    @property
    def known(self) -> bool:
        return self.us.known and self.mock_us.known


def certain_then_largest(violation: Violation) -> tuple[bool, float]:
    return violation.known, violation.excess_low


def check(calls: Calls, least_excess: float) -> tuple[int, list[Violation]]:
    """How many pairs of a call and a guideline the measurements could answer, and which calls are slower by more than `least_excess`: first
    those that certainly are, the largest sure excess first. Of each guideline one mock counts, chosen in the same order."""
    checks, violations = 0, []
    for setting, measured in calls.items():
        for collective, sizes in measured.items():
            for size, us in sizes.items():
                for guideline, mocks in mocks_of(collective, size, measured):
                    if not mocks:
                        continue
                    checks += 1
                    found = [Violation(guideline, setting, collective, size, us, *mock) for mock in mocks]
                    worst = max((each for each in found if each.excess_low > least_excess), key=certain_then_largest, default=None)
                    if worst:
                        violations.append(worst)
    violations.sort(key=certain_then_largest, reverse=True)
    return checks, violations


def mocks_of(collective: str, size: int, measured: dict[str, Sizes]) -> Iterator[tuple[str, list[tuple[int, TimeRange]]]]:
    """By guideline, what does the same as the call."""
    sizes = measured[collective]
    yield f"{collective}: a larger vector is not faster", [(larger, us) for larger, us in sizes.items() if larger > size]
    yield f"{collective}: a split vector is not faster", [(part, us * (size // part)) for part, us in sizes.items() if 0 < part < size and size % part == 0]
    for call, parts in GUIDELINES:
        if call == collective:
            found = [next_larger(measured.get(part, {}), size) for part in parts]
            together = [each for each in found if each is not None]
            complete = len(together) == len(parts)
            yield f"{call} <= {' + '.join(parts)}", [(max(at for at, _ in together), sum((us for _, us in together), TimeRange(0, 0, 0)))] if complete else []


def next_larger(sizes: Sizes, size: int) -> tuple[int, TimeRange] | None:
    """The measurement of this size, or of the next larger one below twice of it, which can only be slower."""
    near = [each for each in sizes if each == size or size < each < 2 * size]
    return (min(near), sizes[min(near)]) if near else None
