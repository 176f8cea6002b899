# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The points that are tuned, in the words of dlmb_collective: one operation at one size, and how often programs use it; and the consumers whose
files can be made, so what has to be measured for them.

How long the library's own choice takes in all for each operation and size is what a tuning can save of. A plan is what the programs of
patterns print with --plan jsonl, a folder of plans has iterations; a preset is named PROGRAM:PRESET and printed the same way.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dlmb_results.plans import read_plans
from dlmb_results.program import UsageError

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
REDUCING = ("allreduce", "reduce_scatter_block")
FLOAT_BYTES = 4  # fp32, the default of dlmb_collective
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LARGEST_BYTES = 1 << 30


@dataclass(frozen=True, order=True)
class Point:
    operation: str
    size: int  # bytes, as --message-size counts

    def table_bytes(self, ranks: int) -> int:
        """As tables and plain MPI programs count: what all ranks have together where one rank has a part. dlmb_collective rounds that of a
        reduce_scatter up to whole elements for each rank."""
        if self.operation in _PER_RANK:
            return self.size * ranks
        unit = FLOAT_BYTES * ranks if self.operation == "reduce_scatter_block" else 1
        return -(-self.size // unit) * unit

    def whole(self, ranks: int) -> Point:
        """The size that is measured in its place."""
        return from_table_bytes(self.operation, self.table_bytes(ranks), ranks)


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


_OPEN_MPI_FILES = ("OMPI_MCA_coll_tuned_dynamic_rules_filename", "OMPI_MCA_coll_han_dynamic_rules_filename")
_COLLECTIVES = ("allreduce", "allgather", "reduce_scatter_block", "broadcast", "alltoall")


@dataclass(frozen=True)
class Consumer:
    name: str  # as `dlmb_tune export --to`
    backend: str  # that measures for it; several consumers may share one
    operations: tuple[str, ...]
    library: str = ""  # how its MPI library calls itself
    methods: tuple[str, ...] = ()  # what competes; empty: what the backend offers
    variables: tuple[str, ...] = ()  # by which its env.sh names files and choices

    def competes(self, operation: str, method: str) -> bool:
        """True: a file of this consumer can say the method. A file of MPI says algorithms of the operation's own call."""
        if self.methods:
            return method in self.methods
        if self.backend == "mpi":
            return method.startswith(f"algorithm:{OPERATIONS[operation][1]}=")
        return True

    def standard(self, operation: str) -> str:
        """The method that others are compared with: what a program has without the files."""
        return "alltoall" if self.backend == "mpi" and operation == "alltoall" else "default"


CONSUMERS = {
    consumer.name: consumer
    for consumer in (
        Consumer("openmpi", "mpi", _COLLECTIVES, library="Open MPI", variables=_OPEN_MPI_FILES),
        Consumer("mpich", "mpi", _COLLECTIVES, library="MPICH", variables=("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",)),
        Consumer("ucx", "ucx", ("sendrecv",), methods=("linear:rndv_thresh=inf", "linear:rndv_thresh=1"), variables=("UCX_CONFIG_DIR",)),
        Consumer("ucc", "ucc", _COLLECTIVES, variables=("UCC_CONFIG_FILE", "UCC_TL_UCP_TUNE")),
        Consumer("nccl", "nccl", ("allreduce", "allgather", "reduce_scatter_block", "broadcast"), variables=("DLMB_NCCL_TABLE",)),
    )
}


def why_not(consumer: Consumer, info: dict[str, Any]) -> str:
    """Why nothing can be measured for it here, by what `dlmb_info --json` says; empty: it can."""
    library = info["machine"].get("mpi_library", "")
    if consumer.library and consumer.library not in library:
        return f"the programs were built with {library.split(',')[0] or 'no MPI'}"
    backend = next((each for each in info["backends"] if each["name"] == consumer.backend), None)
    if backend is None or not backend["usable"]:
        return backend["reason"] if backend else f"this build knows no backend {consumer.backend}"
    return ""


def chosen(words: str | None, info: dict[str, Any]) -> list[Consumer]:
    """The consumers that --for names; without it the MPI library of the programs, which plain programs here run with."""
    if words is None:
        found = [each for each in CONSUMERS.values() if each.library and not why_not(each, info)]
        if not found:
            raise UsageError("--for: name a consumer; the programs run with neither Open MPI nor MPICH")
        return found
    for word in words.split(","):
        if word not in CONSUMERS:
            raise UsageError(f"--for: '{word}' is none of {', '.join(CONSUMERS)}")
    return [CONSUMERS[word] for word in dict.fromkeys(words.split(","))]


def require_unset(consumers: Iterable[Consumer], environment: Mapping[str, str]) -> None:
    """An export that is in effect would be measured as the library's own choice."""
    found = [name for consumer in consumers for name in consumer.variables if name in environment]
    if found:
        raise UsageError(f"{found[0]} is set, so the library's own choice is not what would be measured: unset {' '.join(found)}")


_SECONDS = 120  # to print a plan


def use_of(workload: str, ranks: int, programs: Path) -> dict[Point, float]:
    """Calls per iteration of each operation at each size: a call counts at the powers of two on both sides of its size, so that a doubling grid
    has them."""
    path = Path(workload)
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
        if not files:
            raise UsageError(f"--workload {workload}: has no plan in it (*.jsonl)")
        return _mean(files, ranks)
    if path.is_file():
        return _mean([path], ranks)
    program, colon, preset = workload.partition(":")
    path = programs / f"dlmb_{program.removeprefix('dlmb_')}"
    if not colon or not path.is_file():
        raise UsageError(f"--workload {workload}: is no file, and no PROGRAM:PRESET of {programs}, as tp_allreduce:gpt-19m")
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.jsonl"
        with plan.open("wb") as file:
            command = [str(path), "--preset", preset, "--ranks", str(ranks), "--plan", "jsonl"]
            try:
                done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, timeout=_SECONDS, check=False)
            except subprocess.TimeoutExpired:
                raise UsageError(f"--workload {workload}: its plan took longer than {_SECONDS} s") from None
        if done.returncode != 0:
            raise UsageError(f"--workload {workload}: {done.stderr.strip() or 'it makes no plan'}")
        return _mean([plan], ranks)


