# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a tuning: numbered sweep files, and beside each its results and state as dlmb_sweep keeps them.

    FOLDER/003-search.toml     what is measured; `dlmb_sweep FOLDER/003-search.toml -o FOLDER/003-search` would do the same,
                               beside the same traffic
    FOLDER/003-search/         results, state and logs

A sweep file is written before its first launch. So after a kill the files say what was planned, their folders what is done, and
nothing has to be remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.autotune.observations import Key
from dlmb_launch.autotune.open_points import KINDS
from dlmb_launch.autotune.planning import Work
from dlmb_launch.autotune.points import Point
from dlmb_launch.autotune.request import NO_LOAD, Request
from dlmb_launch.sweep import state, sweep_file
from dlmb_launch.sweep.driver import Driver
from dlmb_launch.sweep.process import Interrupts
from dlmb_launch.sweep.state import Folder
from dlmb_launch.sweep.sweep_file import Launch, Program, Sweep
from dlmb_results.files import write_whole
from dlmb_results.lines import read_lines
from dlmb_results.program import FAILED, ProgramError

SURVEY, SEARCH = "survey", "search"
_MEMORY = {"nccl": "cuda"}  # where it is not the host's
_NAME = re.compile(rf"(\d{{3}})-({'|'.join((SURVEY, SEARCH, *KINDS))})\.toml")


class LaunchFailed(ProgramError):
    """A launch that measured nothing at all: what follows would fail alike."""

    exit_code = FAILED


class Stopped(Exception):
    """By a signal, whose number is the argument."""


@dataclass(frozen=True)
class Step:
    """One sweep file and its folder."""

    number: int
    kind: str
    path: Path
    sweep: Sweep

    @property
    def folder(self) -> Folder:
        return Folder(self.path.with_suffix(""))

    def results(self) -> Iterator[Path]:
        for launch in sweep_file.launches(self.sweep):
            if self.folder.results(launch).is_file():
                yield self.folder.results(launch)


class Campaign:
    def __init__(self, request: Request, interrupts: Interrupts, traffic_ended: Callable[[], str]):
        """traffic_ended: why what is to run beside the launches does not."""
        self.root = request.campaign
        self._request = request
        self._interrupts = interrupts
        self._traffic_ended = traffic_ended
        self._sweeps: dict[Path, Sweep] = {}

    def steps(self) -> list[Step]:
        found = []
        for path in sorted(self.root.glob("*.toml")):
            if matched := _NAME.fullmatch(path.name):
                if path not in self._sweeps:  # a file is written once
                    self._sweeps[path] = sweep_file.read(path)
                found.append(Step(int(matched[1]), matched[2], path, self._sweeps[path]))
        return found

    def files(self, *kinds: str) -> list[Path]:
        return [file for step in self.steps() if step.kind in kinds for file in step.results()]

    def add(self, kind: str, works: list[Work], launches: int, options: dict[str, str], timeout_s: int) -> Step:
        steps = self.steps()
        number = steps[-1].number + 1 if steps else 1
        path = self.root / f"{number:03d}-{kind}.toml"
        write_whole(path, self._text(path.stem, works, launches, options, timeout_s))
        return Step(number, kind, path, sweep_file.read(path))

    def left(self, step: Step) -> list[Launch]:
        return [launch for launch in sweep_file.launches(step.sweep) if not _tried(step.folder, launch)]

    def run(self, step: Step, begin: Callable[[Step, Launch], bool], end: Callable[[Step, Launch, str, float], None]) -> bool:
        """The launches of `step` that are left. begin: whether there is time for one more; False: not for all of them. Raises
        LaunchFailed, Stopped."""
        driver = Driver(step.sweep, self._request.machine, step.folder, self._request.build)
        step.folder.open(step.sweep)
        for launch in self.left(step):
            if not begin(step, launch):
                return False
            outcome = driver.measure(launch, self._interrupts)
            end(step, launch, outcome.word, outcome.seconds)
            self._require_traffic(step, launch)
            self.stop_if_asked()
            if outcome.word not in (state.DONE, state.NOTHING) and not _holds_a_time(step.folder.results(launch)):
                raise LaunchFailed(f"{launch.name} measured nothing ({outcome.word}); {step.folder.log(launch)} says more")
        return True

    def _require_traffic(self, step: Step, launch: Launch) -> None:
        """Without it nothing of the launch counts, and the next run makes it again."""
        if reason := self._traffic_ended():
            step.folder.results(launch).unlink(missing_ok=True)
            step.folder.set_status(launch, {"state": "interrupted"})
            raise LaunchFailed(reason)

    def stop_if_asked(self) -> None:
        if self._interrupts.received:
            raise Stopped(self._interrupts.received)

    def _text(self, name: str, works: list[Work], launches: int, options: dict[str, str], timeout_s: int) -> str:
        asked = self._request
        options = {"timing": asked.timing, **({"beside": asked.beside} if asked.beside != NO_LOAD else {}), **options}
        lines = ["# Made by dlmb_autotune.", f'name = "{name}"', f"launches = {launches}", f"launch-timeout = {timeout_s}", "", "[options]"]
        lines += [f'{key} = "{value}"' for key, value in options.items()]
        lines += ["", "[[world]]", f"ranks = {asked.ranks}", f"nodes = {asked.nodes}"]
        for number, work in enumerate(works, 1):
            sizes = ",".join(f"{size}:{size}" for size in work.sizes)
            name = f"{work.operation.replace(',', '+')}-{number}"
            lines += ["", "[[program]]", f'name = "{name}"', 'program = "collective"', f'operation = "{work.operation}"']
            lines += [f'backend = "{work.backend}"', f'method = "{",".join(work.methods)}"']
            lines += [f'memory = "{_MEMORY.get(work.backend, "host")}"', f'message-size = "{sizes}"']
        return "\n".join(lines) + "\n"


def _tried(folder: Folder, launch: Launch) -> bool:
    """A failure is not tried again where it left times: what failed is out, and the next launches go on without it."""
    word = folder.status(launch).get("state")
    return word in (state.DONE, state.NOTHING) or (word in ("failed", "timeout") and _holds_a_time(folder.results(launch)))


def _holds_a_time(results: Path) -> bool:
    return results.is_file() and any(line["kind"] == "cell" and line["status"] == "ok" for _, line in read_lines(results, []))


def sizes_of(program: Program) -> list[int]:
    return [int(size.split(":")[0]) for size in program.option("--message-size").split(",")]


def keys_of(sweep: Sweep) -> set[Key]:
    """The points that a sweep file of a campaign measures."""
    return {
        (program.option("--backend"), Point(program.option("--operation"), size)) for program in sweep.programs for size in sizes_of(program)
    }


def cells_of(program: Program) -> int:
    return len(sizes_of(program)) * len(program.option("--method").split(","))
