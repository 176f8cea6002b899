# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose files can be made: what each consumer of a table lets one choose, and so what has to be measured for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dlmb_launch.autotune.points import OPERATIONS
from dlmb_launch.sweep.faults import UsageError

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


def require_unset(consumers: Iterable[Consumer], environment: Mapping[str, str]) -> None:
    """An export that is in effect would be measured as the library's own choice."""
    found = [name for consumer in consumers for name in consumer.variables if name in environment]
    if found:
        raise UsageError(f"{found[0]} is set, so the library's own choice is not what would be measured: unset {' '.join(found)}")
