# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads nccl-tests and rccl-tests: the text, with out-of-place and in-place columns, also pasted without its `#`, and the JSON of `-J`."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from dlmb_launch.convert.lines import block_of
from dlmb_launch.convert.measured import (
    LARGEST, LIKE_A_ROW, Given, Row, Source, Table, check_count, element, follows, in_order, json_of, measured, ns, number, rates, refuse,
    require_rows, whole,
)

SUITE = "nccl"
OPERATIONS = {
    "all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reduce_scatter_block", "broadcast": "broadcast", "reduce": "reduce",
    "alltoall": "alltoall", "alltoallv": "alltoallv", "gather": "gather", "scatter": "scatter", "sendrecv": "sendrecv", "hypercube": "hypercube",
}
AXIS = "over calls back to back, then over ranks as -a says, by default their mean"
PER_ITERATION = "over iterations, of the slowest process"
STARTING = re.compile(r"^\s*#?\s*Collective test starting:\s*(\S+)")
VERSION = re.compile(r"^\s*#?\s*(?:nccl|rccl)-tests:? [vV]ersion (\S+)(?:.*-library=(\d+))?")
RANK = re.compile(r"^\s*#?\s*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+\s+\[[^\]]*\]\s*(.*?)\s*$")
NAMES = re.compile(r"^\s*#?\s*size\s+count\s+type\s")
SETTINGS = re.compile(r"^\s*#?\s*nThread\s+(\d+)\s+nGpus\s+(\d+)\s.*?(?<!warmup )(?<!agg )iters:\s*(\d+)")
BLOCKING = re.compile(r"^\s*#?\s*Blocking Enabled")
FOOTER = re.compile(r"^\s*#?\s*Out of bounds values\s*:\s*(\d+)\s*(OK|FAILED)")
ABSENT = "N/A"
FEWEST = ("time", "algbw", "busbw")
OF_ONE_BUFFER = ("allreduce", "broadcast", "reduce", "sendrecv")  # which has one size on all ranks
OFF_BY = 2  # characters between the ends of a column's name and of its values


def definition(blocking: bool) -> str:
    waited = "each waited for" if blocking else "waited for together"
    return f"nccl: calls back to back behind a barrier, {waited}, mean over ranks of (done - enter) / calls"


def looks_like(source: Source) -> bool:
    return looks_like_json(source.text) or source.has(NAMES)


def looks_like_json(text: str) -> bool:
    return text.lstrip().startswith("{") and all(f'"{name}"' in text for name in ("nccl_version", "config"))


def read(path: Path, source: Source, given: Given) -> list[Table]:
    return [read_json(path, source.text, given)] if looks_like_json(source.text) or source.text.lstrip().startswith("{") else TextReader(path, given).read(source)


def operation_of(path: Path, line: int, program: str, given: Given) -> str:
    name = Path(program).name.removesuffix("_mpi").removesuffix("_perf")
    if given.operation or name in OPERATIONS:
        return OPERATIONS.get(given.operation or name, given.operation)
    named = f"'{program}' is not one of nccl-tests" if program else "it names no program"
    raise refuse(path, line, f"does not say which operation it measured ({named}); say it by --operation NAME")


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
    """parts: of those kinds of buffers that were measured."""
    return [Row(
        line, operation, block_of(operation, size, ranks), time_ns=part["time_ns"], bandwidth=part["bandwidth"],
        parameters={**what, "in-place": in_place}, backend="nccl", memory=memory, validation=part["validation"]) for in_place, part in parts]


def check_size(path: Path, line: int, operation: str, size: int, count: int, kind: str, ranks: int) -> None:
    """Of what each rank has a block of, the programs print the size of all blocks and the count of one."""
    if operation != "alltoallv":
        check_count(path, line, size, count, kind, (1,) if operation in OF_ONE_BUFFER else (ranks, 1))


