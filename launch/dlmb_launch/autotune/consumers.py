# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose files can be made: what each consumer of a table lets one choose, and so what has to be measured for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dlmb_launch.autotune.points import OPERATIONS
from dlmb_launch.sweep.faults import UsageError

_COLLECTIVES = ("allreduce", "allgather", "reduce_scatter_block", "broadcast", "alltoall")


@dataclass(frozen=True)
class Consumer:
    name: str  # as `dlmb_tune export --to`
    backend: str  # that measures for it; several consumers may share one
    memory: str
    operations: tuple[str, ...]
    library: str = ""  # how its MPI library calls itself
    methods: tuple[str, ...] = ()  # what competes; empty: what the backend offers

    def competes(self, operation: str, method: str) -> bool:
        """Whether a file of this consumer can say the method. Of MPI: an algorithm of the operation's own call."""
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
        Consumer("openmpi", "mpi", "host", _COLLECTIVES, library="Open MPI"),
        Consumer("mpich", "mpi", "host", _COLLECTIVES, library="MPICH"),
        Consumer("ucx", "ucx", "host", ("sendrecv",), methods=("linear:rndv_thresh=inf", "linear:rndv_thresh=1")),
        Consumer("ucc", "ucc", "host", _COLLECTIVES),
        Consumer("nccl", "nccl", "cuda", ("allreduce", "allgather", "reduce_scatter_block", "broadcast")),
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
    """Those that --for names; without it the MPI library of the programs, which plain programs here run with."""
    if words is None:
        found = [each for each in CONSUMERS.values() if each.library and not why_not(each, info)]
        if not found:
            raise UsageError("--for: name a consumer; the programs run with neither Open MPI nor MPICH")
        return found
    for word in words.split(","):
        if word not in CONSUMERS:
            raise UsageError(f"--for: '{word}' is none of {', '.join(CONSUMERS)}")
    return [CONSUMERS[word] for word in dict.fromkeys(words.split(","))]
