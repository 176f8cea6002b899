# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the text of OSU Micro-Benchmarks: a title, remarks, a line of column names, rows. A file may hold several tables, and lines of
launchers and libraries between them.
"""

from __future__ import annotations

import re
from pathlib import Path

from dlmb_launch.convert.measured import LIKE_A_ROW, MB_PER_GB, Given, Row, Source, Table, bounds, element, in_order, measured, ns, number, rates, refuse, whole

SUITE = "osu"
TITLE = re.compile(r"^\s*#?\s*OSU (?P<library>MPI|[A-Z]*CCL)(?P<call>_\w+)?(?P<accelerator>-[A-Z ]+?)? (?P<name>.*?)\s*Test v(?P<version>\S+)\s*$")
COLUMN = re.compile(
    r"Size|Avg Latency ?\(us\)|Min Latency ?\(us\)|Max Latency ?\(us\)|Latency ?\(us\)|Iterations|Validation|P\d+ Tail Lat ?\(us\)"
    r"|P\d+ Tail BW ?\(MB/s\)|Bandwidth ?\(MB/s\)|Messages/s|MB/s|Transmit Size|Overall ?\(us\)|Compute ?\(us\)|Coll\. Init ?\(us\)"
    r"|MPI_Test ?\(us\)|MPI_Wait ?\(us\)|Pure Comm\. ?\(us\)|Min Comm\. ?\(us\)|Max Comm\. ?\(us\)|Overlap ?\(%\)"
)
TIMES = ("Avg Latency", "Latency", "Pure Comm.")  # one of them is the time of the operation
FASTEST, SLOWEST = ("Min Latency", "Min Comm."), ("Max Latency", "Max Comm.")
BANDWIDTHS = ("Bandwidth", "MB/s")
OVERLAP = {"Overall": "overall_us", "Compute": "compute_us", "Overlap": "overlap_percent"}
PAIRS = re.compile(r"\[ pairs: (\d+) \](?: \[ window size: (\d+) \])?")
DATATYPE = re.compile(r"# Datatype: (\S+?)\.?\s*$")
BUFFERS = re.compile(r"(?:Send Buffer|Rank 0 Memory) on (\w+).* and (?:Receive Buffer|Rank 1 Memory) on (\w+)")

OPERATIONS = {
    "all-to-all personalized exchange": "alltoall", "all-to-allv personalized exchange": "alltoallv", "all-to-allw personalized exchange": "alltoallw",
    "all-to-all": "alltoall", "all-to-allv": "alltoallv", "all-to-allw": "alltoallw", "allgather": "allgather", "allgatherv": "allgatherv", "allreduce": "allreduce", "barrier": "barrier", "broadcast": "broadcast",
    "gather": "gather", "gatherv": "gatherv", "reduce": "reduce", "reduce_scatter": "reduce_scatter",
    "reduce_scatter_block": "reduce_scatter_block", "scatter": "scatter", "scatterv": "scatterv",
    "latency": "latency", "bandwidth": "bw", "bi-directional bandwidth": "bibw", "multi latency": "multi_lat", "multi-threaded latency": "latency_mt",
    "multi-process latency": "latency_mp", "multiple bandwidth / message rate": "mbw_mr",
}
# What dlmb_collective calls it, and the parameters that make it that.
OURS: dict[str, tuple[str, dict[str, str | int | float]]] = {
    "latency": ("sendrecv", {"route": "ping_pong", "channels": 1}), "multi_lat": ("sendrecv", {"route": "ping_pong", "channels": 1}),
    "bw": ("bandwidth", {}), "bibw": ("bibandwidth", {}), "mbw_mr": ("message_rate", {}),
}
OF_EQUAL_PARTS = ("alltoallv", "alltoallw", "allgatherv", "gatherv", "scatterv", "reduce_scatter")  # which need not have them
REDUCING = ("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block")  # by MPI_SUM
OF_TWO_RANKS = ("latency", "bw", "bibw", "latency_mt", "latency_mp")
VARIANTS = {"non-blocking ": "nonblocking", "persistent ": "persistent"}

BYTES_PER_MB = 1e6

AXIS = "over ranks, of each rank's mean over its calls"
PERCENTILE_AXIS = "over calls, of the mean over ranks"
PAIR_AXIS = "over calls"


def definition_of(between: str, over: str) -> str:
    return f"osu: each call timed by itself, {between} between calls, mean over {over}"


DEFINITION = definition_of("a barrier", "ranks of (done - enter)")
OF_MANY = "osu: half of a message there and back, of several threads or processes of two ranks, mean over calls"
# Of the programs that differ from it. A call of a pair is a message there and back, of a bandwidth a window and its answer.
ROUND_TRIP = definition_of("nothing", "the first ranks of pairs of (done - enter) / 2")
WINDOW = definition_of("nothing", "rank 0 of (done - enter)")
DEFINITIONS = {
    "barrier": definition_of("nothing", "ranks of (done - enter)"), "latency": ROUND_TRIP, "multi_lat": ROUND_TRIP, "bw": WINDOW, "bibw": WINDOW,
    "mbw_mr": definition_of("two barriers", "the first ranks of pairs of (done - enter)"), "latency_mt": OF_MANY, "latency_mp": OF_MANY,
}
ONE_SIDED = "osu: a one-sided call with its synchronisation, nothing between calls, mean over the calls of the origin"


def looks_like(source: Source) -> bool:
    return source.has(TITLE)


def read(path: Path, source: Source, given: Given) -> list[Table]:
    reader = Reader(path, given)
    for line, content in source.lines(path, TITLE):
        reader.take(line, content)
    return reader.finish()


class Reader:
    def __init__(self, path: Path, given: Given) -> None:
        self.path = path
        self.given = given
        self.tables: list[Table] = []
        self.columns: list[str] = []  # of the table that is read; empty: its line of names has not come yet
        self.operation = self.method = self.backend = self.memory = self.accelerator = ""
        self.parameters: dict[str, str | int | float] = {}
        self.pairs = 1

    def take(self, line: int, text: str) -> None:
        if title := TITLE.match(text):
            self.begin(line, title)
        elif not self.tables:
            return
        elif pairs := PAIRS.search(text):
            self.pairs = whole(self.path, line, "pairs", pairs[1])
            if self.pairs == 0:
                raise refuse(self.path, line, "a table of 0 pairs; convert the output of a run with one pair or more")
            self.tables[-1].ranks = 2 * self.pairs
            self.parameters |= {"pairs": "all"} | ({"window": whole(self.path, line, "window size", pairs[2])} if pairs[2] else {})
        elif kind := DATATYPE.match(text):
            self.parameters["element"] = element(kind[1])
        elif (buffers := BUFFERS.search(text)) and self.accelerator:
            self.memory = self.memory_of(buffers[1].upper(), buffers[2].upper())
        elif not self.columns:
            self.columns = self.names(text)
        elif LIKE_A_ROW.match(text):
            self.row(line, text.split())

    def begin(self, line: int, title: re.Match[str]) -> None:
        name = " ".join(title["name"].lower().split())
        self.method = next((method for word, method in VARIANTS.items() if name.startswith(word)), "default")
        for word in VARIANTS:
            name = name.removeprefix(word)
        plain = name.removesuffix(" latency")
        self.operation = OPERATIONS.get(name) or OPERATIONS.get(plain) or re.sub(r"\W+", "_", plain)
        if title["call"]:  # one-sided: MPI_Put, MPI_Get, ...
            self.operation = f"{title['call'].lower().strip('_')}_{self.operation}"
        self.accelerator = (title["accelerator"] or "").lstrip("-").lower()
        self.memory = "managed" if "managed" in self.accelerator else self.accelerator or "host"
        self.columns = []
        self.parameters = {"reduction": "sum"} if self.operation in REDUCING else {}
        if self.operation in OF_EQUAL_PARTS:
            self.parameters["skew"] = "balanced"
        self.pairs = 1
        two = self.operation in OF_TWO_RANKS or bool(title["call"])
        self.backend = title["library"].lower()
        of_pairs = two or self.operation == "multi_lat"
        self.tables.append(Table(
            suite=SUITE, program=f"osu_{self.program()}", line=line, version=title["version"], ranks=2 if two else self.given.ranks,
            mode=SUITE, definition=ONE_SIDED if title["call"] else DEFINITIONS.get(self.operation, DEFINITION), axis=PAIR_AXIS if of_pairs else AXIS, percentile_axis="" if of_pairs else PERCENTILE_AXIS,
            ranks_per_node=self.given.ranks_per_node or 0))

    def program(self) -> str:
        mpi = {"broadcast": "bcast"}.get(self.operation, self.operation)
        return {"nonblocking": "i"}.get(self.method, "") + mpi + {"persistent": "_persistent"}.get(self.method, "")

    def memory_of(self, one: str, other: str) -> str:
        kinds = [{"HOST": "host", "DEVICE": self.accelerator}.get(each, "managed") for each in (one, other)]
        return kinds[0] if kinds[0] == kinds[1] else "+".join(kinds)

    def names(self, text: str) -> list[str]:
        """Column names without units; empty: not the line of names."""
        bare = text.strip().lstrip("#")
        found = COLUMN.findall(bare)
        return [re.sub(r" ?\(.*", "", name) for name in found] if found and not COLUMN.sub("", bare).strip() else []

    def row(self, line: int, words: list[str]) -> None:
        if len(words) != len(self.columns):
            raise refuse(self.path, line, f"{len(words)} values for {len(self.columns)} columns ({', '.join(self.columns)}); remove the line if it is no row, or convert an unbroken output")
        values = dict(zip(self.columns, words))

        def value(*names: str) -> float | None:
            return next((number(self.path, line, name, values[name]) for name in names if name in values), None)

        table = self.tables[-1]
        size = whole(self.path, line, "Size", values["Size"]) if "Size" in values else None
        operation, parameters = OURS.get(self.operation, (self.operation, {}))
        method = self.method
        if (operation, method) == ("alltoallw", "default"):
            operation = "alltoallv"
            method = "alltoallw"
        found = Row(line, operation, size, parameters=self.parameters | parameters, method=method, memory=self.memory,
                    backend=self.backend, is_default=method == "default")
        if of_time := next((name for name in TIMES if name in values), ""):
            found.time_ns = {"mean": ns(measured(self.path, line, of_time, values[of_time]))}
            for field, names in (("fastest_rank", FASTEST), ("slowest_rank", SLOWEST)):
                if (one := value(*names)) is not None:
                    found.time_ns[field] = ns(one)
            if "Iterations" in values:
                found.time_ns["samples"] = whole(self.path, line, "Iterations", values["Iterations"])
            # DLMB prints N/A where samples are too few for a percentile.
            tails = {name[1:].split()[0]: ns(value(name) or 0) for name in values if name.endswith("Tail Lat") and values[name] != "N/A"}
            if tails:
                found.time_ns["percentiles"] = tails
            columns = [each for each in (next((name for name in names if name in values), "") for names in (FASTEST, (of_time,), SLOWEST)) if each]
            in_order(self.path, line, {name: values[name] for name in columns})
        elif of_rate := next((name for name in BANDWIDTHS if name in values), ""):
            rate = measured(self.path, line, of_rate, values[of_rate])
            found.bandwidth = self.bandwidth(rate / MB_PER_GB)
            if (messages := value("Messages/s")) is not None:
                self.check_messages(line, values[of_rate], values["Messages/s"], size)
                found.statistics["messages_per_s"] = messages
        else:
            raise refuse(self.path, line, f"no column with a time or a bandwidth among {', '.join(self.columns)}; convert another output of this program")
        found.statistics |= {field: value(name) or 0.0 for name, field in OVERLAP.items() if name in values}
        found.validation = {"pass": "passed", "fail": "failed"}.get(values.get("Validation", "").lower(), "")
        table.rows.append(found)

    def check_messages(self, line: int, rate: str, messages: str, size: int | None) -> None:
        (low, high), (fewest, most) = bounds(rate), bounds(messages)
        if size and not (fewest * size <= high * BYTES_PER_MB and low * BYTES_PER_MB <= most * size):
            raise refuse(self.path, line, f"{messages} messages of {size} B per second are not {rate} MB/s; is the line damaged?")

    def bandwidth(self, gbps: float) -> dict[str, float | None]:
        """OSU prints the sum over both directions (bibw) and over all pairs (mbw_mr); a rank's share is the same on all."""
        share = gbps / {"bibw": 2, "mbw_mr": self.pairs}.get(self.operation, 1)
        return rates(None, round(share, 9), round(gbps, 9))

    def finish(self) -> list[Table]:
        if not self.tables:
            raise refuse(self.path, 0, "no title '# OSU ... Test v...' in it; give the whole output of an OSU program")
        for table in self.tables:
            if not table.rows:
                raise refuse(self.path, table.line, f"{table.program} printed no row; remove this table, or convert an unbroken output")
            if table.ranks is None:
                raise refuse(self.path, table.line, f"{table.program} does not print its number of ranks; say it by --ranks N")
            if table.ranks_per_node > table.ranks:
                table.ranks_per_node = 0  # said of another table: one of pairs has a number of ranks of its own
        return self.tables
