# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA's nccl-tests and `dlmb_collective --cli nccl` on the same GPU, in rounds of one program after the other: both figures at
every size, their ratio, and its geometric mean. Decides nothing."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

PROGRAMS = ("all_reduce", "alltoall", "sendrecv", "all_gather", "reduce_scatter", "broadcast", "reduce")
ROUNDS = 3
LONGEST_S = 60  # of one program
PLACES = ("out of place", "in place")
CLOSE, CLOSE_US = 0.05, 0.3  # a figure within either is marked as no difference

Times = dict[tuple[str, int], list[float]]  # in us, by place and size


def times_in(output: str) -> dict[tuple[str, int], float]:
    """Of the rows `size count type redop root time algbw busbw #wrong time algbw busbw #wrong`, which both programs print."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) < 9 or not words[0].isdigit() or not words[1].isdigit():
            continue
        for place, at in zip(PLACES, (5, 9)):
            try:
                found[place, int(words[0])] = float(words[at])
            except (IndexError, ValueError):  # only one of both, or a word in its place
                pass
    return found


def run(command: list[str]) -> str:
    """What the program printed; empty, and a line that says why, where it failed."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        print(f"# {shlex.join(command)}: ended after {LONGEST_S} s")
        return ""
    except OSError as error:
        print(f"# {shlex.join(command)}: {error}")
        return ""
    if done.returncode != 0:
        last = [line for line in done.stdout.splitlines() if line.strip()][-3:]
        print(f"# {shlex.join(command)}: exit code {done.returncode}: {' / '.join(last)}")
        return ""
    return done.stdout


def find_program(folder: Path, name: str) -> Path | None:
    """nccl-tests give programs with MPI a suffix that the user names."""
    return next((file for file in sorted(folder.glob(f"{name}_perf*")) if os.access(file, os.X_OK)), None)


def table_of(name: str, theirs: Times, ours: Times) -> tuple[str, dict[str, float]]:
    """The rows of a program, and by place the geometric mean of the ratios."""
    sizes = sorted({size for _, size in theirs.keys() & ours.keys()})
    text = f"\n{name}_perf, medians in us\n{'size (B)':>12}" + "".join(f"  {place:>14}: {'DLMB':>9} {'ratio':>6}  " for place in PLACES) + "\n"
    ratios = defaultdict(list)
    for size in sizes:
        text += f"{size:>12}"
        for place in PLACES:
            if not (theirs.get((place, size)) and ours.get((place, size))):
                text += f"  {'-':>14}  {'-':>9} {'-':>6}  "
                continue
            their, our = statistics.median(theirs[place, size]), statistics.median(ours[place, size])
            ratio = our / their if their > 0 else math.inf
            if 0 < ratio < math.inf:
                ratios[place].append(ratio)
            mark = " " if abs(our - their) <= max(CLOSE_US, CLOSE * their) else "*"
            text += f"  {their:>14.2f}  {our:>9.2f} {ratio:>6.3f}{mark} "
        text += "\n"
    return text, {place: math.exp(statistics.fmean(map(math.log, values))) for place, values in ratios.items()}


def sizes_of(options: argparse.Namespace) -> list[str]:
    return ["-b", "8", "-e", options.largest, "-f", "8"]


def measure(options: argparse.Namespace) -> dict[str, tuple[Times, Times]]:
    """By program the times of both, of as many rounds as fit."""
    end = time.monotonic() + options.seconds
    found: dict[str, tuple[Times, Times]] = {}
    sizes = sizes_of(options)
    for turn in range(ROUNDS):
        for name in PROGRAMS:
            theirs = find_program(options.nccl_tests, name)
            if theirs is None or time.monotonic() > end or (turn > 0 and name not in found):
                continue
            dlmb = [*shlex.split(options.launch), str(options.dlmb), "--cli", "nccl", f"{name}_perf", *sizes, "--backend", "nccl", "--memory", "nccl",
                    *(["--results", options.results] if options.results else [])]
            commands = [[str(theirs), *sizes, "-g", "1"], dlmb]
            outputs = ["", ""]
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                outputs[which] = run(commands[which])
            if all(outputs):
                pair = found.setdefault(name, (defaultdict(list), defaultdict(list)))
                for times, output in zip(pair, outputs):
                    for key, value in times_in(output).items():
                        times[key].append(value)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nccl_tests", type=Path, help="the folder with all_reduce_perf and others")
    parser.add_argument("dlmb", type=Path, help="dlmb_collective")
    parser.add_argument("--launch", default="", help="what starts one rank of it, as in 'mpirun -np 1'")
    parser.add_argument("--largest", default="1G", help="the last size")
    parser.add_argument("--seconds", type=float, default=100, help="no program starts after that")
    parser.add_argument("--results", default="", help="DLMB's result file")
    options = parser.parse_args()
    found = measure(options)
    means = {}
    for name, (theirs, ours) in found.items():
        text, means[name] = table_of(name, theirs, ours)
        print(text, end="")
    print(f"\nDLMB / nccl-tests, geometric mean over sizes ({' '.join(sizes_of(options))}); above, * stands where a pair differs by more than "
          f"{100 * CLOSE:.0f} % and {CLOSE_US} us")
    for name, by_place in means.items():
        rounds = max(map(len, found[name][1].values()), default=0)
        print(f"{name:>16} {rounds} rounds  " + "  ".join(f"{place} {by_place[place]:.3f}" for place in PLACES if place in by_place))
    absent = [name for name in PROGRAMS if name not in means]
    if absent:
        print(f"without: {', '.join(absent)}")
    return 0 if means else 1


if __name__ == "__main__":
    sys.exit(main())
