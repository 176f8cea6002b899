# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's process group `dlmb`: collectives over MPI and UCX, each by the method that a DLMB tuning table chooses.

    import dlmb_torch
    dlmb_torch.init_process_group(table="table.json")      # under mpirun or srun
    ...
    torch.distributed.destroy_process_group()
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
from datetime import timedelta
from typing import Any, Optional, Union

import torch  # its libraries have to be there before those of native
import torch.distributed as dist

from . import native

__all__ = ["init_process_group", "report"]

_runtime: Optional[native.Runtime] = None


def init_process_group(table: Union[str, os.PathLike, None] = None, timeout: timedelta = timedelta(minutes=30), **more: Any) -> None:
    """torch.distributed.init_process_group("dlmb") with the ranks of MPI. Without a table the MPI library decides everything.
    All processes call it, with the same table. Raises ValueError for one that is not valid."""
    runtime = _start(table)
    if "store" not in more and "init_method" not in more:
        more["store"] = _store(runtime, timeout)
    dist.init_process_group("dlmb", rank=more.pop("rank", runtime.rank), world_size=more.pop("world_size", runtime.size), timeout=timeout, **more)


def report() -> list[dict[str, Any]]:
    """What this process did so far, one entry per operation and size: operation, bytes (as a table counts them), ranks, backend
    (mpi or ucx), method, rule (empty: none, the library's default), why_not (why what the table chose cannot be done here), calls."""
    return _runtime.report() if _runtime else []


def _start(table: Union[str, os.PathLike, None] = None) -> native.Runtime:
    global _runtime
    if _runtime is None:
        try:
            _runtime = native.Runtime(os.fspath(table) if table is not None else "")
        except RuntimeError as error:
            raise ValueError(str(error)) from None
        atexit.register(_close)
        if _runtime.rank == 0 and _runtime.note:
            print(_runtime.note, file=sys.stderr, flush=True)
    elif table is not None:
        raise ValueError("dlmb_torch: the table is chosen by the first process group of a process")
    return _runtime


def _store(runtime: native.Runtime, timeout: timedelta) -> dist.Store:
    """Rank 0 listens on a port that the system picks; the others learn of it by MPI."""
    if runtime.rank == 0:
        host = socket.gethostname() if runtime.size > 1 else "localhost"
        store = dist.TCPStore(host, 0, None, True, timeout, wait_for_workers=False)
        runtime.broadcast(f"{host} {store.port}")
        return store
    host, port = runtime.broadcast("").split()
    return dist.TCPStore(host, int(port), None, False, timeout, wait_for_workers=False)


def _close() -> None:
    """After an uncaught exception MPI is left as it is: the launcher then ends the processes that wait for this one."""
    failed = getattr(sys, "last_value", None) is not None
    if _runtime is not None:
        sys.stdout.flush()
        _runtime.close(failed)


def _create(store: dist.Store, rank: int, size: int, timeout: timedelta) -> Any:
    return _start().make_group(store, rank, size, timeout)


try:
    dist.Backend.register_backend("dlmb", _create, devices=["cpu"])
except TypeError:  # PyTorch 1.13
    dist.Backend.register_backend("dlmb", _create)
