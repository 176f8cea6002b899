# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The launches that are struck: ranks under a launcher, ranks that are threads, and dlmb_sweep with both below it.

Each traffic gives the same few short cells every time, so that one that is resumed can be known to be complete.
"""

import dataclasses
import functools
import os
import signal
import subprocess

from dlmb_launch.sweep import launchers
from dlmb_launch.sweep.sweep_file import World
from processes import new_mark, processes_of, ranks_of
from programs import BIN, SOURCE

MACHINE = launchers.Machine(oversubscribe=True, bind="none")
COUNTS = {"iterations": "20", "warmup": "2", "start": "barrier", "cache": "warm"}


@dataclasses.dataclass(frozen=True)
class Traffic:
    """What is measured, as options of a program, and how many cells that gives."""

    program: str
    options: dict
    cells: int
    figure: str = ""  # that other cells tell of some cells
    of_cells: str = ""  # what the ids of these cells hold


COLLECTIVES = {"operation": "allreduce", "message-size": "1K:8K"}
# Cells that tell nothing of each other, and of every kind that do.
TRAFFIC = {
    "plain": Traffic("collective", COLLECTIVES | {"message-size": "1K:128K"}, 8),
    "compute": Traffic("collective", COLLECTIVES | {"compute": "busy,none"}, 8, "overlap_ratio", "p.compute=busy"),
    "in place": Traffic("collective", COLLECTIVES | {"message-size": "1K:2K", "in-place": "off,on", "compute": "none,busy", "rounds-over": "sweep"},
                        8, "overlap_ratio", "p.compute=busy"),
}
SWEEP_LAUNCHES = 2
SWEEP = """
launches = {launches}
[options]
backend = "mpi"
calibration = "{calibration}"
{counts}
[[world]]
ranks = {ranks}
[[program]]
program = "{program}"
{options}
"""


@functools.cache
def launcher():
    return launchers.find(MACHINE, BIN)


def settings(options):
    return "\n".join(f'{name} = "{value}"' for name, value in options.items())


class Workload:
    """kind: "ranks", "threads" or "sweep". A command, and the files that hold its results."""

    def __init__(self, kind, folder, ranks, calibration, traffic):
        self.kind, self.folder, self.ranks, self.calibration, self.traffic = kind, folder, ranks, calibration, traffic
        self.mark = new_mark()
        self.launcher_stayed = False  # also when all that it had started was gone
        self.runs = 0
        (folder / "tmp").mkdir()
        self.results_folder.mkdir()
        if kind == "sweep":
            (folder / "sweep.toml").write_text(SWEEP.format(
                launches=SWEEP_LAUNCHES, ranks=ranks, calibration=calibration, program=traffic.program, options=settings(traffic.options),
                counts=settings(COUNTS)), encoding="utf-8")
            (folder / "machine.toml").write_text("oversubscribe = true\n", encoding="utf-8")

    @property
    def results_folder(self):
        return self.folder / "results"

    @property
    def cells(self):
        return self.traffic.cells * (SWEEP_LAUNCHES if self.kind == "sweep" else 1)

    def files(self):
        return sorted(self.results_folder.rglob("*.jsonl"))

    def start(self, *options, before=()):
        """What it prints goes into files, which need no reader."""
        self.runs += 1
        folder = str(self.folder / "tmp")  # a killed launch leaves files
        environment = {**os.environ, **self.mark, **dict(launcher().variables), "TMPDIR": folder,
                       "OMPI_MCA_btl_vader_backing_directory": folder}
        with self._log("out").open("wb") as output, self._log("err").open("wb") as errors:
            return subprocess.Popen([*before, *map(str, self._command(*options))], env=environment, stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=errors, start_new_session=True,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # background jobs ignore it

    def printed(self):
        """Standard output and standard error of the last launch."""
        return tuple(self._log(name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))

    def tables(self):
        """All tables that launches printed; of a sweep they are in its logs."""
        if self.kind == "sweep":
            return "".join(log.read_text(encoding="utf-8", errors="replace") for log in sorted(self.results_folder.rglob("*.log")))
        return self.printed()[0]

    def running(self):
        return processes_of(self.mark)

    def rank_processes(self):
        return ranks_of(self.mark, str(BIN / f"dlmb_{self.traffic.program}"))

    def launcher_processes(self):
        return sorted(pid for pid, command in self.running().items() if command[0] == launcher().path)

    def _log(self, name):
        return self.folder / f"{self.runs}.{name}"

    def _command(self, *options):
        if self.kind == "sweep":
            return [SOURCE / "launch" / "dlmb_sweep", self.folder / "sweep.toml", "-o", self.results_folder, "--build", BIN,
                    "--machine", self.folder / "machine.toml"]
        backend = "in_process" if self.kind == "threads" else "mpi"
        options = [word for name, value in {**self.traffic.options, **COUNTS}.items() for word in (f"--{name}", value)] + list(options)
        program = [BIN / f"dlmb_{self.traffic.program}", "--columns", "all", "--backend", backend, "--calibration", self.calibration,
                   "--results", self.results_folder / "cells.jsonl", *options]
        if self.kind == "threads":
            return [*program, "--ranks", self.ranks]
        return [*launcher().command(MACHINE, World(self.ranks, 1)), *program]