def check_rates(path: Path, line: int, operation: str, size: int, ranks: int, values: dict[str, str]) -> None:
    """algbw and busbw follow from size and time (GetBw of each program); versions before 2021 leave a rank's own block out."""
    share = (ranks - 1) / ranks
    of_buses = {"allreduce": (2 * share,), "allgather": (share,), "reduce_scatter_block": (share,), "broadcast": (1,), "reduce": (1,), "sendrecv": (1,),
                "alltoall": (share, 1, 1 / ranks, 1 / max(ranks - 1, 1)), "gather": (share, 1), "scatter": (share, 1)}
    if operation not in of_buses:
        return
    of_algorithm = (1.0,) if operation in OF_ONE_BUFFER else (1, share, 1 / ranks)
    for name, factors in (("algbw", of_algorithm), ("busbw", of_buses[operation])):
        if not follows(values[name], size, values["time"], factors):
            raise refuse(path, line, f"{name} {values[name]} GB/s is not that of {size} B in {values['time']} us by {operation} of {ranks} ranks; is the line damaged, or --operation or --ranks another?")


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
        self.errors: list[tuple[float, Row]] = []  # the column of old versions: by how much values were wrong
        self.part: list[str] = []  # of the columns of one kind of buffers
        self.stamped = self.blocking = False

    def read(self, source: Source) -> list[Table]:
        for line, content in source.lines(self.path, NAMES):
            if VERSION.match(content) or (STARTING.match(content) and self.program) or (SETTINGS.match(content) and self.first):
                self.clear()
            self.take(line, content)
        require_rows(self.path, self.tables)
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
        elif (found := FOOTER.match(text)) and self.first:
            self.footer(line, int(found[1]), found[2] == "FAILED")
        elif NAMES.match(text):
            self.names(line, text.lstrip("# ").split())
            self.first_time_ends = text.index(" time") + len(" time")
        elif self.first and LIKE_A_ROW.match(text):
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
        table = self.tables[-1]
        ranks = table.ranks or 1
        check_size(self.path, line, self.operation, size, whole(self.path, line, "count", words[1]), words[2], ranks)
        rest = words[3:last]  # redop and root, of which some versions leave out those that an operation has not
        roots = [word for word in rest if re.fullmatch(r"-?\d+", word)]
        reductions = [word for word in rest if re.fullmatch(r"[A-Za-z]\w*", word)]
        if len(roots) > 1 or len(reductions) > 1 or len(roots) + len(reductions) < len(rest):
            raise refuse(self.path, line, f"'{' '.join(rest)}' is no reduction and root; is the line cut off or mixed with another?")
        what = parameters(words[2], "".join(reductions), "".join(roots))
        parts, errors = [], []
        for index in range(self.parts):
            values = dict(zip(self.part, words[last + index * len(self.part):]))
            if all(values[name] == ABSENT for name in FEWEST):  # this kind of buffers was not measured
                continue
            parts.append((("off", "on")[index], part_of(self.path, line, self.operation, size, ranks, values)))
            if self.iterations is not None:
                parts[-1][1]["time_ns"]["samples"] = self.iterations
            errors.append(values.get("error", ABSENT))
        found = cells(line, self.operation, size, ranks, what, parts, memory_of(self.devices))
        table.rows += found
        self.errors += [(error_of(self.path, line, error), row) for error, row in zip(errors, found) if error != ABSENT]

    def footer(self, line: int, wrong: int, failed: bool) -> None:
        """Versions before 2022 say by how much values are wrong, and only here whether that is too much: those that differ most."""
        rows = self.tables[-1].rows
        if failed and self.errors:
            limit = sorted((error for error, _ in self.errors), reverse=True)[: max(wrong, 1)][-1]
            for error, row in self.errors:
                row.validation = "failed" if error >= limit and error > 0 else "passed"
        elif self.errors:
            for _, row in self.errors:
                row.validation = "passed"
        if failed and rows and not any(row.validation == "failed" for row in rows):
            raise refuse(self.path, line, f"{wrong} values were out of bounds, but no row above says so; convert an unbroken output")
        self.errors = []


