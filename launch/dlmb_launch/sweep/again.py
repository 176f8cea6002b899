# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The part of a sweep that measures the cells of a list (rerun.json of dlmb_compare) again.

A program has no option that names one cell, so this is the smallest set of launches that holds them all: programs and worlds that
occur in the list, with the backends, memories and presets that do. dlmb_compare --confirm looks at the cells of the list alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dlmb_launch.sweep.faults import UsageError
from dlmb_launch.sweep.sweep_file import Program, Sweep, World
from dlmb_results.fields import load_json
from dlmb_results.inputs import read_document

SCHEMA = "dlmb.rerun/1."
NARROWED = ("backend", "memory", "preset")  # options that are parts of a cell_id under the same name


@dataclass(frozen=True)
class Wanted:
    pattern: str
    parts: dict[str, str]  # of the cell_id; those behind the end of one that was cut are missing

    def may_be(self, world: World) -> bool:
        return self.parts.get("ranks", str(world.ranks)) == str(world.ranks)


def only(sweep: Sweep, path: Path) -> Sweep:
    wanted = read(path)
    programs = [narrowed(program, wanted) for program in sweep.programs if any(cell.pattern == program.program for cell in wanted)]
    worlds = [world for world in sweep.worlds if any(cell.may_be(world) for cell in wanted)]
    known = {program.program for program in sweep.programs}
    if missing := sorted({cell.pattern for cell in wanted} - known):
        raise UsageError(f"{path}: names cells of {', '.join(missing)}, which the sweep does not measure")
    if not programs or not worlds:
        raise UsageError(f"{path}: names no cell that the sweep measures")
    return replace(sweep, programs=tuple(programs), worlds=tuple(worlds))


def read(path: Path) -> list[Wanted]:
    try:
        value = load_json(read_document(path))
        if not value["schema"].startswith(SCHEMA):
            raise UsageError(f"{path}: schema '{value['schema']}', this program reads {SCHEMA}x")
        return [Wanted(cell["pattern"], parts_of(cell["cell_id"])) for cell in value["cells"]]
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path}: not a list of cells as dlmb_compare --rerun writes it") from None


def parts_of(cell_id: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in cell_id.split("/") if "=" in part)


def narrowed(program: Program, wanted: list[Wanted]) -> Program:
    mine = [cell for cell in wanted if cell.pattern == program.program]
    arguments = list(program.arguments)
    for option in NARROWED:
        values = {cell.parts.get(option, "") for cell in mine}
        if values and "" not in values:
            arguments = replaced(arguments, f"--{option}", ",".join(sorted(values)))
    return replace(program, arguments=tuple(arguments))


def replaced(arguments: list[str], option: str, value: str) -> list[str]:
    if option not in arguments:
        return [*arguments, option, value]
    at = arguments.index(option) + 1
    return [*arguments[:at], value, *arguments[at + 1 :]]
