# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The list of cells to measure again: dlmb_compare --rerun writes it, dlmb_sweep --again measures them, dlmb_compare --confirm decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dlmb_results.fields import is_version
from dlmb_results.files import read_json
from dlmb_results.program import UsageError

SCHEMA = "dlmb.rerun/1.0"
WHAT = "a list of cells to measure again, as dlmb_compare --rerun writes it"


class Doubtful(NamedTuple):
    cell_id: str
    pattern: str
    state: str


@dataclass(frozen=True)
class Rerun:
    metric: str
    launches: frozenset[str]  # of the first look
    cells: tuple[Doubtful, ...]


def document(metric: str, launches: Iterable[str], cells: Iterable[Doubtful]) -> dict[str, Any]:
    return {"schema": SCHEMA, "metric": metric, "launches": list(launches), "cells": [cell._asdict() for cell in cells]}


def read(path: Path) -> Rerun:
    value = read_json(path, WHAT)
    try:
        if not is_version(value["schema"], "dlmb.rerun/1"):
            raise UsageError(f"{path}: schema '{value['schema']}', this program reads {SCHEMA}")
        cells = tuple(Doubtful(str(cell["cell_id"]), str(cell["pattern"]), str(cell.get("state", ""))) for cell in value["cells"])
        return Rerun(value["metric"], frozenset(value["launches"]), cells)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path}: not {WHAT}") from None
