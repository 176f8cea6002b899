# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a reader finds in a file of another program: tables, each of one start of that program, and their rows.

Fields hold what the file says. What it does not say stays None or empty, and so does the line that is made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Union

NS_PER_US = 1e3
MB_PER_GB = 1e3
LARGEST = 2**64  # sizes, counts and times have 64 bits
DIGITS = 20  # of it

Number = Union[int, float]


class ConvertError(Exception):
    """An input that cannot be converted: one line that names file, line and what to do."""


def refuse(path: Path, line: int, why: str) -> ConvertError:
    return ConvertError(f"{path}:{line}: {why}" if line else f"{path}: {why}")


@dataclass(frozen=True)
class Given:
    """What the user says because the files do not."""

    ranks: int | None = None
    ranks_per_node: int | None = None
    operation: str = ""
    system: str = ""
    ucc_count: str = ""
    only: Mapping[str, str] = field(default_factory=dict)  # columns of a table and their values


@dataclass
class Row:
    line: int
    operation: str  # as dlmb_collective calls it, else as the origin does
    size: Number | None  # bytes, counted as --message-size of dlmb_collective; None: the operation has none
    time_ns: dict[str, object] | None = None  # fields of `converted_time`; None: the origin has no time
    bandwidth: dict[str, float | None] | None = None  # of the origin; None: it has none
    parameters: dict[str, str | Number] = field(default_factory=dict)
    backend: str = ""
    method: str = "default"
    memory: str = ""
    is_default: bool = True
    validation: str = ""  # passed, failed; empty: the origin did not check
    statistics: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)  # beside those of the table


@dataclass
class Table:
    suite: str  # name in formats.py
    program: str
    line: int
    mode: str  # name of the definition of its times
    definition: str  # of one call; where dlmb_collective has the same definition, in its words (common/measure/cell_run.cpp)
    axis: str  # over what the median or mean is
    ranks: int | None
    ranks_per_node: int = 0  # 0: not known, or uneven
    version: str = ""
    time: str = ""  # as the origin writes it
    command: list[str] = field(default_factory=list)
    identity: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    campaign: str = ""
    percentile_axis: str = ""  # that of min, max and percentiles; empty: the same
    rows: list[Row] = field(default_factory=list)


ELEMENTS = {
    "char": "int8", "signed_char": "int8", "byte": "byte", "int": "int32", "long": "int64", "long_long": "int64",
    "half": "fp16", "float16": "fp16", "bfloat16": "bf16", "bf16": "bf16", "float": "fp32", "float32": "fp32",
    "double": "fp64", "float64": "fp64", "fp16": "fp16", "fp32": "fp32", "fp64": "fp64",
}
BYTES = {  # of an element, by DLMB's name or the origin's
    "int8": 1, "uint8": 1, "byte": 1, "int16": 2, "uint16": 2, "fp16": 2, "bf16": 2, "int32": 4, "uint32": 4, "fp32": 4, "int64": 8, "uint64": 8,
    "fp64": 8, "fp8_e4m3": 1, "fp8_e5m2": 1, "f8e4m3": 1, "f8e5m2": 1, "float8_e4m3": 1, "float8_e5m2": 1,
}


def element(name: str) -> str:
    """DLMB's name where it has the type, else the origin's in lower case."""
    plain = name.strip().lower().removeprefix("mpi_")
    return ELEMENTS.get(plain, plain)


def number(path: Path, line: int, column: str, text: str) -> float:
    """A column's value, never negative, NaN or infinite."""
    try:
        value = float(text if "_" not in text else "")
    except ValueError:
        raise refuse(path, line, f"'{text}' in column '{column}' is no number; is the line cut off or mixed with another program's?") from None
    if not 0 <= value < LARGEST:
        raise refuse(path, line, f"{text} in column '{column}' cannot be; leave the line out")
    return value


def measured(path: Path, line: int, column: str, text: str) -> float:
    """A time or rate that was measured, so not 0."""
    value = number(path, line, column, text)
    if value == 0:
        raise refuse(path, line, f"{text} in column '{column}' is nothing that was measured; leave the line out")
    return value


def whole(path: Path, line: int, column: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise refuse(path, line, f"'{text}' in column '{column}' is no whole number; is the line cut off or mixed with another program's?")
    if len(text) > DIGITS or int(text) >= LARGEST:
        raise refuse(path, line, f"{text} in column '{column}' is beyond 2^64; leave the line out")
    return int(text)


def ns(us: float) -> float:
    return round(us * NS_PER_US, 6)


def bounds(text: str) -> tuple[float, float]:
    """Between what a number lies that is printed so, rounded or cut off."""
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return max(float(value - step), 0.0), float(value + step)


SLACK = 0.01  # of numbers that follow from others, which programs round on their way


def follows(rate: str, size: Number, time_us: str, factors: Iterable[float]) -> bool:
    """The printed rate (GB/s) is one of these multiples of size over time, as far as digits go."""
    shortest, longest = bounds(time_us)
    low, high = bounds(rate)
    return any(
        factor * size / (longest * NS_PER_US) <= high * (1 + SLACK) and (not shortest or low * (1 - SLACK) <= factor * size / (shortest * NS_PER_US))
        for factor in factors)


def in_order(path: Path, line: int, values: Mapping[str, str]) -> None:
    """Columns of which none is smaller than the one before."""
    names = list(values)
    for smaller, larger in zip(names, names[1:]):
        if bounds(values[smaller])[0] > bounds(values[larger])[1]:
            raise refuse(path, line, f"'{smaller}' is {values[smaller]}, above '{larger}', {values[larger]}; is the line mixed with another?")


def check_count(path: Path, line: int, size: int, count: int, kind: str, factors: Iterable[int]) -> None:
    """The size is count times type, or that of so many ranks."""
    each = BYTES.get(element(kind))
    if each and size not in [count * each * factor for factor in factors]:
        raise refuse(path, line, f"a size of {size} B is not {count} elements of {kind} ({each} B each); is the line damaged?")
