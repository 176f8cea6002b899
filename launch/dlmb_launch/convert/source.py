# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a program printed, out of what launchers, logs and NCCL made of it.

Launchers put the rank, the time or the host in front of each line: `[1,0]<stdout>:`, `0: `, `[0] `, `[rank0]:`. A message of NCCL may
stand in the middle of a line; what is around it belongs together.
"""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass
from pathlib import Path

from dlmb_launch.convert.measured import refuse

DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
MOMENT = (
    rf"(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]{CLOCK}(?:Z| ?[+-]\d\d:?\d\d| UTC)?|{DAY} {MONTH} [ \d]\d {CLOCK}(?: [A-Z]{{2,5}})? \d{{4}}"
    rf"|{MONTH} [ \d]\d {CLOCK}|\d\d/\d\d/\d\d(?:\d\d)? {CLOCK}|{CLOCK}|\d{{10}}\.\d+)"
)
STAMP = rf"(?:\[{MOMENT}\]|{MOMENT}):?"
# Open MPI 4 and 5 with --tag-output or --output tag; srun --label and Flux; MPICH, Intel MPI and torchrun; PALS.
LABEL = (
    r"\[(?:[^\]\s]*,)?(?P<of_open_mpi>\d+)\](?:\[[^\]]*\])*<std(?:out|err|diag)>: ?|<std(?:out|err|diag)>: ?"
    r"| *(?:[A-Za-z][\w.-]*:? )?(?P<of_srun>\d+):(?: |$)|\[(?:rank|default|worker|proc )?(?P<of_hydra>\d+)\](?:: ?| |$)"
)
PREFIX = re.compile(rf"(?:{STAMP}[ \t]?)?(?:{LABEL})?(?:{STAMP}[ \t])?")
LONGEST_HOST = 253
NCCL = re.compile(rf"(?:\[{MOMENT}\] )?[A-Za-z][\w.-]{{0,{LONGEST_HOST}}}:\d{{1,10}}:\d{{1,10}} (?:\[[^\]]{{0,20}}\] )?(?:\S{{1,99}}:\d{{1,6}} )?NCCL (?:INFO|WARN|TRACE|CALL|VERSION|ABORT)\b")
ENDS_OF_PREFIXES = re.compile(r".*[:|>\]] ?")
FEWEST_LINES = 3  # that tell what stands in front of all

Lines = list[tuple[int, str]]  # numbers in the file, and what the program printed


@dataclass(frozen=True)
class Source:
    text: str  # the file as it is
    streams: dict[str, Lines]  # by rank; empty: lines without one
    cut_line: int  # the last line, if nothing ends it; else 0

    def has(self, pattern: re.Pattern[str]) -> bool:
        return any(printed(lines, pattern) for lines in self.streams.values())

    def lines(self, path: Path, pattern: re.Pattern[str]) -> Lines:
        """Of the rank that printed such a line."""
        found = [rank for rank, lines in self.streams.items() if printed(lines, pattern)]
        if len(found) > 1:
            shown = " and ".join(f"rank {rank}" if rank else "lines without a rank" for rank in found[:2])
            raise refuse(path, 0, f"{shown} each have a table: several programs ran at once, as nccl-tests without MPI=1 do; give the lines of one program")
        return self.streams[found[0]] if found else []


def printed(lines: Lines, pattern: re.Pattern[str]) -> bool:
    return any(pattern.match(line) for _, line in lines)


def source_of(text: str) -> Source:
    whole = [line.removesuffix("\r") for line in text.split("\n")]
    cut_line = len(whole) if whole[-1] else 0
    in_front = len(common_prefix(whole))
    streams: dict[str, Lines] = {}
    open_lines: dict[str, tuple[int, str]] = {}  # which a message of NCCL stands in
    for number, line in enumerate(whole, 1):
        rank, content = without_prefix(line[in_front:])
        first, begun = open_lines.pop(rank, (number, ""))
        if message := "NCCL " in content and NCCL.search(content):
            at = message.start() + (content[: message.start() + 1].endswith("N/A"))  # a value, not the first letter of the host
            if begun + content[:at]:
                open_lines[rank] = first, begun + content[:at]
            continue
        streams.setdefault(rank, []).append((first, begun + content))
    for rank, line in open_lines.items():
        streams.setdefault(rank, []).append(line)
    return Source(text, streams, cut_line)


def without_prefix(line: str) -> tuple[str, str]:
    """The rank that a launcher wrote, and the rest."""
    found = PREFIX.match(line)
    if not found or not found.end():
        return "", line
    rank = found["of_open_mpi"] or found["of_srun"] or found["of_hydra"]
    return str(int(rank)) if rank else "", line[found.end() :]


def common_prefix(lines: list[str]) -> str:
    """Of all lines, up to the last character that ends a host, a container or the like: `node1: `, `job-0  | `."""
    some = [line for line in lines if line.strip()]
    if len(some) < FEWEST_LINES or without_prefix(some[0])[1] != some[0]:  # what is in front may differ further on
        return ""
    found = ENDS_OF_PREFIXES.match(os.path.commonprefix(some))
    return found[0] if found else ""
