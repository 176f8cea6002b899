# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text of ucc_perftest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dlmb_launch.convert import osu
from dlmb_launch.convert.lines import block_of
from dlmb_launch.convert.measured import (
    LIKE_A_ROW, Given, Number, Row, Source, Table, check_count, element, follows, in_order, measured, ns, number, rates, refuse,
    require_rows, whole,
)

SUITE = "ucc_perftest"
FIELD = re.compile(r"^(Collective|Memory type|Datatype|Reduction|Inplace|Warmup|Iterations):\s*(.*?)\s*$")
NAMES = re.compile(r"^\s*Count\s+Size\s+Time, us(?P<bandwidth>\s+(?:Bus )?Bandwidth, GB/s)?\s*$")
COUNTS = re.compile(r"^\s+(small|large)\s+(\d+)\s*$")
OPERATIONS = {"bcast": "broadcast", "reduce_scatter": "reduce_scatter_block", "reduce_scatterv": "reduce_scatter"}
OF_SOURCE = ("alltoall", "alltoallv", "scatter", "scatterv", "reduce_scatter_block", "reduce_scatter")  # counts differ between versions
NO_COMMUNICATION = ("memcpy", "reduce dt", "reduce dt strided")
# ucc_pt_benchmark.cc, run_single_coll_test: init, post, test and finalize between two reads of the clock, then a barrier. That is the definition of OSU.
MODE, DEFINITION = osu.SUITE, osu.DEFINITION
AXIS = "over ranks, of each rank's mean over its calls"
COLUMNS = ("Count", "Size", "avg", "min", "max", "busbw avg", "busbw max", "busbw min")  # before 2025-09 the last three were called Bandwidth


def looks_like(source: Source) -> bool:
    return source.has(NAMES)


def read(path: Path, source: Source, given: Given) -> list[Table]:
    tables: list[Table] = []
    fields: dict[str, str] = {}
    table: Table | None = None
    columns = 0
    for line, content in source.lines(path, NAMES):
        if found := FIELD.match(content):
            if found[1] == "Collective":
                fields, table = {}, None
            fields[found[1]] = found[2]
        elif found := NAMES.match(content):
            table = begin(path, line, fields, given)
            columns = 8 if found["bandwidth"] else 5
            tables.append(table)
        elif table and LIKE_A_ROW.match(content):
            table.rows.append(row(path, line, content.split(), columns, fields, table.ranks or 1, given))
        elif content.startswith("Total time"):
            table = None
    if not tables:
        raise refuse(path, 0, "no line of column names ('Count Size Time, us') in it; give the whole output of ucc_perftest")
    require_rows(path, tables)
    return tables


def begin(path: Path, line: int, fields: dict[str, str], given: Given) -> Table:
    if not fields.get("Collective"):
        raise refuse(path, line, "no line 'Collective: NAME' above the table; give the whole output of ucc_perftest")
    if fields["Collective"].lower() in NO_COMMUNICATION:
        raise refuse(path, line, f"'{fields['Collective']}' is no communication; remove this table")
    if given.ranks is None:
        raise refuse(path, line, "ucc_perftest does not print its number of ranks; say it by --ranks N")
    return Table(suite=SUITE, program="ucc_perftest", line=line, mode=MODE, definition=DEFINITION, axis=AXIS, ranks=given.ranks, ranks_per_node=given.ranks_per_node or 0)


def row(path: Path, line: int, words: list[str], columns: int, fields: dict[str, str], ranks: int, given: Given) -> Row:
    if len(words) != columns:
        raise refuse(path, line, f"{len(words)} values for {columns} columns; is the line cut off or mixed with another program's?")
    values = dict(zip(COLUMNS, words))
    operation = OPERATIONS.get(name := fields["Collective"].lower(), name)
    what: dict[str, Any] = {"element": element(fields["Datatype"])} if fields.get("Datatype") else {}
    if fields.get("Reduction", "N/A") != "N/A":
        what["reduction"] = fields["Reduction"].lower()
    if fields.get("Inplace", "N/A") != "N/A":
        what["in-place"] = "on" if fields["Inplace"] == "1" else "off"
    rate = values.get("busbw avg", "N/A")
    gbps = None if rate == "N/A" else number(path, line, "busbw avg", rate)
    times = {column: number(path, line, column, values[column]) for column in ("avg", "min", "max")}
    measured(path, line, "avg", values["avg"])
    in_order(path, line, {column: values[column] for column in ("min", "avg", "max")})
    size: Number | None = None
    if values["Size"] != "N/A":
        printed = whole(path, line, "Size", values["Size"])
        check_count(path, line, printed, whole(path, line, "Count", values["Count"]), fields.get("Datatype", ""), (1,))
        size = block(path, line, operation, printed, ranks, values["avg"], rate, given)
    time = {field: ns(times[column]) for field, column in (("mean", "avg"), ("fastest_rank", "min"), ("slowest_rank", "max"))}
    return Row(line, operation, size, time_ns=dict(time), parameters=what, backend="ucc", memory=fields.get("Memory type", "host").lower(),
               bandwidth=None if gbps is None else rates(None, gbps))


def block(path: Path, line: int, operation: str, printed: int, ranks: int, average_us: str, rate: str, given: Given) -> Number:
    """The size as dlmb_collective counts it. Of operations whose source has a block per rank, versions print the source or a block."""
    share = (ranks - 1) / ranks
    known = rate != "N/A"
    if operation not in OF_SOURCE:
        factors = {"allreduce": (2 * share,), "broadcast": (1.0,), "reduce": (1.0,), "allgather": (ranks - 1.0, share)}.get(operation)
        if known and factors and not follows(rate, printed, average_us, factors):
            raise wrong_rate(path, line, operation, printed, ranks, average_us, rate)
        return printed
    # The printed bandwidth is that of the source: both readings of the size are a factor `ranks` apart.
    fits = {what: known and follows(rate, total, average_us, (share,)) for what, total in (("source", printed), ("block", printed * ranks))}
    if known and not any(fits.values()):
        raise wrong_rate(path, line, operation, printed, ranks, average_us, rate)
    chosen = given.ucc_count or next((what for what, fit in fits.items() if fit), "")
    if not chosen or (not given.ucc_count and all(fits.values()) and ranks > 1):
        raise refuse(path, line, f"versions of ucc_perftest count the size of {operation} differently: say --ucc-count source (1.8: of all blocks) or --ucc-count block")
    if known and not fits[chosen]:
        raise refuse(path, line, f"the printed bandwidth, {rate} GB/s, is not that of --ucc-count {chosen}; leave it out")
    return block_of(operation, printed if chosen == "source" else printed * ranks, ranks)


def wrong_rate(path: Path, line: int, operation: str, size: int, ranks: int, average_us: str, rate: str) -> Exception:
    return refuse(path, line, f"a bandwidth of {rate} GB/s is not that of {size} B in {average_us} us by {operation} of {ranks} ranks; is the line damaged, or --ranks another?")
