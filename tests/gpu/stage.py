# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs stages under time limits, and writes what they say while they say it: whoever ends the run loses nothing before that."""

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
MOST_STUCK = 2
LONGEST_OUTPUT = 400_000  # bytes of one stage that stay in the log
LONGEST_ENDING_S = 10.0  # for processes that are killed


@dataclass
class Stage:
    name: str
    command: list[str]
    limit_s: float
    judge: Callable[[str], str] = lambda output: ""  # what is wrong with the output of a command that succeeded
    may_not_fit: bool = False  # the program may refuse the number of ranks as bad usage
    figures: bool = False  # the output is a result and is shown after the table
    alike: str = ""  # when two of these did not end the others are not tried


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
        self.stuck: dict[str, int] = {}  # by what is alike: how many did not end

    def run(self, stage: Stage) -> bool:
        print(f"-- {stage.name}", flush=True)
        start = time.monotonic()
        left = self.end - start
        output = ""
        if left <= 1:
            result = "not run: the time was used up"
        elif self.stuck.get(stage.alike, 0) >= MOST_STUCK:
            result = f"not run: {MOST_STUCK} of {stage.alike} did not end"
        else:
            output, result = self.execute(stage, min(stage.limit_s, left))
        self.outcomes.append(Outcome(stage, result, time.monotonic() - start, output))
        self.write_summary()
        if result not in GOOD:
            print(f"   {result}\n" + "".join(f"   | {line}\n" for line in output.splitlines()[-15:]), flush=True)
        return result in GOOD

    def execute(self, stage: Stage, limit_s: float) -> tuple[str, str]:
        with (self.folder / "log.txt").open("ab+") as log:
            log.write(f"==== {stage.name}: {' '.join(stage.command)}\n".encode())
            log.flush()
            begin = log.tell()
            result = self.result_of(stage, limit_s, log)
            output = shorten_log(log, begin)
            if result == "passed":
                result = stage.judge(output) or result
            log.write(f"\n==== {result}\n\n".encode())
        if stage.alike and result.startswith("ended after"):
            self.stuck[stage.alike] = self.stuck.get(stage.alike, 0) + 1
        return output, result

    def result_of(self, stage: Stage, limit_s: float, log) -> str:
        try:
            # In a session of its own: when time is up all processes of the stage end, mpirun's ranks too.
            process = subprocess.Popen(stage.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       env=self.environment, start_new_session=True)
        except OSError as error:
            return f"does not start: {error}"
        try:
            code = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return f"ended after its limit of {limit_s:.0f} s"
        finally:
            end_session(process)
        if code == EXIT_USAGE and stage.may_not_fit:
            return NO_FIT
        return f"exit code {code}" + (" (skipped)" if code == EXIT_SKIPPED else "") if code != 0 else "passed"

    def table(self) -> str:
        width = max(len(outcome.stage.name) for outcome in self.outcomes)
        rows = [f"{'stage':<{width}}  {'seconds':>7}  result"]
        rows += [f"{each.stage.name:<{width}}  {each.seconds:7.1f}  {each.result}" for each in self.outcomes]
        return "\n".join(rows) + "\n"

    def figures(self) -> str:
        shown = [each for each in self.outcomes if each.stage.figures and each.output]
        return "".join(f"\n{each.stage.name}\n{each.output}" for each in shown)

    def write_summary(self) -> None:
        (self.folder / "summary.txt").write_text(self.table() + self.figures(), encoding="utf-8")

    def all_passed(self) -> bool:
        return all(outcome.result in GOOD for outcome in self.outcomes)


def shorten_log(log, begin: int) -> str:
    """What the stage wrote from `begin` on; of a very long output the middle is left out, in the log too."""
    log.seek(begin)
    output = log.read()
    if len(output) > LONGEST_OUTPUT:
        half = LONGEST_OUTPUT // 2
        output = output[:half] + f"\n[{len(output) - 2 * half} bytes are left out here]\n".encode() + output[-half:]
        log.truncate(begin)
        log.write(output)
        log.flush()
    return output.decode(errors="replace")


def alive_in_session(session: int) -> list[int]:
    """The processes of the session that still run; one that has ended and that nobody has waited for does not."""
    alive = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            state, its_session = fields[0], int(fields[3])
            if its_session == session and state not in "ZX":
                alive.append(int(entry.name))
    return alive


def end_session(process: subprocess.Popen) -> None:
    """mpirun gives its ranks process groups of their own, so that ending its group would leave them.

    A killed process goes on until the kernel gets to it, and with it what it holds of the GPU: the next stage waits."""
    end = time.monotonic() + LONGEST_ENDING_S
    while (alive := alive_in_session(process.pid)) and time.monotonic() < end:
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:  # inside a driver that does not come back
        pass
