# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads DLMB tuning tables: which backend, method and algorithm was measured to be best for an operation.

The same answers as libdlmb_tuning (dlmb_tuning.h), with nothing but the standard library:

    table = dlmb_tuning.open_table("table.json")
    choice = table.lookup("allreduce", bytes=65536, ranks=4, nodes=1, memory="host", backend="mpi")
    print(choice.algorithm if choice else "default")
"""

from .fields import TableError
from .table import Choice, Table, open_table, table_from

__all__ = ["Choice", "Table", "TableError", "open_table", "table_from"]
