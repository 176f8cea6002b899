# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""An allreduce by a ring of its own where a tuning table says so, and by MPI elsewhere.
Without a table everything is left to MPI. Needs mpi4py, numpy and DLMB's reader of tables (pip install . in DLMB's folder).

    mpirun -np 4 python3 tuned_allreduce.py results-schema/examples/tuning-table.json
"""

from __future__ import annotations

import sys

import dlmb_tuning
import numpy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def open_table(path: str) -> dlmb_tuning.Table | None:
    """A rank without the table would choose differently from the others and hang: all use it or none does."""
    table = None
    try:
        table = dlmb_tuning.open_table(path)
    except dlmb_tuning.TableError as error:
        print(f"rank {WORLD.rank}: the table cannot be used: {error}", file=sys.stderr)
    return table if WORLD.allreduce(table is not None, MPI.LAND) else None


def ring(data: numpy.ndarray) -> None:
    """Sums in size - 1 steps, then hands the sums on in as many. The size of `data` is a multiple of the ranks."""
    parts = data.reshape(WORLD.size, -1)  # a view
    incoming = numpy.empty_like(parts[0])
    for step in range(2 * (WORLD.size - 1)):
        out, into = parts[(WORLD.rank - step) % WORLD.size], parts[(WORLD.rank - step - 1) % WORLD.size]
        WORLD.Sendrecv(out, (WORLD.rank + 1) % WORLD.size, recvbuf=incoming, source=(WORLD.rank - 1) % WORLD.size)
        into[:] = into + incoming if step < WORLD.size - 1 else incoming


def allreduce(table: dlmb_tuning.Table | None, nodes: int, data: numpy.ndarray) -> str:
    """Returns the name of what was used."""
    choice = table and table.lookup("allreduce", bytes=data.nbytes, ranks=WORLD.size, nodes=nodes, memory="host", dtype="fp32",
                                    reduction="sum", in_place=True, backend="mpi")  # the best inside MPI
    if choice and choice.algorithm == "ring" and data.size % WORLD.size == 0:
        ring(data)
        return "ring"
    WORLD.Allreduce(MPI.IN_PLACE, data)
    return "default"


def main() -> int:
    table = open_table(sys.argv[1] if len(sys.argv) > 1 else "table.json")
    nodes = WORLD.allreduce(int(WORLD.Split_type(MPI.COMM_TYPE_SHARED).rank == 0))  # ranks of one node share memory
    wrong = 0
    for count in (64, 65536):
        numbers = numpy.arange(count, dtype=numpy.float32) % 7
        data = numbers + numpy.float32(WORLD.rank)
        used = allreduce(table, nodes, data)
        wrong += int(numpy.count_nonzero(data != WORLD.size * numbers + WORLD.size * (WORLD.size - 1) // 2))
        if WORLD.rank == 0:
            print(f"{count} floats: {used}")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
