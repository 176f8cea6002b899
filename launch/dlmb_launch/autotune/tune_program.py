# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_tune, which makes the decisions: build, export and verify."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlmb_results.files import read_json
from dlmb_results.program import FAILED, NOTHING_CAN_RUN, ProgramError, UnavailableError

_SECONDS = 300


class TuneFailed(ProgramError):
    """dlmb_tune refused what it was given, or did not run to its end; the argument is what it says, or why, with the command."""

    exit_code = FAILED


class TuneProgram:
    def __init__(self, build: Path, variables: dict[str, str], launcher: Sequence[str] = (), commutative: bool = False):
        """launcher: of the ranks of `verify`, with its options; commutative: what programs reduce with."""
        self._path = build / "dlmb_tune"
        self._variables = variables
        self._launcher = [f"--mpiexec={word}" for word in launcher]
        self._commutative = commutative
        if not self._path.is_file():
            raise UnavailableError(f"{self._path} is not there; build the target dlmb_tune, or name the folder of programs with --build")

    def build(self, search: list[Path], confirm: list[Path], table: Path, timing: str, methods: list[str], accept: tuple[str, ...]) -> str:
        """Writes `table`; timing, methods, accept: what counts in it. Returns what it printed."""
        command = ["build", *search, "-o", table, "--timing", timing]
        if methods:
            command += ["--methods", ",".join(methods)]
        if accept:
            command += ["--accept", ",".join(accept)]
        if confirm:
            command += ["--confirm", *confirm]
        table.unlink(missing_ok=True)
        code, output = self._run(command)
        if code != 0:
            raise TuneFailed(output.strip())
        return output

    def export(self, consumer: str, table: Path, folder: Path) -> tuple[bool, str]:
        """Whether files were written (else the consumer can hold no choice of the table), and what it printed."""
        code, output = self._run(["export", *self._consumer(consumer), table, "-o", folder])
        if code not in (0, NOTHING_CAN_RUN):
            raise TuneFailed(output.strip())
        return code == 0, output

    def verify_command(self, consumer: str, folder: Path, ranks: int) -> list[str]:
        options = [*self._consumer(consumer), str(folder / "table.json"), "--files", str(folder), *self._launcher]
        return [str(self._path), "verify", *options, *([] if consumer == "ucx" else ["--ranks", str(ranks)])]

    def _consumer(self, name: str) -> list[str]:
        return ["--to", name, *(["--commutative"] if self._commutative and name == "openmpi" else [])]

    def _run(self, arguments: list[Any]) -> tuple[int, str]:
        """The exit code, and what it printed."""
        command = [str(each) for each in (self._path, *arguments)]
        environment = {**os.environ, **self._variables}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise TuneFailed(f"it did not end in {_SECONDS} s: {shlex.join(command)}") from None
        except OSError as error:
            raise TuneFailed(f"{error.strerror}: {shlex.join(command)}") from None
        return done.returncode, done.stdout + done.stderr


def chosen_rules(table: Path, scope: str) -> list[dict]:
    """The rules of a backend's scope that leave the default."""
    rules = read_json(table)["rules"]
    return [rule for rule in rules if rule["scope"] == scope and rule["status"] == "chosen"]


def lost_rules(printed: str) -> list[tuple[str, str, str]]:
    """The id of each rule that the consumer cannot hold as it is, the kind of reason, and the reason, as an export printed them."""
    return re.findall(r"^dlmb_tune: warning: (.+?) is lost \((\w+)\): (.+)$", printed, re.MULTILINE)


def undecided_lines(printed: str) -> list[str]:
    return [line.removeprefix("undecided ") for line in printed.splitlines() if re.match(r"undecided ", line)]
