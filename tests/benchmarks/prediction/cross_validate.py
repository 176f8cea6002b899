#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How well dlmb_predict does on nodes that its fit has not seen: the tables behind docs/predicting.md.

usage: cross_validate.py DLMB_PREDICT MEASUREMENTS [PICTURE.png]

MEASUREMENTS is the table of PICO. PICTURE: predicted against measured times by system and operation (needs
matplotlib). exit 0, or that of dlmb_predict where it fails
"""

from __future__ import annotations

import collections
import csv
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# System, fitted up to so many nodes, scored from so many to so many.
SPLITS = (
    ("fugaku", 64, 512, 512),
    ("leonardo", 256, 512, 512),
    ("fugaku", 8, 64, 64),
    ("leonardo", 64, 128, 256),
    ("mare_nostrum", 32, 60, 64),
    ("lumi", 37, 100, 100),
)


def nodes_of(text: str) -> int:
    return math.prod(int(part) for part in text.split("x"))


def print_floor(path: str) -> None:
    """How far jobs are from each other, where several measured the same case."""
    times = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if row["gpu"] == "no":
                case = tuple(row[name] for name in ("system", "nodes", "ranks_per_node", "collective", "algorithm", "bytes"))
                times[case].append((row["campaign"], float(row["median_us"])))
    print("Where several jobs measured the same case, errors of what no model can do better than: a prediction for a job from the")
    print("times of the others; the mean of all jobs (geometric), on the nodes that are predicted")
    for system, _, first, _ in SPLITS[2:]:
        from_others, from_all, ratios = [], [], []
        for case, jobs in times.items():
            if case[0] != system or len({job for job, _ in jobs}) < 2:
                continue
            values = [value for _, value in jobs]
            from_others += [abs(statistics.geometric_mean(values[:at] + values[at + 1 :]) / value - 1) for at, value in enumerate(values)]
            if nodes_of(case[1]) >= first:
                from_all += [abs(statistics.geometric_mean(values) / value - 1) for value in values]
                ratios.append(max(values) / min(values))
        if from_others:
            print(f"{system}: from the others {spread(from_others)}", end="")
            print(f"; mean of all {spread(from_all)}; the slowest job over the fastest x{statistics.median(ratios):.2f}" if from_all else "")


def spread(errors: list[float]) -> str:
    return f"median {statistics.median(errors):.0%}, 90 % below {statistics.quantiles(errors, n=10)[-1]:.0%} ({len(errors)} times)"


def draw(predicted: dict[str, list[dict[str, str]]], picture: str) -> None:
    import matplotlib  # noqa: PLC0415 (only whoever draws needs it)

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    collectives = sorted({row["collective"] for rows in predicted.values() for row in rows})
    colors = dict(zip(collectives, pyplot.get_cmap("tab10").colors))
    figure, all_axes = pyplot.subplots(3, 2, figsize=(10, 14), layout="constrained")
    for axes, (title, rows) in zip(all_axes.flat, predicted.items()):
        for name in collectives:
            mine = [row for row in rows if row["collective"] == name]
            measured = [float(row["median_us"]) for row in mine]
            times = [float(row["predicted_us"]) for row in mine]
            low = [time - float(row["low_us"]) for time, row in zip(times, mine)]
            high = [float(row["high_us"]) - time for time, row in zip(times, mine)]
            if mine:
                axes.errorbar(measured, times, yerr=(low, high), fmt="none", ecolor=colors[name], alpha=0.2)
                axes.plot(measured, times, "o", markersize=3.5, color=colors[name], label=name)
        ends = [float(row["median_us"]) for row in rows]
        limits = [min(ends) / 2, max(ends) * 2]
        axes.plot(limits, limits, color="black", linewidth=1)
        for factor in (0.5, 2):
            axes.plot(limits, [factor * end for end in limits], color="black", linewidth=0.6, linestyle=":")
        axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits, title=title, xlabel="measured, us", ylabel="predicted, us")
        axes.legend(fontsize=8, loc="upper left")
    figure.suptitle("Times on nodes that were not fitted; bars hold 90 %, dotted lines are a factor of 2")
    figure.savefig(picture, dpi=90)


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    program, path = sys.argv[1:3]
    predicted = {}
    print_floor(path)
    summary = [f"{'fitted on':<20} {'scored on':<12} {'times':>6} {'median':>7} {'90 %':>6} {'held':>6}"]
    for system, most, first, last in SPLITS:
        print(flush=True)
        arguments = [program, "cross-validate", path, "--system", system, "--max-nodes", str(most), "--from-nodes", str(first), "--to-nodes", str(last)]
        with tempfile.TemporaryDirectory() as folder:
            points = Path(folder) / "points.csv"
            done = subprocess.run([*arguments, "-o", points], check=False)
            if done.returncode != 0:
                return done.returncode
            with points.open(encoding="utf-8", newline="") as table:
                rows = list(csv.DictReader(table))
        scored = str(first) if first == last else f"{first} to {last}"
        predicted[f"{system}, up to {most} nodes predict {scored}"] = rows
        errors = sorted(abs(float(row["predicted_us"]) / float(row["median_us"]) - 1) for row in rows)
        held = sum(float(row["low_us"]) <= float(row["median_us"]) <= float(row["high_us"]) for row in rows) / len(rows)
        ends = (statistics.median(errors), statistics.quantiles(errors, n=10)[-1], held)
        summary.append(f"{system + ' ' + str(most):<20} {scored:<12} {len(rows):>6} " + " ".join(f"{value:>6.0%}" for value in ends))
    print("\n" + "\n".join(summary))
    if len(sys.argv) == 4:
        draw(predicted, sys.argv[3])
    return 0


if __name__ == "__main__":
    sys.exit(main())
