# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A small tuning with the real programs, from the question what there is to tune to the report. What is faster depends on the machine
and is not looked at; that everything is done, and that only verified files are put into effect, is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ["DLMB_BIN"])


class Run(unittest.TestCase):
    def test_two_ranks_and_two_sizes(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            output = Path(name) / "tuned"
            asked = ["--ranks", "2", "--operations", "allreduce", "--sizes", "1K:2K", "-o", str(output)]
            command = [sys.executable, "-m", "dlmb_launch", "autotune", "--build", str(BIN), *asked]
            for budget in ("45s", "5m"):  # where launches take seconds, the first is too short for one size
                done = subprocess.run([*command, "--budget", budget], capture_output=True, text=True, timeout=600, check=False)
                if "launches here take so long" not in done.stderr:
                    break
            self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)
            self.assertIn("which methods there are for allreduce", done.stdout)
            self.assertIn("dlmb_autotune: 2 ranks, ", done.stdout)
            rules = json.loads((output / "table.json").read_text(encoding="utf-8"))["rules"]
            chosen = [rule for rule in rules if rule["scope"] == "mpi" and rule["status"] == "chosen"]
            report = (output / "report.md").read_text(encoding="utf-8")
            self.assertIn("| allreduce | 1024 |", report)
            self.assertEqual("It sets nothing" not in (output / "env.sh").read_text(encoding="utf-8"), bool(chosen), done.stdout)
            self.assertEqual("nothing that its files can hold was shown to be faster" in done.stdout, not chosen, done.stdout)
            for rule in chosen:
                self.assertIn(f"| {rule['choose']['method']} |", report)
            print(done.stdout)


if __name__ == "__main__":
    unittest.main()
