# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How to launch here: a machine file. Without one everything is found out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.sweep import toml_file
from dlmb_launch.sweep.faults import UsageError
from dlmb_launch.sweep.toml_file import Table

LAUNCHERS = ("auto", "mpirun", "mpiexec", "srun")
BINDINGS = ("core", "numa", "none")


@dataclass(frozen=True)
class Machine:
    launcher: str = "auto"
    arguments: tuple[str, ...] = ()  # of the launcher
    bind: str = "core"
    oversubscribe: bool = False  # more ranks than cores on a node: for trying things out, never for numbers
    build: str = ""  # folder of the programs
    variables: tuple[tuple[str, str], ...] = ()


def read(path: Path | None) -> Machine:
    if path is None:
        return Machine()
    table = Table(toml_file.read(path), str(path))
    oversubscribe = table.take("oversubscribe", bool, False)
    machine = Machine(
        launcher=_one_of(table, "launcher", LAUNCHERS, "auto"),
        arguments=tuple(map(str, table.take("arguments", list, []))),
        bind=_one_of(table, "bind", BINDINGS, "none" if oversubscribe else "core"),
        oversubscribe=oversubscribe,
        build=table.take("build", str, ""),
        variables=tuple(table.texts("set").items()),
    )
    table.done()
    return machine


def _one_of(table: Table, key: str, values: tuple[str, ...], default: str) -> str:
    value = table.take(key, str, default)
    if value not in values:
        raise UsageError(f"{table.place}: {key} is one of {', '.join(values)}, not '{value}'")
    return value