def part_of(path: Path, line: int, operation: str, size: int, ranks: int, values: dict[str, str]) -> dict[str, Any]:
    """values: by the names of the text's columns."""
    def value(name: str) -> float:
        return number(path, line, name, values[name])

    time: dict[str, Any] = {"mean": ns(measured(path, line, "time", values["time"]))}
    bandwidth = rates(value("algbw"), value("busbw"))
    check_rates(path, line, operation, size, ranks, values)
    for name, field in (("i_min", "min"), ("i_max", "max")):
        if name in values:
            time[field] = ns(value(name))
    if "i_p99" in values:
        time["percentiles"] = {"99": ns(value("i_p99"))}
    in_order(path, line, {name: values[name] for name in ("i_min", "i_p99", "i_max") if name in values})
    checked = "" if values.get("#wrong", ABSENT) == ABSENT else "passed" if value("#wrong") == 0 else "failed"
    return {"time_ns": time, "validation": checked, "bandwidth": bandwidth}


def error_of(path: Path, line: int, text: str) -> float:
    """NaN and infinity are wrong values, too."""
    return math.inf if text.lower().lstrip("+-") in ("nan", "inf") else number(path, line, "error", text)


def read_json(path: Path, text: str, given: Given) -> Table:
    document = json_of(path, text)
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
    for index, result in enumerate(document["results"]):
        size = of_json(path, f"results[{index}].size", result["size"], bytes_only=True)
        check_size(path, 0, operation, size, of_json(path, f"results[{index}].count", result["count"], bytes_only=True), result["type"], ranks)
        parts = []
        for place, name in (("off", "out_of_place"), ("on", "in_place")):
            if result.get(name):
                parts.append((place, of_json_part(path, f"results[{index}]", name, result, config)))
                check_rates(path, 0, operation, size, ranks, {short: repr(result[name][long]) for short, long in (("time", "time"), ("algbw", "alg_bw"), ("busbw", "bus_bw"))})
        what = parameters(result["type"], result["redop"], str(result["root"]).strip())
        table.rows += cells(0, operation, size, ranks, what, parts, memory_of(names))
    if not table.rows:
        raise refuse(path, 0, "holds no result; convert an unbroken output")
    footer = document.get("out_of_bounds") or {}
    if footer.get("okay") == "false" and not any(row.validation == "failed" for row in table.rows):
        raise refuse(path, 0, f"out_of_bounds.count is {footer.get('count')}, but no result says so; convert an unbroken output")
    return table


def of_json(path: Path, field: str, value: Any, bytes_only: bool = False) -> Any:
    """A number of the document; refused with its field."""
    if type(value) not in ((int,) if bytes_only else (int, float)) or not 0 <= value < LARGEST:
        raise refuse(path, 0, f"{field} is {value!r:.40}, which is no {'whole number' if bytes_only else 'time or rate'}; leave this result out")
    return value


def of_json_part(path: Path, where: str, name: str, result: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    part = result[name]
    if "time" not in part:
        raise refuse(path, 0, "has 'cpu_time' (-C), the time to start a call and not that of the operation; convert a run without -C")
    mean, algorithm, bus = (of_json(path, f"{where}.{name}.{field}", part[field]) for field in ("time", "alg_bw", "bus_bw"))
    if mean == 0:
        raise refuse(path, 0, f"{where}.{name}.time is 0, which is nothing that was measured; leave this result out")
    time: dict[str, Any] = {"mean": ns(mean), "samples": of_json(path, f"{where}.actual_iterations", result.get("actual_iterations", config["iterations"]), bytes_only=True)}
    if more := result.get(f"{name}_per_iter"):
        fields = {each: of_json(path, f"{where}.{name}_per_iter.{each}", more[each]) for each in ("min_us", "p50_us", "p95_us", "p99_us", "max_us")}
        in_order(path, 0, {each: repr(value) for each, value in fields.items()})
        time |= {"min": ns(fields["min_us"]), "max": ns(fields["max_us"]), "percentiles": {each: ns(fields[f"p{each}_us"]) for each in ("50", "95", "99")}}
    wrong = part.get("nwrong")
    if wrong is not None:
        of_json(path, f"{where}.{name}.nwrong", wrong)
    return {"time_ns": time, "validation": "" if wrong is None else "passed" if wrong == 0 else "failed",
            "bandwidth": rates(float(algorithm), float(bus))}
