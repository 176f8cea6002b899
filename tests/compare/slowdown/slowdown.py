# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A slowdown planted in one method of a backend is found by launch/ci/gate, and no other method is named.

slowdown.py BIN LIBRARY [FACTOR [SECONDS_PER_CELL]]: LIBRARY is the preloaded slow_alltoallv, FACTOR how many times slower it is.
The default is so slow that a busy machine shows it in a minute. `slowdown.py build/release/bin .../libslow_alltoallv.so 1.1 1`
plants 10 % and takes some minutes on a quiet machine with a core per rank.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[3]
SLOWED = "alltoallv"
OTHERS = ("isend_irecv", "neighbor", "pairwise")
SIZES = ("65536", "131072")
SHORT = "iterations = 100\nwarmup = 20"
SWEEP = """
launches = {launches}
[options]
backend = "mpi"
start = "barrier"
{length}
[[world]]
ranks = 2
[[program]]
program = "collective"
operation = "alltoallv"
message-size = "64K:128K"
method = {methods}
[[side]]
name = "before"
[[side]]
name = "after"
[side.set]
LD_PRELOAD = "{library}"
SLOW_ALLTOALLV = "{factor}"
"""


class SlowdownTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def gate(self) -> subprocess.CompletedProcess[str]:
        sweep, machine = self.folder / "slow.toml", self.folder / "machine.toml"
        methods = [SLOWED, *OTHERS]
        sweep.write_text(SWEEP.format(launches=LAUNCHES, length=LENGTH, methods=methods, library=LIBRARY, factor=FACTOR).replace("'", '"'))
        crowded = (os.cpu_count() or 1) <= 2  # the launcher and the system need a core, too
        machine.write_text(f'build = "{PROGRAMS}"\noversubscribe = {str(crowded).lower()}\nbind = "core"\n')
        options = ["--machine", machine, "--factor", "LD_PRELOAD"]
        command = [ROOT / "launch" / "ci" / "gate", *options, sweep, self.folder / "gate"]
        return subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)

    def test_the_gate_fails_and_names_only_cells_of_that_method(self) -> None:
        done = self.gate()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        print((self.folder / "gate" / "table.txt").read_text())
        cases = ElementTree.parse(self.folder / "gate" / "report.xml").getroot().iter("testcase")
        failed = [case.get("name", "").split("/") for case in cases if case.find("failure") is not None]
        self.assertEqual({part for name in failed for part in name if part.startswith("method=")}, {f"method={SLOWED}"})
        self.assertEqual({part for name in failed for part in name if "size" in part}, {f"p.message-size={size}" for size in SIZES})


if __name__ == "__main__":
    PROGRAMS, LIBRARY = (Path(argument).resolve() for argument in sys.argv[1:3])
    FACTOR = sys.argv[3] if len(sys.argv) > 3 else "4"
    LAUNCHES = 8 if float(FACTOR) >= 2 else 16  # what launches of one build differ by here hides 10 % from 8
    LENGTH = f"time-limit = {sys.argv[4]}" if len(sys.argv) > 4 else SHORT
    unittest.main(argv=sys.argv[:1])
