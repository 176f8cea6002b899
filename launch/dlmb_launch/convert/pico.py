# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of PICO: CSV, one line per system, nodes, collective, algorithm and size (github.com/HLC-Lab/pico)."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from pathlib import Path

from dlmb_launch.convert.lines import block_of
from dlmb_launch.convert.measured import ConvertError, Given, Row, Source, Table, in_order, measured, ns, number, refuse, whole

SUITE = "pico"
COLUMNS = ("system", "nodes", "ranks_per_node", "mpi", "mpi_version", "gpu", "collective", "algorithm", "bytes", "iterations",
           "median_us", "p10_us", "p90_us", "campaign", "test")
OF_TABLE = ("system", "nodes", "ranks_per_node", "mpi", "mpi_version", "campaign", "test")  # one start of PICO
OPERATIONS = {"bcast": "broadcast"}
DEFAULTS = ("default_ompi", "default_mpich", "default-default")
OWN_TRANSPORT = "-UTOFU-"
LIBRARIES = {"OMPI": "Open MPI"}  # by the column mpi, as MPI_Get_library_version calls them

# PICO's names of algorithms that it forces in the library: the family by their ending, and the name that the library has for them
# where it is another one, as backend mpi of DLMB reports both. reduce_scatter is not among them: PICO calls MPI_Reduce_scatter, and
# tables choose for MPI_Reduce_scatter_block, whose algorithms are others.
FAMILIES = {"_ompi": "open_mpi.tuned", "_mpich": "mpich"}
OTHER_NAMES = {
    ("open_mpi.tuned", "allreduce", "ring_segmented"): "segmented_ring", ("open_mpi.tuned", "bcast", "binary"): "binary_tree",
    ("open_mpi.tuned", "bcast", "split_binary"): "split_binary_tree", ("mpich", "allreduce", "non_blocking"): "nb",
    ("mpich", "allreduce", "rabenseifner"): "reduce_scatter_allgather", ("mpich", "allgather", "non_blocking"): "nb",
}
WITH_ALGORITHMS = ("allreduce", "allgather", "alltoall", "bcast")
DEFINITION = "pico: each iteration lasts as long as its slowest rank; of these the median over iterations"
AXIS = "over iterations, of the slowest rank of each"


def looks_like(source: Source) -> bool:
    first = source.text.partition("\n")[0]
    return {"collective", "algorithm", "median_us"} <= set(first.strip().split(","))


def read(path: Path, source: Source, given: Given) -> list[Table]:
    lines = csv.reader(source.text.splitlines())
    names = [name.strip() for name in next(lines, [])]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise refuse(path, 1, f"no column '{missing[0]}'; the table of PICO has {','.join(COLUMNS)}")
    if given.ranks is not None or given.ranks_per_node is not None:
        raise ConvertError(f"{path}: the table says its ranks; convert it without --ranks and --ranks-per-node")
    unknown = [name for name in given.only if name not in names]
    if unknown:
        raise ConvertError(f"--only {unknown[0]}: the table has no such column; it has {', '.join(names)}")
    tables: dict[tuple[str, ...], Table] = {}
    seen: dict[str, set[str]] = {name: set() for name in given.only}
    for line, words in enumerate(lines, 2):
        if not words:
            continue
        if len(words) != len(names):
            raise refuse(path, line, f"{len(words)} values for {len(names)} columns; is the line cut off?")
        values = {name: word.strip() for name, word in zip(names, words)}
        for name in seen:
            seen[name].add(values[name])
        if any(values[name] != value for name, value in given.only.items()):
            continue
        key = tuple(values[name] for name in OF_TABLE)
        if key not in tables:
            tables[key] = begin(path, line, values)
        tables[key].rows.append(row(path, line, values, tables[key].ranks or 1))
    if not tables:
        raise ConvertError(f"{path}: {nothing_left(given.only, seen)}")
    return list(tables.values())


def nothing_left(only: Mapping[str, str], seen: dict[str, set[str]]) -> str:
    shown = 8
    asked = ", ".join(map("=".join, only.items()))
    there = "; ".join(f"{name} is {' or '.join(sorted(values)[:shown])}{' or others' if len(values) > shown else ''}" for name, values in seen.items() if values)
    return f"no line is left{' with ' + asked if asked else ''}{'; ' + there if there else ''}"


def begin(path: Path, line: int, values: dict[str, str]) -> Table:
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)*", values["nodes"]):
        raise refuse(path, line, f"'{values['nodes']}' in column 'nodes' is neither a count nor a shape as 4x4x4")
    nodes = math.prod(map(int, values["nodes"].split("x")))
    per_node = whole(path, line, "ranks_per_node", values["ranks_per_node"])
    if per_node < 1:
        raise refuse(path, line, "ranks_per_node is 0, so nothing ran; leave the line out")
    identity = {"system": values["system"], "mpi_library": f"{LIBRARIES.get(values['mpi'], values['mpi'])} {values['mpi_version']}", "nodes": str(nodes)}
    return Table(
        suite=SUITE, program=SUITE, line=line, mode=SUITE, definition=DEFINITION, axis=AXIS, ranks=nodes * per_node, ranks_per_node=per_node,
        time=values["campaign"], campaign=values["campaign"], identity=identity | ({"job_shape": values["nodes"]} if "x" in values["nodes"] else {}),
        facts={"mpi_library": identity["mpi_library"]})


def row(path: Path, line: int, values: dict[str, str], ranks: int) -> Row:
    operation = OPERATIONS.get(values["collective"], values["collective"])
    algorithm = values["algorithm"]
    size = block_of(operation, whole(path, line, "bytes", values["bytes"]), ranks)
    columns = ("p10_us", "median_us", "p90_us")
    low, median, high = (number(path, line, name, values[name]) for name in columns)
    measured(path, line, "median_us", values["median_us"])
    in_order(path, line, {name: values[name] for name in columns})
    time = {"median": ns(median), "percentiles": {"10": ns(low), "90": ns(high)}, "samples": whole(path, line, "iterations", values["iterations"])}
    what: dict[str, str | int | float] = {"system": values["system"], "library": f"{values['mpi']} {values['mpi_version']}"}
    return Row(
        line, operation, size, time_ns=time, parameters=what, backend="utofu" if OWN_TRANSPORT in algorithm else "mpi", method=algorithm,
        memory="device" if values["gpu"] == "yes" else "host", is_default=algorithm in DEFAULTS, facts=algorithm_facts(values["collective"], algorithm))


def algorithm_facts(call: str, algorithm: str) -> dict[str, str]:
    """Of an algorithm that PICO forced in the library; none for the library's own decision and for PICO's own code."""
    for ending, family in FAMILIES.items():
        if algorithm.endswith(ending) and algorithm not in DEFAULTS and call in WITH_ALGORITHMS:
            name = algorithm.removesuffix(ending)
            return {"mpi_algorithm_family": family, f"mpi_algorithm.{call}": OTHER_NAMES.get((family, call, name), name)}
    return {}
