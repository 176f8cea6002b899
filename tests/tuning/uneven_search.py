# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a workload's uneven exchanges ask of a table is measured by exchanges of dlmb_collective that are as uneven."""

from __future__ import annotations

import json
import math
import pathlib
import re
import subprocess
import tempfile
import unittest

from dlmb_results.plans import one_plan
from exports import TUNE, rule, tune, write_table

RANKS = 4


def program(name: str, *arguments: str) -> str:
    command = [pathlib.Path(TUNE).with_name(name), "--ranks", str(RANKS), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def imbalance_of(plan: dict, label: str) -> float:
    steps = [step for one in plan["plans"] for step in one["steps"] if step["label"] == label]
    totals = [[sum(block["bytes"] for block in step[side]) for step in steps] for side in ("send", "recv")]
    return max(map(max, totals)) * RANKS / sum(totals[0])


def half_octave(imbalance: float) -> int:
    return math.floor(2 * math.log2(imbalance))


class UnevenSearch(unittest.TestCase):
    def test_a_search_for_a_workload_is_as_uneven_as_the_workload(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            text = program("dlmb_moe_alltoall", "--hidden", "64", "--experts", "16", "--top-k", "2", "--tokens", "128",
                           "--skew", "hot_rank:6", "--plan", "jsonl")
            (folder / "plan.jsonl").write_text(text, encoding="utf-8")
            wanted = imbalance_of(one_plan(text), "dispatch")
            self.assertGreater(wanted, 1.5)

            table = write_table(folder / "table.json", [rule("r0", "mpi", "allreduce", (0, 100), ranks=2)])
            done = tune("gain", table, "--traffic", folder / "plan.jsonl", "--next-search", folder / "search.toml")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            jobs = (folder / "search.toml").read_text(encoding="utf-8").split("[[program]]")
            job = dict(re.findall(r'(\S+) = "([^"]*)"', next(each for each in jobs if '"alltoallv"' in each)))

            results = folder / "results.jsonl"
            program("dlmb_collective", "--operation", job["operation"], "--message-size", job["message-size"], "--skew",
                    job["skew"], "--backend", "in_process", "-i", "2", "--results", str(results))
            lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
            traffic = next(line["traffic"] for line in lines if line["kind"] == "cell")
            measured = traffic["largest_total_bytes"] * RANKS / traffic["payload_bytes"]
            self.assertEqual(half_octave(measured), half_octave(wanted), f"{measured} and {wanted}")


if __name__ == "__main__":
    unittest.main()
