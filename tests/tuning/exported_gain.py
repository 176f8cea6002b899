# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""tests/benchmarks/exported_gain launches what it says, and reports every size. What is faster is not looked at."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import unittest

from exports import SOURCE, TUNE, InFolder, ok, rule, write_table

PROGRAM = SOURCE / "tests" / "benchmarks" / "exported_gain" / "exported_gain"
RING = rule("r0", "mpi", "allreduce", (16, 32), algorithm="ring", family="open_mpi.tuned")


class ExportedGain(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.seen = self.folder / "seen"
        launcher = self.folder / "launcher"
        launcher.write_text(f'#!/bin/sh\nenv | grep OMPI_MCA_coll_ | sort | tr "\\n" " " >>{self.seen}\necho >>{self.seen}\n'
                            f'exec {os.environ["DLMB_MPIEXEC"]} "$@"\n', encoding="utf-8")
        launcher.chmod(0o755)
        self.launcher = str(launcher)

    def run_program(self, exported, *options):
        command = [PROGRAM, pathlib.Path(TUNE).parent, exported, "--launcher", self.launcher, *options]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False)

    def test_each_side_is_launched_with_its_own_settings(self) -> None:
        table = write_table(self.folder / "table.json", [RING])
        ok("export", "--to", "openmpi", "--commutative", table, "-o", self.folder / "export")
        done = self.run_program(self.folder / "export", "--largest", "48", "--launches", "2", "--calls", "3", "--visits", "1", "--forced", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(re.findall(r"^ *(\d+) B  default .* speed-up .* regret .* \(of (?:default|1)(?: and (?:default|1))?\)$", done.stdout, re.MULTILINE), ["12", "24", "48"])
        launches = self.seen.read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(launches), 6)
        self.assertEqual(sum("dynamic_rules_filename" in one for one in launches), 2)
        self.assertEqual(sum("allreduce_algorithm=1 " in one for one in launches), 2)
        self.assertEqual(launches.count(""), 2)

    def test_a_folder_without_an_export_is_bad_usage(self) -> None:
        done = self.run_program(self.folder)
        self.assertEqual(done.returncode, 64)
        self.assertIn("name a folder that dlmb_tune export wrote", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_what_fails_is_told(self) -> None:
        table = write_table(self.folder / "table.json", [RING])
        ok("export", "--to", "openmpi", "--commutative", table, "-o", self.folder / "export")
        done = self.run_program(self.folder / "export", "--collective", "nothing", "--launches", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("round 1:", done.stderr)
        self.assertIn("returned 64", done.stderr)

    def test_numbers_that_make_no_sense_are_bad_usage(self) -> None:
        for option in ("--smallest", "--launches", "--calls"):
            done = self.run_program(self.folder, option, "0")
            self.assertEqual((done.returncode, done.stderr.splitlines()[0].split(":")[2].strip()), (64, f"{option} 0"))


if __name__ == "__main__":
    unittest.main()
