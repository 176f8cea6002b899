# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a workload does: how long the library's own choice takes in all for each operation and size is what a tuning can save of.

A plan is what the programs of patterns print with --plan json, a folder of plans has iterations; a preset is named PROGRAM:PRESET and printed the same way.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from dlmb_launch.autotune.points import OPERATIONS, Point, from_table_bytes
from dlmb_launch.sweep.faults import UsageError
from dlmb_results.fields import load_json
from dlmb_results.inputs import read_document

_SECONDS = 120  # to print a plan


def use_of(workload: str, ranks: int, programs: Path) -> dict[Point, float]:
    """Calls per iteration of each operation at each size: a call counts at the powers of two on both sides of its size, so that a doubling grid
    has them."""
    path = Path(workload)
    if path.is_dir():
        files = sorted(path.glob("*.json"))
        if not files:
            raise UsageError(f"--workload {workload}: has no plan in it (*.json)")
        mean: Counter[Point] = Counter()
        for file in files:
            mean.update({point: calls / len(files) for point, calls in _count(file, ranks).items()})
        return dict(mean)
    if path.is_file():
        return _count(path, ranks)
    program, colon, preset = workload.partition(":")
    path = programs / f"dlmb_{program.removeprefix('dlmb_')}"
    if not colon or not path.is_file():
        raise UsageError(f"--workload {workload}: is no file, and no PROGRAM:PRESET of {programs}, as tp_allreduce:gpt-19m")
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.json"
        with plan.open("wb") as file:
            command = [path, "--preset", preset, "--ranks", str(ranks), "--plan", "json"]
            try:
                done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, timeout=_SECONDS, check=False)
            except subprocess.TimeoutExpired:
                raise UsageError(f"--workload {workload}: its plan took longer than {_SECONDS} s") from None
        if done.returncode != 0:
            raise UsageError(f"--workload {workload}: {done.stderr.strip() or 'it makes no plan'}")
        return _count(plan, ranks)


def _count(path: Path, ranks: int) -> dict[Point, float]:
    try:
        plan = load_json(read_document(path))
        if not plan["schema"].startswith("dlmb.plan/1."):
            raise UsageError(f"--workload {path}: schema '{plan['schema']}', this program reads dlmb.plan/1.x")
        if plan["world"]["ranks"] != ranks:
            raise UsageError(f"--workload {path}: is a plan of {plan['world']['ranks']} ranks; give --ranks {plan['world']['ranks']}, or another plan")
        return _of_steps(plan["plans"][0]["steps"], ranks)
    except OSError as error:
        raise UsageError(f"--workload {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise UsageError(f"--workload {path}: is not what --plan json prints") from None


def _of_steps(steps: list[dict], ranks: int) -> dict[Point, float]:
    """Of one rank: what a table chooses for is the same on all. Steps of a part of the ranks are left out, as are exchanges of unequal
    blocks, for which MPI libraries choose without their size, and calls with shares: a vector form is another call."""
    names = {table: operation for operation, (table, plain) in OPERATIONS.items() if plain}
    calls: Counter[Point] = Counter()
    for step in steps:
        operation, sent = names.get(step["operation"]), [message["bytes"] for message in step.get("send", [])]
        if operation is None or "shares" in step or len(step["group"]) != ranks or (operation == "alltoall" and len(set(sent)) != 1):
            continue
        size = from_table_bytes(operation, sum(sent) if operation == "alltoall" else step["bytes"], ranks).size
        below = 1 << max(size.bit_length() - 1, 3)
        for near in {below, below if size <= below else 2 * below}:
            calls[Point(operation, near)] += 1.0
    return dict(calls)
