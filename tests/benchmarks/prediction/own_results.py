#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How well dlmb_predict does on this machine: fits allreduce and sendrecv over mpi, predicts what else runs there.

usage: own_results.py BIN FOLDER [LAUNCHES [SECONDS]]

BIN: the folder of the programs, built with Open MPI. FOLDER keeps the result files; what is there is not measured again, so
that a run that was interrupted goes on. LAUNCHES (4): of 2 and of 4 ranks each, about a minute each on an idle machine, which is
needed, with 4 processors: the fit leaves out cells of more ranks. SECONDS: begin no further program after so many; run again to
go on. Prints the error by collective and algorithm against the median over launches, and how far each launch is from the
others: no model can be nearer to one launch than that. 25 % is the goal of the median.
exit 0; 75: not all is measured yet; or that of the program that failed
"""

from __future__ import annotations

import collections
import csv
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

RANKS = (2, 4)
SIZES = ",".join(f"{size}:{size}" for size in (256, 1024, 4096, 16384, 65536, 262144, 1048576))
FITTED = {"allreduce": ("recursive_doubling", "ring", "rabenseifner"), "sendrecv": ()}
ASKED = {
    "broadcast": ("binomial", "knomial", "scatter_allgather", "scatter_allgather_ring"),
    "allgather": ("ring", "recursive_doubling", "bruck", "neighbor"),
    "reduce_scatter_block": ("recursive_halving",),
}
CALLS = {"broadcast": "bcast"}
COLLECTIVES = {"broadcast": "bcast", "reduce_scatter_block": "reduce_scatter"}
PER_RANK = ("allgather",)  # --message-size counts what one rank gives
PATTERNS = {
    "moe_alltoall": ["--preset", "deepseek-v3", "--tokens", "1,4,16,64,256",
                     "--method", "algorithm:alltoallv=basic_linear,algorithm:alltoallv=pairwise"],
    "pipeline_p2p": ["--schedule", "1f1b", "--hidden", "512", "--sequence", "1,4,16,64,256,1024", "--method", "blocking"],
}  # fmt: skip
POINT = {"moe_alltoall": "tokens", "pipeline_p2p": "sequence"}


def commands(programs: Path) -> dict[str, list[str]]:
    listed = {}
    for operation, algorithms in (FITTED | ASKED).items():
        call = CALLS.get(operation, operation)
        method = ",".join(f"algorithm:{call}={name}" for name in algorithms) or "blocking"
        listed[operation] = [programs / "dlmb_collective", "--operation", operation, "-m", SIZES, "--method", method]
    for pattern, options in PATTERNS.items():
        listed[pattern] = [programs / f"dlmb_{pattern}", *options]
    return {name: [str(word) for word in command] for name, command in listed.items()}


def measure(programs: Path, folder: Path, launches: int, until: float) -> bool:
    """False: the time was up before all was measured."""
    for launch in range(launches):
        for ranks in RANKS:
            for name, command in commands(programs).items():
                results = folder / f"{name}-{ranks}-{launch}.jsonl"
                if results.exists():
                    continue
                if time.monotonic() > until:
                    return False
                part = results.with_suffix(".part")
                part.unlink(missing_ok=True)
                subprocess.run(["mpirun", "-np", str(ranks), *command, "--backend", "mpi", "--time-limit", "0.15", "--results", part],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)  # fmt: skip
                part.rename(results)
    return True


def cells(folder: Path, name: str, ranks: int) -> list[dict]:
    lines = []
    for path in sorted(folder.glob(f"{name}-{ranks}-*.jsonl")):
        lines += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["kind"] == "cell" and line["status"] == "ok"]


def fit(predict: str, folder: Path) -> Path:
    texts = [path.read_text(encoding="utf-8") for name in FITTED for path in sorted(folder.glob(f"{name}-*.jsonl"))]
    (folder / "fitted").write_text("".join(texts), encoding="utf-8")
    subprocess.run([predict, "fit", folder / "fitted", "--system", "here", "-o", folder / "model.json"], check=True)
    return folder / "model.json"


Predicted = tuple[str, str, float, float, float, list[float]]  # collective, algorithm, us, low, high, measured us of launches


def predicted_collectives(predict: str, folder: Path, model: Path) -> list[Predicted]:
    times = collections.defaultdict(list)
    for operation in ASKED:
        for ranks in RANKS:
            for cell in cells(folder, operation, ranks):
                size = cell["parameters"]["message-size"] * (ranks if operation in PER_RANK else 1)
                algorithm = cell["method"].split("=")[-1] + "_ompi"
                times[(COLLECTIVES.get(operation, operation), algorithm, ranks, size)].append(cell["time_ns"]["median"] / 1000)
    rows = [
        {"system": "here", "nodes": "1", "ranks_per_node": ranks, "collective": collective, "algorithm": algorithm, "bytes": size}
        for collective, algorithm, ranks, size in times
    ]
    with (folder / "points.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    subprocess.run([predict, "points", "--model", model, folder / "points.csv", "-o", folder / "predicted.csv"], check=True)
    with (folder / "predicted.csv").open(encoding="utf-8", newline="") as table:
        return [
            (row["collective"], row["algorithm"], *(float(row[name]) for name in ("predicted_us", "low_us", "high_us")), measured)
            for row, measured in zip(csv.DictReader(table), times.values())
            if row["predicted_us"]
        ]


def predicted_patterns(predict: str, folder: Path, model: Path) -> list[Predicted]:
    found = []
    for pattern, options in PATTERNS.items():
        times = collections.defaultdict(list)
        for ranks in RANKS:
            for cell in cells(folder, pattern, ranks):
                times[(cell["method"].split("=")[-1], ranks, str(cell["parameters"][POINT[pattern]]))].append(cell["time_ns"]["median"] / 1000)
        for (method, ranks, point), measured in times.items():
            planning = [Path(predict).parent / f"dlmb_{pattern}", *options[:options.index("--method")], "--ranks", ranks, "--plan", "jsonl"]
            planning[planning.index("--" + POINT[pattern]) + 1] = point
            command = [predict, "time", "-", "--machine", model, "--json"]
            if method in ("pairwise", "basic_linear"):
                command += ["--algorithm", f"exchange={method.removeprefix('basic_')}"]
            plans = subprocess.run([str(word) for word in planning], check=True, stdout=subprocess.PIPE).stdout
            answer = json.loads(subprocess.run([str(word) for word in command], input=plans, check=True, stdout=subprocess.PIPE).stdout)
            time_us = answer["time_ps"] / 1e6
            found.append((pattern, method, time_us, answer.get("low_ps", 0) / 1e6, answer.get("high_ps", 0) / 1e6, measured))
    return found


def report(predicted: list[Predicted]) -> None:
    errors = collections.defaultdict(list)
    scatter = collections.defaultdict(list)
    held = []
    for collective, algorithm, time_us, low, high, measured in predicted:
        middle = statistics.median(measured)
        held.append(low <= middle <= high)
        names = (collective, f"{collective} {algorithm}", "all")
        for what in names:
            errors[what].append(abs(time_us / middle - 1))
        for index, each in enumerate(measured):
            others = measured[:index] + measured[index + 1 :]
            for what in names if others else ():
                scatter[what].append(abs(statistics.median(others) / each - 1))
    print(f"\n{'':<40} {'points':>6} {'median error':>13} {'90 % below':>11} {'launch against the others':>26}")
    for what, values in sorted(errors.items()):
        tail = statistics.quantiles(values, n=10)[-1]
        own = f"{statistics.median(scatter[what]):.0%}" if scatter[what] else "-"
        print(f"{what:<40} {len(values):>6} {statistics.median(values):>13.0%} {tail:>11.0%} {own:>26}")
    print(f"in the 90 % interval: {sum(held) / len(held):.0%}")


def main() -> int:
    if len(sys.argv) not in (3, 4, 5):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    programs, folder = Path(sys.argv[1]), Path(sys.argv[2])
    launches = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    until = time.monotonic() + (float(sys.argv[4]) if len(sys.argv) > 4 else float("inf"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"load before: {os.getloadavg()[0]:.1f}")
    predict = str(programs / "dlmb_predict")
    try:
        if not measure(programs, folder, launches, until):
            print("not all is measured yet; run again")
            return 75
        model = fit(predict, folder)
        report(predicted_collectives(predict, folder, model) + predicted_patterns(predict, folder, model))
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
