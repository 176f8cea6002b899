# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""launch/reframe run by ReFrame itself under its local scheduler: reframe.py BIN"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tools

RECIPE = tools.ROOT / "launch" / "reframe"
SHORT = "--backend mpi -i 2 -x 1 --calibration off"  # these times are nobody's measurement

# A test double of a program: it writes no result line and says that a cell failed.
FAILING = "#!/bin/sh\necho 'DLMB_RESULT: FAIL'\n"


def hash_of(cell_id: str) -> str:
    return hashlib.sha256(cell_id.encode()).hexdigest()[:8]


class ReframeTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def reframe(self, programs: Path | str, *options: str) -> subprocess.CompletedProcess[str]:
        recipe = ["-C", str(RECIPE / "settings.py"), "-c", str(RECIPE / "dlmb_checks.py")]
        files = ["--prefix", str(self.folder), "--report-file", str(self.folder / "report.json")]
        values = ["-S", f"dlmb_bin={programs}", "-S", f"dlmb_options={SHORT}", "-S", "num_tasks=2"]
        command = [REFRAME, *recipe, *files, *values, *options, "-r"]
        home = os.environ | {"HOME": str(self.folder)}  # ReFrame keeps a database there
        return subprocess.run(command, cwd=self.folder, env=home, capture_output=True, text=True, timeout=500, check=False)

    def cases(self) -> list[dict]:
        return json.loads((self.folder / "report.json").read_text())["runs"][0]["testcases"]

    def test_every_program_passes_and_its_cells_are_performance_variables(self) -> None:
        done = self.reframe(PROGRAMS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        measuring = {path.stem for path in (tools.ROOT / "benchmarks").glob("*.cpp")} - {"info", "plan", "predict", "replay", "tune"}
        self.assertEqual({case["program"] for case in self.cases()}, measuring)
        for case in self.cases():
            lines = map(json.loads, (Path(case["outputdir"]) / "results.jsonl").read_text().splitlines())
            measured = {hash_of(line["cell_id"]): line["time_ns"]["median"] / 1e3 for line in lines if line["kind"] == "cell"}
            reported = {name.split(":")[-1]: values[0] for name, values in case["perfvalues"].items()}
            self.assertTrue(measured)
            self.assertEqual({name.rsplit(".", 1)[1]: value for name, value in reported.items() if "/" not in name}, measured)
            self.assertLessEqual(max(len(name.removesuffix("/busbw")) for name in reported), 64)

    def test_a_cell_that_failed_fails_the_test(self) -> None:
        program = self.folder / "dlmb_collective"
        program.write_text(FAILING)
        program.chmod(0o755)
        done = self.reframe(self.folder, "-n", "%program=collective")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual([(case["result"], case["fail_phase"]) for case in self.cases()], [("fail", "sanity")])


if __name__ == "__main__":
    REFRAME = tools.require("reframe")
    PROGRAMS = Path(sys.argv.pop(1)).resolve()
    unittest.main()
