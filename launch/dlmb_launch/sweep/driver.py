# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the launches of a sweep that are left, one after the other, says how far it is, and keeps the state on disk."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.sweep import launchers, process, state
from dlmb_launch.sweep.launchers import Launcher, Machine
from dlmb_launch.sweep.process import Interrupts, Outcome, Process
from dlmb_launch.sweep.state import Folder, settle
from dlmb_launch.sweep.sweep_file import Launch, Side, Sweep, launches
from dlmb_results import program

_LOG_LINES = 5  # of a launch that failed, shown at once


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Progress:
    """The estimate is the mean of what this run's launches of the same job took, or of all its launches."""

    def __init__(self, jobs: list[str]):
        self._waiting = list(jobs)  # of the launches that are left, in order
        self._total = len(jobs)
        self._took: dict[str, list[float]] = {}

    def begin(self, job: str, name: str) -> None:
        self._began = time.monotonic()
        self._job = job
        number = self._total - len(self._waiting) + 1
        left = self.seconds_left()
        print(f"[{number}/{self._total}] {name}{'' if left is None else f', about {duration(left)} left'}", flush=True)

    def end(self, word: str) -> None:
        took = time.monotonic() - self._began
        self._took.setdefault(self._job, []).append(took)
        self._waiting.pop(0)
        print(f"    {word}, {duration(took)}", flush=True)

    def seconds_left(self) -> float | None:
        everything = [took for each in self._took.values() for took in each]
        if not everything:
            return None
        mean = sum(everything) / len(everything)
        of_job = {job: sum(each) / len(each) for job, each in self._took.items()}
        return sum(of_job.get(job, mean) for job in self._waiting)


@dataclass(frozen=True)
class Measured:
    word: str  # what became of a launch, as its state says
    exit_code: int
    seconds: float


@dataclass(frozen=True)
class Driver:
    sweep: Sweep
    machine: Machine
    folder: Folder
    default_build: Path

    def dry_run(self) -> None:
        for launch in launches(self.sweep):
            variables = [f"{name}={shlex.quote(value)}" for name, value in self._variables(launch).items()]
            print(" ".join([*variables, shlex.join(self._command(launch))]))

    def run(self) -> int:
        ordered = launches(self.sweep)
        for launch in ordered:
            launchers.require_room(self.machine, launch.world, self._launcher(launch.side))
        with self.folder.held():
            return self._run(ordered)

    def _run(self, ordered: list[Launch]) -> int:
        if self.folder.open(self.sweep):
            print(f"going on with {self.folder.root}")
        left = [launch for launch in ordered if not self.folder.finished(launch)]
        if len(left) < len(ordered):
            print(f"{len(ordered) - len(left)} of {len(ordered)} launches are done")
        interrupts = Interrupts()
        progress = Progress([launch.job for launch in left])
        words: Counter[str] = Counter()
        for launch in left:
            progress.begin(launch.job, launch.name)
            measured = self.measure(launch, interrupts)
            word = measured.word
            progress.end(word)
            if word not in (state.DONE, state.NOTHING, "interrupted"):
                self._show_end_of_log(launch, measured.exit_code)
            words[word] += 1
            if interrupts.received:
                print(f"stopped by signal {interrupts.received}; the same command goes on from here", flush=True)
                return program.SIGNAL_BASE + interrupts.received
        return self._conclude(words)

    def _conclude(self, words: Counter[str]) -> int:
        bad = sum(count for word, count in words.items() if word not in (state.DONE, state.NOTHING))
        print("; ".join(f"{count} launches {word}" for word, count in sorted(words.items())) or "nothing was left to do")
        for side in self.sweep.sides:
            print(f"results of {side.name}: {self.folder.root / side.name}")
        if bad:
            print(f"the same command tries the {bad} others again; their output is in {self.folder.root / 'logs'}")
        return program.FAILED if bad else program.OK

    def measure(self, launch: Launch, interrupts: Interrupts) -> Measured:
        """Makes one launch, and keeps its state. What a killed driver left running is ended before."""
        before = self.folder.status(launch)
        if process.end_leftover(before.get("process", {})):
            print("    ended what a killed sweep had left running")
        settle(self.folder.results(launch))
        status = {"attempt": before.get("attempt", 0) + 1, "command": self._command(launch), "began": _now()}
        began = time.monotonic()
        child = Process(status["command"], self._variables(launch), self.folder.log(launch))
        self.folder.set_status(launch, {**status, "state": "running", "process": child.identity})
        outcome = child.wait(self.sweep.launch_timeout_s, interrupts)
        measured = Measured(_word(outcome), outcome.exit_code, time.monotonic() - began)
        ended = {"state": measured.word, "exit_code": measured.exit_code, "ended": _now(), "seconds": round(measured.seconds, 3)}
        self.folder.set_status(launch, {**status, **ended})
        return measured

    def _show_end_of_log(self, launch: Launch, exit_code: int) -> None:
        print(f"    exit code {exit_code}; {self.folder.log(launch)} ends with")
        text = self.folder.log(launch).read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines()[-_LOG_LINES:]:
            print(f"    | {line}")

    def builds(self) -> dict[str, Path]:
        return {side.name: self._build(side) for side in self.sweep.sides}

    def _build(self, side: Side) -> Path:
        return Path(side.build or self.default_build).expanduser()

    def _launcher(self, side: Side) -> Launcher:
        return launchers.find(self.machine, self._build(side))

    def _command(self, launch: Launch) -> list[str]:
        program = [str(self._build(launch.side) / f"dlmb_{launch.program.program}"), *launch.program.arguments]
        own = ["--campaign", f"{self.sweep.name}.{launch.side.name}", "--results", str(self.folder.results(launch)), "--resume"]
        return [*self._launcher(launch.side).command(self.machine, launch.world), *program, *own]

    def _variables(self, launch: Launch) -> dict[str, str]:
        sources = self._launcher(launch.side), self.machine, launch.environment, launch.side
        return {name: value for source in sources for name, value in source.variables}


def _word(outcome: Outcome) -> str:
    if outcome.timed_out:
        return "timeout"
    if outcome.exit_code == program.OK:
        return state.DONE
    if outcome.interrupted:
        return "interrupted"
    return state.NOTHING if outcome.exit_code == program.NOTHING_CAN_RUN else "failed"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
