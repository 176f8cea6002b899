# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The formats that are read. A new one is a module with `looks_like` and `read`, a row here, and a row in docs/converting.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dlmb_launch.convert import comms_logger, nccl, osu, pico, ucc
from dlmb_launch.convert.measured import ConvertError, Given, Table, refuse


class Format(NamedTuple):
    what: str
    looks_like: Callable[[str], bool]
    read: Callable[[Path, str, Given], list[Table]]


FORMATS = {
    "osu": Format("text of OSU Micro-Benchmarks", osu.looks_like, osu.read),
    "nccl": Format("text or JSON (-J) of nccl-tests", nccl.looks_like, nccl.read),
    "ucc_perftest": Format("text of ucc_perftest", ucc.looks_like, ucc.read),
    "pico": Format("table of PICO (CSV)", pico.looks_like, pico.read),
    "comms_logger": Format("comms_dict of DeepSpeed's or MCR-DL's logger (JSON)", comms_logger.looks_like, comms_logger.read),
}


def read(path: Path, text: str, name: str, given: Given) -> list[Table]:
    """name: of the format; empty: found out."""
    if not name:
        name = next((each for each, form in FORMATS.items() if form.looks_like(text)), "")
    if not name:
        if '"dlmb.result/' in text[:200]:
            raise refuse(path, 1, "is a result file already; it needs no conversion")
        known = ", ".join(form.what for form in FORMATS.values())
        raise ConvertError(f"{path}: none of the known formats ({known}); give the whole output, or name its format by --from")
    try:
        tables = FORMATS[name].read(path, text, given)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise ConvertError(f"{path}: not {FORMATS[name].what}: {error}; is it damaged?") from None
    if given.only and name != "pico":
        raise ConvertError(f"{path}: --only chooses lines of a table with named columns, which {name} is not; convert it without")
    return tables
