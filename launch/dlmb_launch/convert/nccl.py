# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads nccl-tests and rccl-tests: the text, with out-of-place and in-place columns, and the JSON of `-J`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from dlmb_launch.convert.measured import Given, Row, Table, element, ns, number, refuse, whole
from dlmb_launch.convert.traffic import block_of
from dlmb_results.fields import load_json

SUITE = "nccl"
OPERATIONS = {
    "all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reduce_scatter_block", "broadcast": "broadcast", "reduce": "reduce",
    "alltoall": "alltoall", "alltoallv": "alltoallv", "gather": "gather", "scatter": "scatter", "sendrecv": "sendrecv", "hypercube": "hypercube",
}
AXIS = "over calls back to back, then over ranks as -a says, by default their mean"
PER_ITERATION = "over iterations, of the slowest process"
STARTING = re.compile(r"^#\s*Collective test starting:\s*(\S+)")
VERSION = re.compile(r"^#\s*(?:nccl|rccl)-tests version (\S+)(?:.*-library=(\d+))?")
RANK = re.compile(r"^#\s*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+\s+\[[^\]]*\]\s*(.*?)\s*$")
NAMES = re.compile(r"^#\s+size\s+count\s")
SETTINGS = re.compile(r"^#\s*nThread\s+(\d+)\s+nGpus\s+(\d+)\s.*?(?<!warmup )(?<!agg )iters:\s*(\d+)")
BLOCKING = re.compile(r"^#\s*Blocking Enabled")
FEWEST = ("time", "algbw", "busbw")
OFF_BY = 2  # characters between the ends of a column's name and of its values


def definition(blocking: bool) -> str:
    waited = "each waited for" if blocking else "waited for together"
    return f"nccl: calls back to back behind a barrier, {waited}, mean over ranks of (done - enter) / calls"


def looks_like(text: str) -> bool:
    return looks_like_json(text) or any(NAMES.match(line) for line in text.splitlines())


def looks_like_json(text: str) -> bool:
    return text.lstrip().startswith("{") and '"nccl_version"' in text


def read(path: Path, text: str, given: Given) -> list[Table]:
    return [read_json(path, text, given)] if text.lstrip().startswith("{") else TextReader(path, given).read(text)


def operation_of(path: Path, line: int, program: str, given: Given) -> str:
    name = Path(program).name.removesuffix("_mpi").removesuffix("_perf")
    if given.operation or name in OPERATIONS:
        return given.operation or OPERATIONS[name]
    raise refuse(path, line, f"does not say which operation it measured ('{program}' is not one of nccl-tests); say it by --operation NAME")


