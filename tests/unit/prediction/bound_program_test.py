# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict time on a topology and its bound."""

from __future__ import annotations

import json

import program

MACHINE = ("--latency", 2000, "--gap-per-byte", 0.04)
MESSAGES = ("collective", "--operation", "alltoall", "-m", "64K:64K", "--ranks-per-node", "1", *MACHINE)


class Bound(program.Program):
    command = ("time",)

    def test_a_uniform_all_to_all_has_the_share_of_hamming_mesh(self) -> None:
        found = self.answer("--bound", "--uniform", "1M", "--topology", "hamming-mesh:2x16x16", *MACHINE)
        self.assertAlmostEqual(found["share"] / 0.2664, 1, delta=0.01)
        self.assertAlmostEqual(found["time_ps"], (1 << 20) * 40 / found["share"], delta=1)
        self.assertEqual(found["limit"], "links")

    def test_switches_that_reduce_take_each_vector_once(self) -> None:
        pattern = ("collective", "--operation", "allreduce", "-m", "1M:1M", "--ranks", 16, "--ranks-per-node", 1, "--topology", "fat-tree:4x4", *MACHINE, "--bound")
        tree = self.answer(*pattern, "--algorithm", "allreduce=in_network")
        self.assertEqual((tree["injection_ps"], tree["latency_ps"]), ((1 << 20) * 40, 4 * 2_000_000))

    def test_the_document_follows_the_schema(self) -> None:
        asked = {"uniform.json": ("--uniform", "1M", *MACHINE), "pattern.json": (*MESSAGES, "--ranks", 16)}
        self.follows_its_schema(*(self.write(name, [json.dumps(self.answer(*traffic, "--bound", "--topology", "dragonfly:2x4x2"))]) for name, traffic in asked.items()))

    def test_a_person_reads_what_the_document_says(self) -> None:
        done = self.call("--bound", "--uniform", "1M", "--topology", "torus:4x4", *MACHINE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("at least 89.478 us on torus:4x4, for links", done.stdout)
        self.assertIn("The busiest node gets 0.4688 of its injection bandwidth", done.stdout)

    def test_what_makes_no_sense_is_refused_in_one_line(self) -> None:
        uniform = ("--bound", "--uniform", "1M", "--topology", "torus:4x2")
        self.refused(64, "PLANS or --uniform", "--bound", "--topology", "torus:2x2", *MACHINE)
        self.refused(64, "PLANS or --uniform", "--uniform", "1M", "--topology", "torus:2x2", *MACHINE)
        self.refused(64, "--bound needs --topology", *MESSAGES, "--ranks", 8, "--bound")
        self.refused(64, "say what messages cost", *uniform)
        self.refused(64, "unknown option '--tokens'", *uniform, *MACHINE, "--tokens=4")
        self.refused(64, "no switches that reduce", "collective", "--operation", "allreduce", "-m", "64K:64K", "--ranks", 8, *uniform[:1], *uniform[3:], "--ranks-per-node", 1, *MACHINE, "--algorithm", "allreduce=in_network")
        for option, value in (("--hop", "nan"), ("--placement-seed", -1)):
            self.refused(64, option, *uniform, *MACHINE, option, value)
        for option, value in (("--algorithm", "allreduce=in_network"), ("--placement", "blocked")):
            self.refused(64, f"{option} excludes --uniform", *uniform, *MACHINE, option, value)
        for option, value, part in (("--hop", 5, "--hop excludes --bound"), ("--rate-tolerance", 0, "--rate-tolerance excludes --bound"), ("--path", 3, "--bound excludes --path")):
            self.refused(64, part, *uniform, *MACHINE, option, value)
        self.refused(64, "the network has 4", *MESSAGES, "--ranks", 8, "--topology", "torus:2x2")

    def test_no_simulation_of_the_same_pattern_is_below_the_bound(self) -> None:
        operations = "allreduce reduce broadcast reduce_scatter allgather gather scatter alltoall barrier sendrecv".split()
        for operation in operations:
            for root in (0, 1) if operation in ("reduce", "broadcast", "gather", "scatter") else (0,):
                pattern = ["collective", "--operation", operation, "--ranks-per-node", 1, *(["--root", root] if root else [])]
                pattern += [] if operation == "barrier" else ["-m", "4K:4K"]
                asked = (*pattern, "--ranks", 16, *MACHINE, "--topology", "torus:4x4")
                bound, simulated = self.answer(*asked, "--bound"), self.answer(*asked)
                self.assertGreater(bound["time_ps"], 0, operation)
                self.assertLessEqual(bound["time_ps"], simulated["time_ps"] + 1, f"{operation}, root {root}")

    def test_messages_that_share_links_take_at_least_the_bound(self) -> None:
        def time_ps(*arguments: object) -> int:
            return int(self.answer(*MESSAGES, "--ranks", 32, *arguments)["time_ps"])

        bound = self.answer("--bound", "--uniform", 31 * 65536, "--topology", "torus:4x8", *MACHINE)["time_ps"]
        shared = time_ps("--topology", "torus:4x8")
        self.assertGreaterEqual(shared, bound)
        self.assertLess(shared, 2 * bound)
        self.assertGreater(shared, time_ps())
        self.assertEqual(shared, time_ps("--topology", "torus:4x8"))


if __name__ == "__main__":
    program.main()
