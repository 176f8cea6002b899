# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of README.md exist, and those of marked blocks run.

A block of shell commands is marked for running by a comment on the line before it:

    <!-- run -->            runs in every build
    <!-- run: mpi -->       runs where this build has MPI

Marked blocks run in the README's order, in one empty folder that looks like the repository after a release build
(build/release/bin is the build under test), and each must exit 0. Cells are given less time than a user gives
them (--time-limit).

usage: readme.py exist                        every program and script that a block starts is in the repository
       readme.py run BIN_FOLDER [FEATURE...]  marked blocks; exit 77 if none can run
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import repository

BLOCK = re.compile(r"(?:<!-- run(?::([a-z ]*))? -->\n)?```sh\n(.*?)```", re.DOTALL)
TIME_LIMIT = re.compile(r"--time-limit [0-9.]+")
MARK = re.compile(r"<!-- run(?::[a-z ]*)? -->\n```sh\n")
COMMANDS_OF_A_SYSTEM = {"for", "do", "done", "cmake", "mpirun", "python3", "git", "cd", ".", "srun", "ctest", "jq", "xdg-open", "cp", "mkdir"}
LINKED = ("launch", "plotting", "tests", "README.md", "patterns")


@dataclass
class Block:
    commands: str
    runs: bool
    needs: list[str]


def blocks(readme: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(readme):
        marked = MARK.match(match.group()) is not None
        found.append(Block(match.group(2), marked, (match.group(1) or "").split()))
    return found


def logical_lines(commands: str) -> list[list[str]]:
    """Words of each command line; continuation lines joined, comments dropped."""
    joined = commands.replace("\\\n", " ")
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def missing_in(words: list[str], programs: set[str]) -> str:
    """The first word that should be a program or a file of ours and is not; empty when there is none."""
    if words[0] not in COMMANDS_OF_A_SYSTEM and not words[0].startswith(("./", "build/", "launch/", "tests/")):
        return words[0]
    for word in words:
        if "dlmb_" in word and word.startswith("build/"):
            if Path(word).name not in programs:
                return word
        elif re.match(r"(\./)?(launch|tests|plotting|\.ci|docs)/", word):
            if not (repository.ROOT / word).exists():
                return word
    return ""


def exist(readme: str) -> list[str]:
    programs = {path.stem for path in (repository.ROOT / "benchmarks").glob("*.cpp")}
    programs |= {f"dlmb_{name}" for name in programs} | {path.name for path in (repository.ROOT / "launch").glob("dlmb_*")}
    found = blocks(readme)
    if not found:
        return ["README.md has no block of shell commands"]
    lines = [words for block in found for words in logical_lines(block.commands)]
    return [f"'{' '.join(words)}': no {missing} here" for words in lines if (missing := missing_in(words, programs))]


def run(readme: str, bin_folder: Path, features: set[str]) -> int:
    chosen = [block for block in blocks(readme) if block.runs and set(block.needs) <= features]
    if not chosen:
        print("skipped: no marked block can run in this build")
        return repository.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "build/release").mkdir(parents=True)
        (folder / "build/release/bin").symlink_to(bin_folder.resolve())
        for linked in LINKED:
            (folder / linked).symlink_to(repository.ROOT / linked)
        for block in chosen:
            print(block.commands, flush=True)
            shorter = TIME_LIMIT.sub("--time-limit 0.02", block.commands)
            code = subprocess.run(["bash", "-euo", "pipefail", "-c", shorter], cwd=folder, check=False).returncode
            if code != 0:
                print(f"README.md: the block above ends with exit code {code}")
                return 1
    return 0


def main(arguments: list[str]) -> int:
    readme = (repository.ROOT / "README.md").read_text()
    if arguments and arguments[0] == "run":
        return run(readme, Path(arguments[1]), set(arguments[2:]))
    findings = exist(readme)
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
