# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From launches to a table to a file that a program without DLMB obeys. What is chosen depends on the machine and is
not looked at; that it acts where it was measured, and nowhere else, is."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from exports import tune

CONSUMER = sys.argv.pop(1)  # openmpi or mpich
# MPICH's ranks spin: with two on a core, or two that move, nothing is measured but that.
RANKS = {"openmpi": ["-n", "4"], "mpich": ["-n", "2", "-bind-to", "core"]}[CONSUMER]
TIME_S = {"openmpi": "0.02", "mpich": "0.04"}  # of a cell; two ranks take several times as long to show a winner
LAUNCHES = 8  # as many as the documentation asks for
SIZES = {"openmpi": "1K:2K", "mpich": "16K:32K"}[CONSUMER]  # two neighbours: what is not confirmed must hold at both
OPERATIONS = "allreduce,alltoall"  # with a reduction and without; of the others: verify_open_mpi.py


def launch(results: pathlib.Path) -> None:
    program = pathlib.Path(os.environ["DLMB_TUNE"]).with_name("dlmb_collective")
    command = [os.environ["DLMB_MPIEXEC"], *RANKS, program, "--operation", OPERATIONS, "-m", SIZES, "--backend", "mpi",
               "--method", "all", "--timing", "stream", "--time-limit", TIME_S[CONSUMER], "--calibration", "off", "--results", results]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])


class Chain(unittest.TestCase):
    def test_what_was_measured_acts_in_a_plain_program(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            results = folder / "results"
            results.mkdir()
            for number in range(LAUNCHES):
                launch(results / f"{number}.jsonl")
            table = folder / "table.json"
            done = tune("build", results, "-o", table, "--launches", str(LAUNCHES), "--timing", "stream",
                        "--methods", "algorithm", "--accept", "oversubscribed,quick,unconfirmed")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rules = json.loads(table.read_text(encoding="utf-8"))["rules"]
            self.assertEqual({rule["when"]["operation"] for rule in rules}, {"allreduce", "exchange"})

            done = tune("export", "--to", CONSUMER, table, "-o", folder / "tuned")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = tune("verify", "--to", CONSUMER, table, "--files", folder / "tuned", "--rounds", "0")
            chosen = [rule["choose"] for rule in rules if rule["status"] == "chosen"]
            print(f"{len(chosen)} of {len(rules)} rules leave the default\n{done.stdout}")
            self.assertEqual(done.returncode, 0 if chosen else 77, done.stdout + done.stderr)
            if not chosen:
                self.skipTest("no algorithm was better than the default by more than noise, so there is nothing to see")


if __name__ == "__main__":
    unittest.main()
