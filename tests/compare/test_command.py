# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The program as it is started, through the link in the build tree."""

from __future__ import annotations

import json
import os
import subprocess
import unittest

from made import CELL, WithFolder, side

PROGRAM = os.environ["DLMB_COMPARE"]
US = [100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]


class ProgramTest(WithFolder):
    def run_program(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [PROGRAM, *(str(argument) for argument in arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=os.environ | environment)

    def test_it_compares_and_says_so_by_its_exit_code(self) -> None:
        before, after = (
            self.file(name, side(name, {CELL: values})) for name, values in (("before", US), ("after", [2 * us for us in US]))
        )
        done = self.run_program(before, after)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 REGRESSED", done.stdout)

    def test_numbers_have_a_point_in_every_locale(self) -> None:
        before, after = (self.file(name, side(name, {CELL: US})) for name in ("before", "after"))
        done = self.run_program(before, after, "--json", LC_ALL="de_DE.UTF-8")
        self.assertAlmostEqual(json.loads(done.stdout)["cells"][0]["evidence"]["margin"], 0.03)

    def test_help_tells_the_exit_codes(self) -> None:
        done = self.run_program("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the candidate failed validation", " ".join(done.stdout.split()))


if __name__ == "__main__":
    unittest.main()
