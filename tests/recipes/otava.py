# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A history exported by dlmb_compare and read by Apache Otava: it finds the step that was planted, and none where none is."""

from __future__ import annotations

import json
import os
import random
import subprocess
import unittest

import tools

from made import CELL, WithFolder, side
from running import run_main

from dlmb_launch.compare.command import main

NIGHTS = 30
STEP_AT = 18  # the first slower night
SCATTER = 0.01
SLOWER = 1.10
FLAT = f"{CELL}/x=1"
TEST = "dlmb.moe_alltoall.mpi.host.made"


class OtavaTest(WithFolder):
    def history(self, slower: float) -> None:
        """Two cells, the first of which becomes slower; three launches a night."""
        draw = random.Random(7)
        for night in range(NIGHTS):
            centre = {CELL: 100 * (slower if night >= STEP_AT else 1), FLAT: 100}
            medians = {cell: [us * draw.gauss(1, SCATTER) for _ in range(3)] for cell, us in centre.items()}
            lines = side(f"n{night}", medians)
            for line in lines:
                if line["kind"] == "launch":
                    line["time"] = line["time"].replace("2026-01-31", f"2026-01-{night + 1:02}")
            self.compare("--append", self.file("night", lines))
        self.compare("--export", "otava", self.folder / "otava.yaml")

    def compare(self, *arguments: object) -> None:
        self.assertEqual(run_main(main, "--history", self.folder / "history", *arguments)[0], 0)

    def change_points(self) -> list[tuple[str, int]]:
        """Cell, and the first night of the new level."""
        command = [OTAVA, "analyze", "--output", "json", TEST]
        configured = os.environ | {"OTAVA_CONFIG": "otava.yaml"}
        done = subprocess.run(command, cwd=self.folder, env=configured, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(change["metric"], change["index"]) for at in json.loads(done.stdout)[TEST] for change in at["changes"]]

    def test_a_planted_step_is_found_on_its_night_and_in_its_cell(self) -> None:
        self.history(SLOWER)
        self.assertEqual(self.change_points(), [(CELL, STEP_AT)])

    def test_flat_data_has_none(self) -> None:
        self.history(1)
        self.assertEqual(self.change_points(), [])


if __name__ == "__main__":
    OTAVA = tools.require("otava")
    unittest.main()
