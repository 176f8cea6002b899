# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs stages under time limits, keeps what they say, and prints one table."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

EXIT_USAGE, EXIT_SKIPPED = 64, 77
NO_FIT = "does not fit this number of ranks"
GOOD = ("passed", NO_FIT)


@dataclass
class Stage:
    name: str
    command: list[str]
    limit_s: float
    judge: Callable[[str], str] = lambda output: ""  # what is wrong with the output of a command that succeeded
    may_not_fit: bool = False  # the program may refuse the number of ranks as bad usage
    figures: bool = False  # the output is a result and is shown after the table


@dataclass
class Outcome:
    stage: Stage
    result: str  # "passed", or what went wrong
    seconds: float
    output: str


class Runner:
    """Every stage gets what it asks for, as long as the total is not used up."""

    def __init__(self, folder: Path, environment: dict[str, str], total_s: float) -> None:
        self.folder, self.environment = folder, environment
        self.end = time.monotonic() + total_s
        self.outcomes: list[Outcome] = []

    def run(self, stage: Stage) -> bool:
        print(f"-- {stage.name}", flush=True)
        start = time.monotonic()
        left = self.end - start
        output, result = ("", "not run: the time was used up") if left <= 1 else self.execute(stage, min(stage.limit_s, left))
        self.outcomes.append(Outcome(stage, result, time.monotonic() - start, output))
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(f"==== {stage.name}: {' '.join(stage.command)}\n{output}\n==== {result}\n\n")
        if result not in GOOD:
            print(f"   {result}\n" + "".join(f"   | {line}\n" for line in output.splitlines()[-15:]), flush=True)
        return result in GOOD

    def execute(self, stage: Stage, limit_s: float) -> tuple[str, str]:
        # In a session of its own: when time is up all processes of the stage end, mpirun's ranks too.
        process = subprocess.Popen(
            stage.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=self.environment, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return output, f"ended after its limit of {limit_s:.0f} s"
        if process.returncode == EXIT_USAGE and stage.may_not_fit:
            return output, NO_FIT
        if process.returncode != 0:
            return output, f"exit code {process.returncode}" + (" (skipped)" if process.returncode == EXIT_SKIPPED else "")
        return output, stage.judge(output) or "passed"

    def table(self) -> str:
        width = max(len(outcome.stage.name) for outcome in self.outcomes)
        rows = [f"{'stage':<{width}}  {'seconds':>7}  result"]
        rows += [f"{each.stage.name:<{width}}  {each.seconds:7.1f}  {each.result}" for each in self.outcomes]
        return "\n".join(rows) + "\n"

    def figures(self) -> str:
        shown = [each for each in self.outcomes if each.stage.figures and each.result == "passed"]
        return "".join(f"\n{each.stage.name}\n{each.output}" for each in shown)

    def all_passed(self) -> bool:
        return all(outcome.result in GOOD for outcome in self.outcomes)
