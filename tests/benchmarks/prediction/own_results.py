#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How well dlmb_predict does on this machine: fits allreduce and sendrecv over mpi, predicts other collectives.

usage: own_results.py BIN [LAUNCHES]

BIN: the folder of dlmb_collective and dlmb_predict, built with Open MPI. LAUNCHES (5): of 2 and of 4 ranks each, of what
is fitted and of what is predicted. Needs an idle machine; takes about 2 minutes per launch. Source
launch/small-machine.sh first on less than 4 cores. Prints the error by collective and size class; 25 % is the goal of the median.
exit 0, or that of the program that failed
"""

from __future__ import annotations

import collections
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = (2, 4)
FITTED = {"allreduce": ("recursive_doubling", "ring", "rabenseifner"), "sendrecv": ()}
ASKED = {
    "broadcast": ("binomial", "knomial", "scatter_allgather", "scatter_allgather_ring"),
    "allgather": ("ring", "recursive_doubling", "bruck", "neighbor"),
    "reduce_scatter_block": ("recursive_halving",),
}
CALLS = {"broadcast": "bcast"}
COLLECTIVES = {"broadcast": "bcast", "reduce_scatter_block": "reduce_scatter"}
PER_RANK = ("allgather",)  # --message-size counts what one rank gives


def measure(folder: Path, operations: dict[str, tuple[str, ...]], launches: int, results: Path) -> None:
    for _ in range(launches):
        for ranks in RANKS:
            for operation, algorithms in operations.items():
                call = CALLS.get(operation, operation)
                method = ",".join(f"algorithm:{call}={name}" for name in algorithms) or "blocking"
                command = ["mpirun", "-np", ranks, folder / "dlmb_collective", "--operation", operation, "-m", "256:1M", "--backend", "mpi",
                           "--method", method, "--time-limit", "0.2", "--results", results]  # fmt: skip
                subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, timeout=600)


def points_of(results: Path) -> list[dict[str, str]]:
    times = collections.defaultdict(list)
    for line in results.read_text(encoding="utf-8").splitlines():
        cell = json.loads(line)
        if cell["kind"] == "cell" and cell["status"] == "ok":
            operation = cell["parameters"]["operation"]
            ranks = cell["world"]["ranks"]
            size = cell["parameters"]["message-size"] * (ranks if operation in PER_RANK else 1)
            algorithm = cell["method"].split("=")[-1] + "_ompi"
            times[(COLLECTIVES.get(operation, operation), algorithm, ranks, size)].append(cell["time_ns"]["median"] / 1000)
    return [
        {"system": "here", "nodes": "1", "ranks_per_node": str(ranks), "collective": collective, "algorithm": algorithm,
         "bytes": str(size), "median_us": str(statistics.median(values))}  # fmt: skip
        for (collective, algorithm, ranks, size), values in sorted(times.items())
    ]


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    programs = Path(sys.argv[1])
    launches = int(sys.argv[2]) if len(sys.argv) == 3 else 5
    print(f"load before: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            measure(programs, FITTED, launches, folder / "fitted.jsonl")
            measure(programs, ASKED, launches, folder / "asked.jsonl")
            predict = [str(programs / "dlmb_predict")]
            subprocess.run([*predict, "fit", folder / "fitted.jsonl", "--system", "here", "-o", folder / "model.json"], check=True)
            rows = points_of(folder / "asked.jsonl")
            with (folder / "points.csv").open("w", encoding="utf-8", newline="") as table:
                writer = csv.DictWriter(table, rows[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            model = ["--model", folder / "model.json"]
            subprocess.run([*predict, "points", *model, folder / "points.csv", "-o", folder / "predicted.csv"], check=True)
        except subprocess.CalledProcessError as error:
            return error.returncode
        with (folder / "predicted.csv").open(encoding="utf-8", newline="") as table:
            predicted = [row for row in csv.DictReader(table) if row["predicted_us"]]
    errors = collections.defaultdict(list)
    held = 0
    for row in predicted:
        time = float(row["median_us"])
        error = abs(float(row["predicted_us"]) / time - 1)
        held += float(row["low_us"]) <= time <= float(row["high_us"])
        for what in (row["collective"], f"{row['collective']} {row['algorithm']}", "all"):
            errors[what].append(error)
    print()
    for what, values in sorted(errors.items()):
        print(f"{what:<40} {len(values):>4} points   median error {statistics.median(values):.0%}")
    print(f"in the 90 % interval: {held / len(predicted):.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
