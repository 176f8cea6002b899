# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is tuned, in the words of dlmb_collective: a point is one operation at one size, and how often programs use it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from dlmb_launch.sweep.faults import UsageError

#: As dlmb_collective names them: as tables name them, as plain MPI programs do, and what MPI libraries call the choice.
OPERATIONS = {
    "allreduce": ("allreduce", "allreduce"),
    "allgather": ("allgather", "allgather"),
    "reduce_scatter_block": ("reduce_scatter", "reduce_scatter_block"),
    "broadcast": ("broadcast", "bcast"),
    "alltoall": ("exchange", "alltoall"),
    "sendrecv": ("sendrecv", ""),
}
_OTHER_NAMES = {"reduce_scatter": "reduce_scatter_block", "bcast": "broadcast"}
_PER_RANK = ("allgather", "alltoall")  # --message-size is the part of one rank, the table counts all parts
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LARGEST_BYTES = 1 << 30


@dataclass(frozen=True, order=True)
class Point:
    operation: str
    size: int  # bytes, as --message-size counts

    def table_bytes(self, ranks: int) -> int:
        """As tables and plain MPI programs count: what all ranks have together where one rank has a part."""
        return self.size * ranks if self.operation in _PER_RANK else self.size


def from_table_bytes(operation: str, table_bytes: int, ranks: int) -> Point:
    return Point(operation, table_bytes // ranks if operation in _PER_RANK else table_bytes)


def parse_operations(text: str) -> list[str]:
    found = []
    for word in text.split(","):
        name = _OTHER_NAMES.get(word, word)
        if name not in OPERATIONS:
            raise UsageError(f"--operations: '{word}' is none of {', '.join(OPERATIONS)}")
        if name not in found:
            found.append(name)
    return found


def parse_sizes(text: str) -> list[int]:
    """"8:1M" doubles from 8, "4K" is one size, and lists are joined by commas. Ascending."""
    sizes = set()
    for part in text.split(","):
        least, _, most = part.partition(":")
        size, end = _bytes(least, part), _bytes(most or least, part)
        if size > end:
            raise UsageError(f"--sizes: '{part}' ends before it begins")
        while size <= end:
            sizes.add(size)
            size *= 2
    return sorted(sizes)


def _bytes(text: str, part: str) -> int:
    """As common/base/units.cpp reads it: 64K, 64k, 64KiB and 0.0625M are one size."""
    found = re.fullmatch(r"(\d{1,10}(?:\.\d{1,12})?)(?:([KMGkmg])(?:iB)?|B)?", text)
    value = Fraction(found[1]) * _UNITS[(found[2] or "").upper()] if found else Fraction(0)
    if value.denominator != 1 or not 0 < value <= LARGEST_BYTES:
        raise UsageError(f"--sizes: '{part}' is not SIZE or LEAST:MOST in whole bytes, as 8:1M, up to 1G")
    return int(value)


def shown_bytes(size: int) -> str:
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}iB"
    return f"{size} B"


def shown_sizes(sizes: list[int]) -> str:
    return shown_bytes(sizes[0]) if len(sizes) == 1 else f"{len(sizes)} sizes from {shown_bytes(sizes[0])} to {shown_bytes(sizes[-1])}"
