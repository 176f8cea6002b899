# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The formats that are read. A new one is a module with `looks_like` and `read`, a row here, and a row in docs/converting.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dlmb_launch.convert import comms_logger, nccl, osu, pico, rccl, ucc
from dlmb_launch.convert.measured import ConvertError, Given, Source, Table, refuse, source_of


class Format(NamedTuple):
    what: str
    looks_like: Callable[[Source], bool]
    read: Callable[[Path, Source, Given], list[Table]]
    repeats: bool = False  # a table may measure the same several times


FORMATS = {
    "osu": Format("text of OSU Micro-Benchmarks", osu.looks_like, osu.read),
    "nccl": Format("text or JSON (-J) of nccl-tests", nccl.looks_like, nccl.read),
    "rccl": Format("JSON or CSV (-Z) of rccl-tests", rccl.looks_like, rccl.read),
    "ucc_perftest": Format("text of ucc_perftest", ucc.looks_like, ucc.read),
    "pico": Format("table of PICO (CSV)", pico.looks_like, pico.read, repeats=True),
    "comms_logger": Format("comms_dict of DeepSpeed's or MCR-DL's logger (JSON)", comms_logger.looks_like, comms_logger.read, repeats=True),
}
# Of what is known and not read: how a line of it begins, and what to do.
TYPES = r"(?:u?int(?:8|32|64)|char|int|half|float|double|bfloat16|f8e4m3|f8e5m2|fp8_e4m3|fp8_e5m2)"
OTHERS = (
    (r'.*"dlmb\.result/', "is a result file already; it needs no conversion"),
    (r"# dlmb_\w+ ", "was printed by DLMB; its result file (--results) needs no conversion"),
    (r'.*"pg_status"\s*:', "a dump of PyTorch's flight recorder, which has no results; dlmb_plan summary reads it"),
    (r'.*"traceEvents"\s*:', "a profile of PyTorch, which has no results; dlmb_plan summary reads it"),
    (r"(?:[^\s,]+,)*iterations,(?:typical|[\d.]+_percentile)_lat,avg_lat|\|\s+(?:Stage|Test)?\s*\|?\s*# iterations \|",
     "output of ucx_perftest, which does not say which test ran and is of no collective; measure it with dlmb_collective --operation sendrecv or bandwidth, --backend ucx"),
    (r"#\s*Intel.*MPI Benchmarks|#\s*Benchmarking \w+\s*$|\s*#bytes\s+#repetitions\s",
     "output of the Intel MPI Benchmarks (IMB), whose definition of a time no converted line has; measure the same with dlmb_collective --cli osu, or convert output of OSU"),
    (r"\s*#bytes\s+#iterations\s", "output of perftest (ib_write_bw and the like), which measures a link and no operation; measure the pair with dlmb_collective --operation bandwidth"),
    (rf"\s*\d+\s+\d+\s+{TYPES}\s+(?:\S+\s+){{3}}", "rows as nccl-tests prints them, but no header; give the whole output, with the line of column names and the devices"),
    (r"\s*#?\s*Size\s+(?:Avg )?(?:Latency|Bandwidth) ?\(", "columns of OSU Micro-Benchmarks, but no title ('# OSU MPI ... Test v...'); give the whole output"),
    (r"\s*Collective:\s|\s+Count\s+Size\s", "a part of the output of ucc_perftest; give the whole output, with the line of column names"),
    (r"<stdout rank=|<mpirun>", "output of mpirun with --xml; run it with --tag-output or without"),
)


def read(path: Path, text: str, name: str, given: Given) -> list[Table]:
    """name: of the format; empty: found out."""
    source = source_of(text)
    if not name:
        name = next((each for each, form in FORMATS.items() if form.looks_like(source)), "")
    if not name:
        raise other(path, text, source)
    form = FORMATS[name]
    try:
        tables = form.read(path, source, given)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise ConvertError(f"{path}: not {form.what}: {error}; is it damaged?") from None
    if given.only and name != "pico":
        raise ConvertError(f"{path}: --only chooses lines of a table with named columns, which {name} is not; convert it without")
    check_end(path, source, tables)
    for table in [] if form.repeats else tables:
        check_repetition(path, table)
    return tables


def other(path: Path, text: str, source: Source) -> ConvertError:
    for pattern, why in OTHERS:
        if source.has(re.compile(pattern)):
            return ConvertError(f"{path}: {why}") if "result file" not in why else refuse(path, 1, why)
    if "NCCL INFO" in text:
        return ConvertError(f"{path}: a log of NCCL without a table; dlmb_plan summary reads its calls")
    known = ", ".join(form.what for form in FORMATS.values())
    return ConvertError(f"{path}: none of the known formats ({known}); give the whole output, or name its format by --from")


def check_end(path: Path, source: Source, tables: list[Table]) -> None:
    """A number may be cut off where nothing ends its line."""
    if source.cut_line and any(row.line == source.cut_line for table in tables for row in table.rows):
        raise refuse(path, source.cut_line, "the last line has no end, so its last number may be cut off; remove the line, or end it if it is whole")


def check_repetition(path: Path, table: Table) -> None:
    seen: dict[tuple[object, ...], int] = {}
    for row in table.rows:
        what = (row.operation, row.size, row.backend, row.method, row.memory, tuple(sorted(row.parameters.items())))
        if what in seen:
            before = f"in line {seen[what]}" if seen[what] else "before"
            raise refuse(path, row.line, f"{row.operation} of {row.size} B is there already, {before}; a launch has one result of a cell: give each repetition as a file of its own")
        seen[what] = row.line