def ranks_and_nodes(path: Path, line: int, ranks: int, hosts: list[str], given: Given) -> tuple[int, int]:
    """Ranks and ranks per node; 0: uneven or not known."""
    if given.ranks is not None and ranks and ranks != given.ranks:
        raise refuse(path, line, f"it lists {ranks} ranks, --ranks says {given.ranks}; convert it without --ranks")
    found = ranks or given.ranks
    if not found:
        raise refuse(path, line, "it lists no devices, so its number of ranks is not known; say it by --ranks N")
    counts = set(Counter(hosts).values())
    per_node = counts.pop() * (found // len(hosts)) if len(counts) == 1 else 0
    return found, per_node or given.ranks_per_node or 0


def memory_of(devices: list[str]) -> str:
    return "rocm" if any(name.startswith(("AMD", "Radeon", "MI", "gfx")) for name in devices) else "cuda"


def cells(line: int, operation: str, size: int, ranks: int, what: dict[str, Any], parts: list[tuple[str, dict[str, Any]]], memory: str) -> list[Row]:
    found = []
    for in_place, part in parts:
        found.append(Row(
            line, operation, block_of(operation, size, ranks), time_ns=part["time_ns"], bandwidth=part["bandwidth"],
            parameters={**what, "in-place": in_place}, backend="nccl", memory=memory, validation=part["validation"]))
    return found


def parameters(kind: str, reduction: str, root: str) -> dict[str, Any]:
    found: dict[str, Any] = {"element": element(kind)}
    if reduction and reduction != "none":
        found["reduction"] = reduction
    if root and int(root) >= 0:
        found["root"] = int(root)
    return found


class TextReader:
    def __init__(self, path: Path, given: Given) -> None:
        self.path = path
        self.given = given
        self.tables: list[Table] = []
        self.clear()

    def clear(self) -> None:
        """Before the lines of the next program."""
        self.program = self.version = self.library = ""
        self.iterations: int | None = None
        self.ranks: dict[int, str] = {}  # and their hosts
        self.groups: set[str] = set()
        self.devices: list[str] = []
        self.first: list[str] = []  # names of the columns before the times
        self.part: list[str] = []  # of the columns of one kind of buffers
        self.stamped = self.blocking = False

    def read(self, text: str) -> list[Table]:
        for line, content in enumerate(text.splitlines(), 1):
            if VERSION.match(content) or (STARTING.match(content) and self.program) or (SETTINGS.match(content) and self.first):
                self.clear()
            self.take(line, content)
        for table in self.tables:
            if not table.rows:
                raise refuse(self.path, table.line, "the table has no row; remove it, or convert an unbroken output")
        if not self.tables:
            raise refuse(self.path, 0, "no line of column names ('# size count type ...') in it; give the whole output of a program of nccl-tests")
        return self.tables

    def take(self, line: int, text: str) -> None:
        if found := VERSION.match(text):
            self.version, self.library = found[1], found[2] or ""
        elif found := STARTING.match(text):
            self.program = found[1]
        elif found := SETTINGS.match(text):
            self.iterations = int(found[3])
        elif BLOCKING.match(text):
            self.blocking = True
        elif found := RANK.match(text):
            self.rank(line, found)
        elif NAMES.match(text):
            self.names(line, text.lstrip("# ").split())
            self.first_time_ends = text.index(" time") + len(" time")
        elif self.first and text[:1] in " 0123456789" and text.split()[:1] and text.split()[0].isdecimal():
            self.row(line, text)

    def rank(self, line: int, found: re.Match[str]) -> None:
        number_of_rank = int(found[1])
        if number_of_rank in self.ranks:
            raise refuse(self.path, line, f"rank {number_of_rank} is listed twice: nccl-tests without MPI=1 started several programs of their own; build it with MPI=1")
        self.ranks[number_of_rank] = found[3]
        self.groups.add(found[2] or "0")
        self.devices.append(found[4])
        if len(self.groups) > 1:
            raise refuse(self.path, line, "the ranks are split into groups that ran at once, which a cell cannot say; convert a run without NCCL_TESTS_SPLIT")

    def names(self, line: int, names: list[str]) -> None:
        if "cputime" in names:
            raise refuse(self.path, line, "the column is 'cputime' (-C), the time to start a call and not that of the operation; convert a run without -C")
        starts = [index for index, name in enumerate(names) if name == "time"]
        self.stamped = names[-1] == "timestamp"
        end = len(names) - self.stamped
        if not starts or len(starts) > 2 or names[starts[0]:starts[0] + 3] != list(FEWEST):
            raise refuse(self.path, line, f"column names that this program does not know: {' '.join(names)}; report the version of nccl-tests")
        self.first = names[:starts[0]]
        self.part = names[starts[0]:starts[1] if len(starts) > 1 else end]
        self.parts = len(starts)
        operation = operation_of(self.path, line, self.program, self.given)
        ranks, per_node = ranks_and_nodes(self.path, line, len(self.ranks), list(self.ranks.values()), self.given)
        table = Table(
            suite=SUITE, program=self.program or "nccl-tests", line=line, version=self.version, ranks=ranks, ranks_per_node=per_node,
            mode=SUITE, definition=definition(self.blocking), axis=AXIS, percentile_axis=PER_ITERATION)
        if self.devices:
            table.identity["gpus"] = "; ".join(sorted(set(self.devices)))
        if self.library:
            table.facts["nccl_version"] = self.library
        self.operation = operation
        self.tables.append(table)

    def row(self, line: int, text: str) -> None:
        places = list(re.finditer(r"\S+", text))
        words = [place[0] for place in places][: -2 if self.stamped else None]
        last = len(words) - self.parts * len(self.part)
        # Old versions leave redop or root empty; a line that is cut off has fewer words too, but not in their columns.
        in_columns = last == len(self.first) or (3 <= last < len(self.first) and abs(places[last].end() - self.first_time_ends) <= OFF_BY)
        if not in_columns:
            raise refuse(self.path, line, f"{len(words)} values do not fit the columns {' '.join(self.first)} and {self.parts} times {' '.join(self.part)}; is the line cut off?")
        size = whole(self.path, line, "size", words[0])
        rest = words[3:last]  # redop and root, of which some versions leave out those that an operation has not
        roots = [word for word in rest if re.fullmatch(r"-?\d+", word)]
        what = parameters(words[2], next((word for word in rest if word not in roots), ""), roots[0] if roots else "")
        parts = []
        for index in range(self.parts):
            values = dict(zip(self.part, words[last + index * len(self.part):]))
            parts.append((("off", "on")[index], self.of_part(line, values)))
        table = self.tables[-1]
        table.rows += cells(line, self.operation, size, table.ranks or 1, what, parts, memory_of(self.devices))

    def of_part(self, line: int, values: dict[str, str]) -> dict[str, Any]:
        def value(name: str) -> float:
            return number(self.path, line, name, values[name])

        time: dict[str, Any] = {"mean": ns(value("time"))}
        if self.iterations is not None:
            time["samples"] = self.iterations
        for name, field in (("i_min", "min"), ("i_max", "max")):
            if name in values:
                time[field] = ns(value(name))
        if "i_p99" in values:
            time["percentiles"] = {"99": ns(value("i_p99"))}
        wrong = values.get("#wrong", values.get("error", "N/A"))
        checked = "" if "#wrong" not in values or wrong == "N/A" else "passed" if value("#wrong") == 0 else "failed"
        return {"time_ns": time, "validation": checked,
                "bandwidth": {"algbw_GBps": value("algbw"), "busbw_GBps": value("busbw"), "aggregate_GBps": None}}


def read_json(path: Path, text: str, given: Given) -> Table:
    try:
        document = load_json(text)
    except ValueError as error:
        raise refuse(path, getattr(error, "lineno", 0), f"not a whole JSON document ({error}); was the program killed? Convert its text output instead") from None
    try:
        return of_document(path, document, given)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise refuse(path, 0, f"not the JSON of nccl-tests -J: {type(error).__name__} {error}; convert its text output instead") from None


def of_document(path: Path, document: dict[str, Any], given: Given) -> Table:
    config, command = document["config"], [str(word) for word in document.get("args") or []]
    program = Path(command[0]).name if command else "nccl-tests"
    devices = config.get("devices") or []
    if len({device.get("group", 0) for device in devices}) > 1:
        raise refuse(path, 0, "the ranks are split into groups that ran at once, which a cell cannot say; convert a run without NCCL_TESTS_SPLIT")
    operation = operation_of(path, 0, program, given)
    hosts = [device["hostname"] for device in devices]
    ranks, per_node = ranks_and_nodes(path, 0, len(devices) * config["nthreads"] * config["ngpus"], hosts, given)
    names = [device["device_info"] for device in devices]
    table = Table(
        suite=SUITE, program=program, line=0, mode=SUITE, definition=definition(config.get("blocking_collectives") == "true"), axis=AXIS, percentile_axis=PER_ITERATION, ranks=ranks, ranks_per_node=per_node, time=document.get("start_time", ""), command=command,
        identity={"gpus": "; ".join(sorted(set(names)))} if names else {},
        variables=dict(sorted(pair.split("=", 1) for pair in document.get("env") or [] if pair.startswith("NCCL_") and "=" in pair)),
        facts={"nccl_version": str(document["nccl_version"])})
    for result in document["results"]:
        parts = [(place, of_json_part(path, name, result, config)) for place, name in (("off", "out_of_place"), ("on", "in_place")) if result.get(name)]
        what = parameters(result["type"], result["redop"], str(result["root"]).strip())
        table.rows += cells(0, operation, int(result["size"]), ranks, what, parts, memory_of(names))
    if not table.rows:
        raise refuse(path, 0, "holds no result; convert an unbroken output")
    return table


def of_json_part(path: Path, name: str, result: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    part = result[name]
    if "time" not in part:
        raise refuse(path, 0, "has 'cpu_time' (-C), the time to start a call and not that of the operation; convert a run without -C")
    time: dict[str, Any] = {"mean": ns(number(path, 0, "time", str(part["time"]))), "samples": int(result.get("actual_iterations", config["iterations"]))}
    if more := result.get(f"{name}_per_iter"):
        time |= {"min": ns(more["min_us"]), "max": ns(more["max_us"]), "percentiles": {each: ns(more[f"p{each}_us"]) for each in ("50", "95", "99")}}
    wrong = part.get("nwrong")
    return {"time_ns": time, "validation": "" if wrong is None else "passed" if float(wrong) == 0 else "failed",
            "bandwidth": {"algbw_GBps": float(part["alg_bw"]), "busbw_GBps": float(part["bus_bw"]), "aggregate_GBps": None}}
