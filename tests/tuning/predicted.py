# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A table of a machine model: dlmb_predict table, dlmb_tune show, lookup, export, and what refuses it."""

from __future__ import annotations

import json
import math
import pathlib
import subprocess
import tempfile
import unittest

import dlmb_tuning
from exports import TUNE, ok, refusal

PREDICT = pathlib.Path(TUNE).with_name("dlmb_predict")
QUESTION = "--operation allreduce --ranks 512 --nodes 512 --memory host --backend mpi --bytes".split()


def time_us(algorithm: str, nodes: int, size: int) -> float:
    """5 us per round, 10 GB/s: recursive doubling is the fastest for small vectors, the ring for large ones on few nodes."""
    rounds, share = {
        "ring_ompi": (2 * (nodes - 1), 2 * (nodes - 1) / nodes),
        "recursive_doubling_ompi": (math.log2(nodes), math.log2(nodes)),
    }[algorithm]
    return 5 * rounds + size * share / 10_000


class PredictedTable(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.model, cls.table = cls.folder / "model.json", cls.folder / "table.json"
        lines = ["system,nodes,collective,algorithm,bytes,median_us"]
        for nodes in (4, 8, 16, 32, 64):
            for size in (32, 4096, 65536, 1 << 20, 1 << 26):
                for algorithm in ("ring_ompi", "recursive_doubling_ompi"):
                    lines.append(f"made,{nodes},allreduce,{algorithm},{size},{time_us(algorithm, nodes, size):.3f}")
                lines.append(f"made,{nodes},allgather,bruck_over,{size},{math.log2(nodes) * 5 + size / 10_000:.3f}")
        (cls.folder / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        cls.predict("fit", cls.folder / "table.csv", "--system", "made", "-o", cls.model)
        cls.said = cls.predict("table", "--model", cls.model, "--nodes", "256,512", "--sizes", "8:64M", "--mpi-version", "4.1.4", "-o", cls.table)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.temporary.cleanup()

    @staticmethod
    def predict(*arguments: object, code: int = 0) -> str:
        done = subprocess.run([PREDICT, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != code:
            raise AssertionError(f"{done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def test_it_has_the_fastest_algorithm_of_the_library_at_each_size(self) -> None:
        self.assertIn("allgather: the model has no algorithm of open_mpi.tuned", self.said)
        self.assertIn("predicted rules for made, from a model fitted on 4 to 64 nodes", self.said)
        rules = json.loads(self.table.read_text(encoding="utf-8"))["rules"]
        for rule in rules:
            self.assertEqual((rule["when"]["operation"], rule["evidence"]["predicted"]["fitted_nodes"]), ("allreduce", 64))
            self.assertEqual((rule["evidence"]["samples"], rule["evidence"]["launches"]), (0, 0))
            size, nodes = rule["evidence"]["sizes"][0], rule["when"]["nodes"]["min"]
            fastest = min(("ring_ompi", "recursive_doubling_ompi"), key=lambda name: time_us(name, nodes, size))
            self.assertEqual(rule["choose"]["algorithm"]["name"] + "_ompi", fastest, f"{nodes} nodes, {size} bytes")
        self.assertEqual({rule["when"]["nodes"]["min"] for rule in rules}, {256, 512})

    def test_show_and_lookup_say_so_in_each_row(self) -> None:
        text = ok("show", self.table)
        self.assertIn("evidence  predicted by a machine model", text)
        rows = [line for line in text.splitlines() if "allreduce " in line]
        self.assertTrue(rows)
        for row in rows:
            self.assertIn("predicted: ", row)
            self.assertRegex(row, r"fitted on up to 64 nodes, error \d+ %")
        self.assertIn("evidence predicted: ", ok("lookup", self.table, *QUESTION, "4096"))

    def test_the_python_reader_tells_it_with_the_choice(self) -> None:
        choice = dlmb_tuning.open_table(self.table).lookup("allreduce", bytes=4096, ranks=512, nodes=512, memory="host", backend="mpi")
        self.assertEqual((choice.algorithm, choice.status, choice.evidence), ("recursive_doubling", "chosen", "predicted"))

    def test_an_export_takes_it_only_when_asked_for(self) -> None:
        arguments = ("export", "--to", "openmpi", self.table, "--nodes", 512, "-o", self.folder / "made")
        self.assertIn("is predicted by a machine model, and nothing of it was measured; --accept predicted", refusal(*arguments))
        self.assertIn("--accept predicted", refusal(*arguments, "--accept", "foreign"))
        self.assertFalse((self.folder / "made").exists())
        ok(*arguments, "--accept", "predicted")
        lines = (self.folder / "made" / "dlmb_rules.conf").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[1], "# This is predicted by a machine model, and nothing of it was measured.")
        self.assertIn("--accept 'predicted'", (self.folder / "made" / "verify.sh").read_text(encoding="utf-8"))

    def test_what_it_cannot_answer_is_said(self) -> None:
        path = self.folder / "none.json"
        self.assertIn("no rule", self.predict("table", "--model", self.model, "--nodes", 64, "--family", "mpich", "-o", path, code=69))
        self.assertIn("without a shape", self.predict("table", "--model", self.model, "--nodes", "4x4", "-o", path, code=69))
        model = json.loads(self.model.read_text(encoding="utf-8"))
        for error in model["error"]["held_out"]:
            error["median"] = 0.6
        bad = self.folder / "bad.json"
        bad.write_text(json.dumps(model), encoding="utf-8")
        self.assertIn("held-out error of allreduce is 60 %", self.predict("table", "--model", bad, "--nodes", 64, "-o", path, code=69))
        self.predict("table", "--model", bad, "--nodes", 64, "-o", path, "--force")
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["rules"][0]["evidence"]["predicted"]["held_out_error"], 0.6)
        for sizes in ("8", "0:8", "16:8", "8:x", "8:2048G"):
            self.assertIn("--sizes", self.predict("table", "--model", self.model, "--nodes", 64, "--sizes", sizes, "-o", path, code=64))


if __name__ == "__main__":
    unittest.main()
