#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How well dlmb_predict does on nodes that its fit has not seen: the tables behind docs/predicting.md.

usage: cross_validate.py DLMB_PREDICT MEASUREMENTS

MEASUREMENTS is the table of PICO. It also says how much times of the same case differ between campaigns: no prediction
can be nearer than that. exit 0, or that of dlmb_predict where it fails
"""

from __future__ import annotations

import collections
import csv
import math
import statistics
import subprocess
import sys

SPLITS = (("fugaku", 8, 9), ("leonardo", 64, 128), ("mare_nostrum", 32, 60), ("lumi", 37, 100))


def print_spread(path: str) -> None:
    times = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if row["gpu"] == "no":
                case = tuple(row[name] for name in ("system", "nodes", "ranks_per_node", "collective", "algorithm", "bytes"))
                times[case].append(float(row["median_us"]))
    ratios = collections.defaultdict(list)
    for case, values in times.items():
        if len(values) > 1:
            ratios[case[0]].append(math.log(max(values) / min(values)))
    for system, logs in sorted(ratios.items()):
        tenth = math.exp(statistics.quantiles(logs, n=10)[-1])
        print(f"{system}: {len(logs)} cases were measured more than once; the slowest over the fastest: "
              f"median x{math.exp(statistics.median(logs)):.2f}, 90 % below x{tenth:.2f}")  # fmt: skip


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    program, path = sys.argv[1:]
    print_spread(path)
    for system, most, first in SPLITS:
        print(flush=True)
        arguments = [program, "cross-validate", path, "--system", system, "--max-nodes", str(most), "--from-nodes", str(first)]
        done = subprocess.run(arguments, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
