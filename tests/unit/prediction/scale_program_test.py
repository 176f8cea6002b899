# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict scale, and time on a topology, as a person or a script runs them.

usage: scale_program_test.py DLMB_PREDICT
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.argv[1])
VALIDATE = Path(__file__).resolve().parents[3] / "results-schema" / "validate.py"
MOE = ("moe_alltoall", "--preset", "mixtral-8x7b")
MESSAGES = ("collective", "--operation", "alltoall", "-m", "64K:64K", "--ranks-per-node", "1", "--latency", "2000", "--gap-per-byte", "0.04")


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in (PROGRAM, *arguments)], capture_output=True, text=True, check=False, timeout=120)


class Scale(unittest.TestCase):
    def points(self, *arguments: object) -> list[dict[str, Any]]:
        done = call("scale", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["points"]

    def refused(self, part: str, *arguments: object) -> None:
        done = call(*arguments)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
        self.assertIn(part, done.stderr)

    def test_a_uniform_all_to_all_has_the_shares_of_hamming_mesh(self) -> None:
        found = self.points("--uniform", "1M", "--ranks", "1024,16384", "--topology", "torus:2d", "--topology", "hamming-mesh:2")
        for point, share in zip(found, (2 / 32, 0.2664, 2 / 128, 0.2540)):
            self.assertAlmostEqual(point["share"] / share, 1, delta=0.01)
            self.assertAlmostEqual(point["time_us"], (1 << 20) / 50e3 / point["share"], delta=0.01)
            self.assertEqual(point["limit"], "links")

    def test_weak_scaling_keeps_the_tokens_of_a_rank_and_strong_scaling_divides_them(self) -> None:
        weak = self.points(*MOE, "--tokens", 256, "--ranks", "16,32", "--topology", "fat-tree")
        strong = self.points(*MOE, "--tokens", 256, "--ranks", "16,32", "--topology", "fat-tree", "--strong", "tokens")
        half = self.points(*MOE, "--tokens", 128, "--ranks", 32, "--topology", "fat-tree")
        self.assertEqual(strong[0]["time_us"], weak[0]["time_us"])
        self.assertEqual(strong[1]["time_us"], half[0]["time_us"])
        self.assertAlmostEqual(strong[1]["efficiency"], weak[0]["time_us"] / half[0]["time_us"] / 2)

    def test_the_document_follows_the_schema(self) -> None:
        if importlib.util.find_spec("jsonschema") is None:
            self.skipTest("no python3-jsonschema")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scale.json"
            self.assertEqual(call("scale", "--uniform", "1M", "--ranks", 16, "--topology", "dragonfly", "--json", "-o", path).returncode, 0)
            done = subprocess.run([sys.executable, VALIDATE, "--strict", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_makes_no_sense_is_refused_in_one_line(self) -> None:
        self.refused("either a pattern or --uniform", "scale", "--ranks", 4, "--topology", "torus:2d")
        self.refused("nearest: moe_alltoall", "scale", "moe_alltoal", "--ranks", 4, "--topology", "torus:2d")
        self.refused("its boards have 4", "scale", "--uniform", "1M", "--ranks", 66, "--topology", "hamming-mesh:2")
        self.refused("nearest: tokens", "scale", *MOE, "--ranks", 8, "--topology", "torus:2d", "--strong", "tokenz")
        self.refused("cannot be divided", "scale", *MOE, "--tokens", 1, "--ranks", "8,24", "--topology", "torus:2d", "--strong", "tokens")
        self.refused("--plan", "scale", *MOE, "--ranks", 8, "--topology", "torus:2d", "--plan", "json")
        for option, value in (("--bandwidth-GBps", "nan"), ("--latency-us", "nan"), ("--hop-ns", "nan"), ("--placement-seed", -1)):
            self.refused(option, "scale", "--uniform", "1M", "--ranks", 8, "--topology", "torus:2d", option, value)
        self.refused("needs --topology", "time", *MESSAGES, "--ranks", 8, "--contention", "links")
        self.refused("the network has 4", "time", *MESSAGES, "--ranks", 8, "--topology", "torus:2x2")

    def test_no_simulation_of_the_same_pattern_is_below_the_bound(self) -> None:
        operations = "allreduce reduce broadcast reduce_scatter allgather gather scatter alltoall barrier sendrecv".split()
        for operation in operations:
            for root in (0, 1) if operation in ("reduce", "broadcast", "gather", "scatter") else (0,):
                pattern = ["collective", "--operation", operation, "--ranks-per-node", 1, *(["--root", root] if root else [])]
                pattern += [] if operation == "barrier" else ["-m", "4K:4K"]
                (bound,) = self.points(*pattern, "--ranks", 16, "--bandwidth-GBps", 25, "--latency-us", 2, "--topology", "torus:4x4")
                machine = ("--latency", 2000, "--gap-per-byte", 0.04, "--topology", "torus:4x4")
                done = call("time", *pattern, "--ranks", 16, *machine, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(bound["time_us"], 0, operation)
                self.assertLessEqual(1e6 * bound["time_us"], json.loads(done.stdout)["time_ps"] + 1, f"{operation}, root {root}")

    def test_messages_that_share_links_take_at_least_the_bound(self) -> None:
        def time_ps(*arguments: object) -> int:
            done = call("time", *MESSAGES, "--ranks", 32, *arguments, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return int(json.loads(done.stdout)["time_ps"])

        (bound,) = self.points("--uniform", 31 * 65536, "--ranks", 32, "--bandwidth-GBps", 25, "--topology", "torus:4x8")
        shared = time_ps("--topology", "torus:4x8")
        self.assertGreaterEqual(shared, 1e6 * bound["time_us"])
        self.assertLess(shared, 2e6 * bound["time_us"])
        self.assertGreater(shared, time_ps("--topology", "torus:4x8", "--contention", "none"))
        self.assertEqual(shared, time_ps("--topology", "torus:4x8"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