def _mean(paths: list[Path], ranks: int) -> dict[Point, float]:
    """Over all iterations in the files."""
    iterations = []
    for path in paths:
        try:
            for plan in read_plans(path):
                if plan["world"]["ranks"] != ranks:
                    raise UsageError(f"{path}: is a plan of {plan['world']['ranks']} ranks; give --ranks {plan['world']['ranks']}, or another plan")
                iterations.append(_of_steps(plan["plans"][0]["steps"], ranks))
        except UsageError as error:
            raise UsageError(f"--workload {error}") from None
        except (ValueError, LookupError, TypeError):
            raise UsageError(f"--workload {path}: is not what --plan jsonl prints") from None
    mean: Counter[Point] = Counter()
    for calls in iterations:
        mean.update({point: count / len(iterations) for point, count in calls.items()})
    return dict(mean)


def _of_steps(steps: list[dict], ranks: int) -> dict[Point, float]:
    """The calls of one rank at each point: what a table chooses for is the same on all. Steps of a part of the ranks are left out, as are
    exchanges of unequal blocks, for which MPI libraries choose without their size, and calls with shares: a vector form is another call."""
    names = {table: operation for operation, (table, plain) in OPERATIONS.items() if plain}
    calls: Counter[Point] = Counter()
    for step in steps:
        operation, sent = names.get(step["operation"]), [message["bytes"] for message in step.get("send", [])]
        if operation is None or "shares" in step or len(step["group"]) != ranks or (operation == "alltoall" and len(set(sent)) != 1):
            continue
        size = from_table_bytes(operation, sum(sent) if operation == "alltoall" else step["bytes"], ranks).size
        below = 1 << max(size.bit_length() - 1, 3)
        for near in {below, below if size <= below else 2 * below}:
            calls[Point(operation, near).whole(ranks)] += 1
    return dict(calls)
