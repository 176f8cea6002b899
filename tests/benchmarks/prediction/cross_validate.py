#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How well dlmb_predict does on nodes that its fit has not seen: the tables behind docs/predicting.md.

usage: cross_validate.py DLMB_PREDICT MEASUREMENTS

MEASUREMENTS is the table of PICO. exit 0, or that of dlmb_predict where it fails
"""

from __future__ import annotations

import collections
import csv
import statistics
import subprocess
import sys

SPLITS = (("fugaku", 8, 9), ("leonardo", 64, 128), ("mare_nostrum", 32, 60), ("lumi", 37, 100))


def print_floor(path: str) -> None:
    times = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if row["gpu"] == "no":
                case = tuple(row[name] for name in ("system", "nodes", "ranks_per_node", "collective", "algorithm", "bytes"))
                times[case].append(float(row["median_us"]))
    floor = collections.defaultdict(list)
    for case, values in times.items():
        for index, value in enumerate(values):
            others = values[:index] + values[index + 1 :]
            if others:
                floor[case[0]].append(abs(statistics.geometric_mean(others) / value - 1))
    print("Error of a model that knows the time of the same case in the other jobs: none can be nearer than that")
    for system, errors in sorted(floor.items()):
        print(f"{system}: {len(errors)} measurements, median {statistics.median(errors):.0%}, "
              f"90 % below {statistics.quantiles(errors, n=10)[-1]:.0%}")  # fmt: skip


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    program, path = sys.argv[1:]
    print_floor(path)
    for system, most, first in SPLITS:
        print(flush=True)
        arguments = [program, "cross-validate", path, "--system", system, "--max-nodes", str(most), "--from-nodes", str(first)]
        done = subprocess.run(arguments, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
