# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The traffic of a plan beside all launches of a tuning (--beside PLAN): one more launch, of dlmb_replay on the same nodes.

It begins before the first of them, repeats the plan back to back, and ends behind the last one. No method or file that is tried reaches it, because
it is another program; so it is the same for all of them, and for the plain program, which has nothing of DLMB in it.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import replace
from pathlib import Path

from dlmb_launch.sweep.launchers import Launcher, Machine
from dlmb_launch.sweep.process import Interrupts, Process
from dlmb_launch.sweep.sweep_file import World
from dlmb_results.program import OutputError, UsageError

KIND = "traffic:"
_DIGITS = 12  # of the digest
_START_TIMEOUT_S = 120
_POLL_S = 0.05
_OPTIONS = ("--backend", "mpi", "--timing", "stream", "--validation", "off", "--calibration", "off")
_ENDLESS = ("--warmup", str(1 << 40), "--iterations", "1")  # a warm-up keeps no times


def name_of(plan: Path) -> str:
    """As --beside of a program takes it: "traffic:FILE@DIGEST", the first digits of the file's SHA-256."""
    try:
        digest = hashlib.sha256(plan.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"--beside {plan}: none, compute, memory, or a file of plans (--plan jsonl): {error.strerror}") from None
    return f"{KIND}{re.sub(r'[^A-Za-z0-9._-]', '_', plan.name)}@{digest[:_DIGITS]}"


class Traffic:
    def __init__(self, plan: Path | None, build: Path, folder: Path):
        """plan: nothing: no traffic."""
        self._plan = plan
        self._program = build / "dlmb_replay"
        self._log = folder / "traffic.log"
        self._begun = folder / "traffic.jsonl"
        self._process: Process | None = None

    def begin(self, launcher: Launcher, machine: Machine, world: World, interrupts: Interrupts) -> str:
        """Returns when its ranks have started; or why they did not."""
        if self._plan is None:
            return ""
        for file in (self._log, self._begun):
            try:
                file.unlink(missing_ok=True)  # of an earlier run
            except OSError as error:
                raise OutputError(f"{file}: {error.strerror}") from None
        if launcher.kind == "srun":  # steps of a job have its processors to themselves otherwise
            machine = replace(machine, arguments=(*machine.arguments, "--overlap"))
        command = [*launcher.command(machine, world), str(self._program), "--plan", str(self._plan), *_OPTIONS, *_ENDLESS, "--results", str(self._begun)]
        self._process = Process(command, {**dict(launcher.variables), **dict(machine.variables)}, self._log)
        end = time.monotonic() + _START_TIMEOUT_S
        while not self._has_begun():
            if interrupts.received or self.why_ended():
                break
            if time.monotonic() > end:
                return f"the traffic of {self._plan} did not begin in {_START_TIMEOUT_S} s; {self._log} says more"
            time.sleep(_POLL_S)
        return self.why_ended()

    def _has_begun(self) -> bool:
        """The first line of results is written when all ranks have read the plan and opened their library."""
        return self._begun.is_file() and self._begun.stat().st_size > 0

    def why_ended(self) -> str:
        """Nothing: it runs, or there is none."""
        if self._process is None or self._process.runs:
            return ""
        errors = [line for line in self._log.read_text(encoding="utf-8", errors="replace").splitlines() if "error: " in line]
        return f"the traffic of {self._plan} has ended: {errors[0] if errors else 'it does not say why'} ({self._log})"

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
