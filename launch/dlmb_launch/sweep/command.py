# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_sweep SWEEP.toml -o FOLDER [--machine MACHINE.toml]"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from dlmb_launch.sweep import again, checks, faults, launchers, sweep_file
from dlmb_launch.sweep.driver import Driver
from dlmb_launch.sweep.state import Folder
from dlmb_results import program
from dlmb_results.arguments import Parser

_EXITS = {
    faults.UsageError: faults.USAGE,
    faults.UnavailableError: faults.UNAVAILABLE,
    faults.OutputError: faults.CANNOT_WRITE,
}


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser(
        faults.UsageError,
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


def _default_build() -> Path:
    program = shutil.which("dlmb_info")
    return Path(program).parent if program else Path("build/release/bin")


def _show(driver: Driver) -> int:
    try:
        driver.dry_run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        program.forget_output()
    return faults.OK


def _run(arguments: list[str] | None) -> int:
    options = _parse(arguments)
    sweep = sweep_file.read(options.sweep)
    default_folder = Path("results") / (f"{sweep.name}.again" if options.again else sweep.name)
    if options.again:
        sweep = again.only(sweep, options.again)
    if options.campaign:
        sweep = replace(sweep, name=options.campaign)
    folder = Folder(options.output or default_folder)
    machine = launchers.read_machine(options.machine)
    driver = Driver(sweep, machine, folder, Path(options.build or machine.build or _default_build()))
    checks.require_programs(sweep, machine, driver.builds(), options.sweep)
    if options.dry_run:
        return _show(driver)
    return driver.run()


def main(arguments: list[str] | None = None) -> int:
    return program.run("dlmb_sweep", lambda: _run(arguments), _EXITS)
