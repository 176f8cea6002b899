# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the programs of a sweep are there and take its options, before anything starts. Each program is asked itself: with --version
behind all other options it checks them, and measures nothing.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from dlmb_launch.sweep.faults import UsageError
from dlmb_launch.sweep.launchers import Machine
from dlmb_launch.sweep.sweep_file import Program, Sweep
from dlmb_results.arguments import unknown_name

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
    return sorted(set(names) - {"autotune", "compare", "convert", "info", "plot", "predict", "sweep", "trace", "tune"})


def _alone() -> dict[str, str]:
    """Not as a rank of the job step that the sweep may run in."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "SLURM_PROCID", "OMPI_COMM_WORLD"))}
