# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a reader finds in a file of another program: tables, each of one start of that program, and their rows; out of what launchers, logs and
NCCL made of it.

Fields hold what the file says. What it does not say stays None or empty, and so does the line that is made of it. Launchers put the rank, the
time or the host in front of each line: `[1,0]<stdout>:`, `0: `, `[0] `, `[rank0]:`. A message of NCCL may stand in the middle of a line;
what is around it belongs together.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Union

from dlmb_results.fields import load_json
from dlmb_results.program import UsageError

NS_PER_US = 1e3
MB_PER_GB = 1e3
LARGEST = 2**64  # sizes, counts and times have 64 bits
DIGITS = 20  # of it

Number = Union[int, float]


class ConvertError(UsageError):
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


# How the first word of a row begins: a number, or what is printed instead of one.
LIKE_A_ROW = re.compile(r"\s*(?:[-+]?\.?\d|(?:nan|inf|n/a)\b)", re.IGNORECASE)


def require_rows(path: Path, tables: list[Table]) -> None:
    for table in tables:
        if not table.rows:
            raise refuse(path, table.line, "the table has no row; remove it, or convert an unbroken output")


def json_of(path: Path, text: str) -> Any:
    try:
        return load_json(text)
    except ValueError as error:
        raise refuse(path, getattr(error, "lineno", 0), f"not a whole JSON document ({error}); was the program killed? Convert its text output instead") from None


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


def rates(algbw: float | None, busbw: float, aggregate: float | None = None) -> dict[str, float | None]:
    """10^9 bytes per second; None: the origin does not print it."""
    return {"algbw_GBps": algbw, "busbw_GBps": busbw, "aggregate_GBps": aggregate}


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


DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
MOMENT = (
    rf"(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]{CLOCK}(?:Z| ?[+-]\d\d:?\d\d| UTC)?|{DAY} {MONTH} [ \d]\d {CLOCK}(?: [A-Z]{{2,5}})? \d{{4}}"
    rf"|{MONTH} [ \d]\d {CLOCK}|\d\d/\d\d/\d\d(?:\d\d)? {CLOCK}|{CLOCK}|\d{{10}}\.\d+)"
)
STAMP = rf"(?:\[{MOMENT}\]|{MOMENT}):?"
# Open MPI 4 and 5 with --tag-output or --output tag; srun --label and Flux; MPICH, Intel MPI and torchrun; PALS.
LABEL = (
    r"\[(?:[^\]\s]*,)?(?P<of_open_mpi>\d+)\](?:\[[^\]]*\])*<std(?:out|err|diag)>: ?|<std(?:out|err|diag)>: ?"
    r"| *(?:[A-Za-z][\w.-]*:? )?(?P<of_srun>\d+):(?: |$)|\[(?:rank|default|worker|proc )?(?P<of_hydra>\d+)\](?:: ?| |$)"
)
PREFIX = re.compile(rf"(?:{STAMP}[ \t]?)?(?:{LABEL})?(?:{STAMP}[ \t])?")
LONGEST_HOST = 253
NCCL = re.compile(rf"(?:\[{MOMENT}\] )?[A-Za-z][\w.-]{{0,{LONGEST_HOST}}}:\d{{1,10}}:\d{{1,10}} (?:\[[^\]]{{0,20}}\] )?(?:\S{{1,99}}:\d{{1,6}} )?NCCL (?:INFO|WARN|TRACE|CALL|VERSION|ABORT)\b")
ENDS_OF_PREFIXES = re.compile(r".*[:|>\]] ?")
FEWEST_LINES = 3  # that tell what stands in front of all

Lines = list[tuple[int, str]]  # numbers in the file, and what the program printed


@dataclass(frozen=True)
class Source:
    text: str  # the file as it is
    streams: dict[str, Lines]  # by rank; empty: lines without one
    cut_line: int  # the last line, if nothing ends it; else 0

    def has(self, pattern: re.Pattern[str]) -> bool:
        return any(printed(lines, pattern) for lines in self.streams.values())

    def lines(self, path: Path, pattern: re.Pattern[str]) -> Lines:
        """Of the rank that printed such a line."""
        found = [rank for rank, lines in self.streams.items() if printed(lines, pattern)]
        if len(found) > 1:
            shown = " and ".join(f"rank {rank}" if rank else "lines without a rank" for rank in found[:2])
            raise refuse(path, 0, f"{shown} each have a table: several programs ran at once, as nccl-tests without MPI=1 do; give the lines of one program")
        return self.streams[found[0]] if found else []


def printed(lines: Lines, pattern: re.Pattern[str]) -> bool:
    return any(pattern.match(line) for _, line in lines)


def source_of(text: str) -> Source:
    whole = [line.removesuffix("\r") for line in text.split("\n")]
    cut_line = len(whole) if whole[-1] else 0
    in_front = len(common_prefix(whole))
    streams: dict[str, Lines] = {}
    open_lines: dict[str, tuple[int, str]] = {}  # which a message of NCCL stands in
    for number, line in enumerate(whole, 1):
        rank, content = without_prefix(line[in_front:])
        first, begun = open_lines.pop(rank, (number, ""))
        if message := "NCCL " in content and NCCL.search(content):
            at = message.start() + (content[: message.start() + 1].endswith("N/A"))  # a value, not the first letter of the host
            if begun + content[:at]:
                open_lines[rank] = first, begun + content[:at]
            continue
        streams.setdefault(rank, []).append((first, begun + content))
    for rank, left in open_lines.items():
        streams.setdefault(rank, []).append(left)
    return Source(text, streams, cut_line)


def without_prefix(line: str) -> tuple[str, str]:
    """The rank that a launcher wrote, and the rest."""
    found = PREFIX.match(line)
    if not found or not found.end():
        return "", line
    rank = found["of_open_mpi"] or found["of_srun"] or found["of_hydra"]
    return str(int(rank)) if rank else "", line[found.end() :]


def common_prefix(lines: list[str]) -> str:
    """Of all lines, up to the last character that ends a host, a container or the like: `node1: `, `job-0  | `."""
    some = [line for line in lines if line.strip()]
    if len(some) < FEWEST_LINES or without_prefix(some[0])[1] != some[0]:  # what is in front may differ further on
        return ""
    found = ENDS_OF_PREFIXES.match(os.path.commonprefix(some))
    return found[0] if found else ""
