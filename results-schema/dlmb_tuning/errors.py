# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a table. Codes are those of dlmb_tuning.h."""

from __future__ import annotations

IO, SYNTAX, SCHEMA, SYSTEM = -1, -2, -3, -4


class TableError(ValueError):
    """One line: what is wrong, where, and what to do."""

    def __init__(self, code: int, what: str) -> None:
        super().__init__(what)
        self.code = code


def schema_error(path: str, why: str) -> TableError:
    return TableError(SCHEMA, f"{path}: {why}")
