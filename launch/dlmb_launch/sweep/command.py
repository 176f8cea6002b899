# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_sweep SWEEP.toml -o FOLDER [--machine MACHINE.toml] [--again RERUN.json]

Before anything starts, each program is asked whether it is there and takes its options: with --version behind all other options it checks
them, and measures nothing. A program has no option that names one cell, so --again measures the smallest set of launches that hold all
cells of the list: programs, worlds and environments that occur in it, with the backends, memories and presets that do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dlmb_launch.sweep import launchers, sweep_file
from dlmb_launch.sweep.driver import Driver
from dlmb_launch.sweep.launchers import Machine
from dlmb_launch.sweep.state import Folder
from dlmb_launch.sweep.sweep_file import Program, Sweep
from dlmb_results import program, rerun
from dlmb_results.arguments import Parser, unknown_name
from dlmb_results.names import parts_of
from dlmb_results.program import UsageError

NARROWED = ("backend", "memory", "preset")  # options that are parts of a cell_id under the same name


def only(sweep: Sweep, path: Path) -> Sweep:
    wanted: dict[str, list[dict[str, str]]] = {}  # by pattern the parts of cell ids; those behind the end of one that was cut are missing
    for cell in rerun.read(path).cells:
        wanted.setdefault(cell.pattern, []).append(parts_of(cell.cell_id))
    programs = [narrowed(program, wanted[program.program]) for program in sweep.programs if program.program in wanted]
    ranks, names = ({parts.get(key, "") for cells in wanted.values() for parts in cells} for key in ("ranks", "environment"))
    worlds = [world for world in sweep.worlds if {str(world.ranks), ""} & ranks]
    environments = [environment for environment in sweep.environments if {environment.name, ""} & names]
    if missing := sorted(set(wanted) - {program.program for program in sweep.programs}):
        raise UsageError(f"{path}: names cells of {', '.join(missing)}, which the sweep does not measure")
    if not (programs and worlds and environments):
        raise UsageError(f"{path}: names no cell that the sweep measures")
    return replace(sweep, programs=tuple(programs), worlds=tuple(worlds), environments=tuple(environments))


def narrowed(program: Program, cells: list[dict[str, str]]) -> Program:
    arguments = list(program.arguments)
    for option in NARROWED:
        values = {parts.get(option, "") for parts in cells}
        if "" not in values:
            arguments = replaced(arguments, f"--{option}", ",".join(sorted(values)))
    return replace(program, arguments=tuple(arguments))


def replaced(arguments: list[str], option: str, value: str) -> list[str]:
    if option not in arguments:
        return [*arguments, option, value]
    at = arguments.index(option) + 1
    return [*arguments[:at], value, *arguments[at + 1 :]]


_QUESTION_SECONDS = 60


def require_programs(sweep: Sweep, machine: Machine, builds: Mapping[str, Path], source: Path) -> None:
    """Raises UsageError for the first program or option that a build does not have. builds: by side."""
    for side in sweep.sides:
        variables = {**_alone(), **dict(machine.variables), **dict(side.variables)}
        if (builds[side.name] / "dlmb_info").is_file():  # without it nothing is launched
            for program in sweep.programs:
                _require(program, builds[side.name], variables, source)


def _require(program: Program, build: Path, variables: dict[str, str], source: Path) -> None:
    path = build / f"dlmb_{program.program}"
    if not os.access(path, os.X_OK):
        raise UsageError(f"{source}: {unknown_name('program', program.program, _programs(build))} in {build}")
    command = [str(path), *program.arguments, "--campaign", "check", "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_QUESTION_SECONDS, check=False, env=variables)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{source}: {path} --version does not answer: {error}") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise UsageError(f"{source}: program {program.name}: {said[-1].removeprefix(f'dlmb_{program.program}: error: ')}")


def _programs(build: Path) -> list[str]:
    names = (path.name.removeprefix("dlmb_") for path in build.glob("dlmb_*") if path.is_file() and os.access(path, os.X_OK))
    return sorted(set(names) - {"autotune", "compare", "convert", "guidelines", "info", "plain_mpi", "plan", "plot", "predict", "sweep", "tune"})


def _alone() -> dict[str, str]:
    """Not as a rank of the job step that the sweep may run in."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "SLURM_PROCID", "OMPI_COMM_WORLD"))}


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="dlmb_sweep",
        description="Runs the launches of a sweep file, interleaved, and goes on where an earlier run stopped.",
        epilog="exit codes: 0 all launches done, 1 some failed, 64 bad usage, 69 no launcher or a folder in use, 70 a fault of the program, 74 cannot write, "
        "128+N stopped by signal N",
    )
    parser.add_argument("sweep", type=Path, help="TOML file that says what to measure (docs/sweeping.md)")
    parser.add_argument("-o", "--output", type=Path, help="folder for results and state; default: results/NAME, with --again results/NAME.again")
    parser.add_argument("--campaign", metavar="NAME", help="begin of the campaigns' names in the results; default: the sweep's name")
    parser.add_argument("--again", type=Path, metavar="RERUN.json", help="only launches of the cells that dlmb_compare --rerun listed")
    parser.add_argument("--machine", type=Path, help="TOML file that says how to launch here; default: found out")
    parser.add_argument("--build", type=Path, help="folder of the programs; default: where dlmb_info is in PATH")
    parser.add_argument("--dry-run", action="store_true", help="print the command lines in their order and stop")
    return parser.parse_args(arguments)


def _show(driver: Driver) -> int:
    try:
        driver.dry_run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        program.forget_output()
    return program.OK


def _run(arguments: list[str] | None) -> int:
    options = _parse(arguments)
    sweep = sweep_file.read(options.sweep)
    default_folder = Path("results") / (f"{sweep.name}.again" if options.again else sweep.name)
    if options.again:
        sweep = only(sweep, options.again)
    if options.campaign:
        sweep = replace(sweep, name=options.campaign)
    folder = Folder(options.output or default_folder)
    machine = launchers.read_machine(options.machine)
    driver = Driver(sweep, machine, folder, Path(options.build or machine.build or launchers.default_build()))
    require_programs(sweep, machine, driver.builds(), options.sweep)
    if options.dry_run:
        return _show(driver)
    return driver.run()


def main(arguments: list[str] | None = None) -> int:
    return program.run("dlmb_sweep", lambda: _run(arguments))
