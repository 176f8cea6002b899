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


def is_near(row: dict[str, str]) -> bool:
    return float(row["low_us"]) <= float(row["median_us"]) <= float(row["high_us"])


def error_of(row: dict[str, str]) -> float:
    return abs(float(row["predicted_us"]) / float(row["median_us"]) - 1)


def print_errors(rows: list[dict[str, str]]) -> None:
    print(f"{'':<58} {'n':>5} {'median%':>7} {'p90%':>7} {'held%':>9}")
    for columns in (("collective", "algorithm"), ("collective",), ()):
        groups = collections.defaultdict(list)
        for row in rows:
            groups[" ".join(row[column] for column in columns) or "all"].append(row)
        for name, group in groups.items():
            errors = sorted(map(error_of, group))
            p90 = statistics.quantiles(errors, n=10, method="inclusive")[-1] if len(errors) > 1 else errors[0]
            print(f"{name:<58} {len(group):>5} {100 * statistics.median(errors):>7.0f} {100 * p90:>7.0f} {100 * statistics.mean(map(is_near, group)):>9.0f}")
        print()


def print_choices(rows: list[dict[str, str]], fitted: list[dict[str, str]]) -> str:
    """The measured time of what is chosen over that of the fastest, by the shortest prediction, and by the winner before.

    Returns the first two for the summary.
    """
    before = {}
    for row in sorted(fitted, key=lambda row: nodes_of(row["nodes"])):
        before[row["collective"], row["algorithm"], row["bytes"]] = float(row["median_us"])
    cases = collections.defaultdict(list)
    for row in rows:
        cases[tuple(row[name] for name in ("nodes", "ranks_per_node", "campaign", "collective", "bytes"))].append(row)
    ratios: dict[str, list[float]] = {"the shortest prediction": [], "that, where its interval is apart": [], "the winner on the most nodes that were fitted": []}
    for case in cases.values():
        times = [float(row["median_us"]) for row in case]
        if len(case) > 1:
            by_model = float(min(case, key=lambda row: float(row["predicted_us"]))["median_us"]) / min(times)
            known = [(before[key], time) for row, time in zip(case, times) if (key := (row["collective"], row["algorithm"], row["bytes"])) in before]
            for name, ratio in zip(ratios, (by_model, by_model if case[0]["chosen"] in ("yes", "no") else None, min(known)[1] / min(times) if known else None)):
                ratios[name] += [] if ratio is None else [ratio]
    print(f"{'algorithm chosen by':<58} {'cases':>5} {'x best':>7} {'worst':>7}")
    for name, values in ratios.items():
        print(f"{name:<58} {len(values):>5} {statistics.geometric_mean(values or [1]):>7.2f} {max(values, default=1):>7.2f}")
    all_cases, certain = list(ratios.values())[:2]
    return f"x{statistics.geometric_mean(all_cases or [1]):.2f} | {len(certain)} of {len(all_cases)}, x{statistics.geometric_mean(certain or [1]):.2f}"


def predicted_rows(program: str, path: str, system: str, most: int, asked: list[dict[str, str]]) -> list[dict[str, str]]:
    """The lines that a model of the nodes up to `most` answers, also where it knows that its error is large."""
    with tempfile.TemporaryDirectory() as folder:
        model, questions, points = (Path(folder) / name for name in ("model.json", "questions.csv", "points.csv"))
        subprocess.run([program, "fit", path, "--system", system, "--max-nodes", str(most), "-o", model], check=True)
        with questions.open("w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, asked[0])
            writer.writeheader()
            writer.writerows(asked)
        subprocess.run([program, "points", "--force", "--model", model, questions, "-o", points], check=True)
        with points.open(encoding="utf-8", newline="") as table:
            return [row for row in csv.DictReader(table) if row["status"].startswith("ok")]


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    program, path = sys.argv[1:3]
    with open(path, encoding="utf-8", newline="") as table:
        measured = list(csv.DictReader(table))
    predicted = {}
    print_floor(path)
    summary = ["| fitted up to | predicted | measurements | jobs | median error | 90 % below | in the 90 % interval | chosen over best | of these for certain |", "|---" * 9 + "|"]
    for system, most, first, last in SPLITS:
        print(flush=True)
        of_system = [row for row in measured if row["system"] == system]
        rows = predicted_rows(program, path, system, most, [row for row in of_system if first <= nodes_of(row["nodes"]) <= last])
        print_errors(rows)
        choices = print_choices(rows, [row for row in of_system if nodes_of(row["nodes"]) <= most])
        scored = str(first) if first == last else f"{first} to {last}"
        predicted[f"{system}, up to {most} nodes predict {scored}"] = rows
        errors = sorted(map(error_of, rows))
        ends = (statistics.median(errors), statistics.quantiles(errors, n=10)[-1], statistics.mean(map(is_near, rows)))
        jobs = len({row["campaign"] for row in rows})
        summary.append(f"| {system} {most} | {scored} | {len(rows)} | {jobs} | " + " | ".join(f"{value:.0%}" for value in ends) + f" | {choices} |")
    print("\n" + "\n".join(summary))
    if len(sys.argv) == 4:
        draw(predicted, sys.argv[3])
    return 0


if __name__ == "__main__":
    sys.exit(main())
