# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A made-up comparison with one cell of every state."""

from __future__ import annotations

from pathlib import Path

from made import CELL, WithFolder, fault, launch, side
from test_exit_codes import SCATTERED, SLOW, US, run

GOLDEN = Path(__file__).with_name("golden")
UCX = CELL.replace("backend=mpi", "backend=ucx")
SHORT = [value / 1000 for value in US]


class WithComparison(WithFolder):
    def setUp(self) -> None:
        super().setUp()
        baseline = {
            CELL: US,
            f"{UCX}/x=1": US,
            f"{UCX}/x=2": US[:5],
            f"{UCX}/x=3": US,
            f"{UCX}/x=4": SCATTERED,
            f"{UCX}/x=5": SLOW,
            f"{UCX}/x=6": US,
            f"{UCX}/x=7": SHORT,
        }
        candidate = {
            CELL: US,
            f"{UCX}/x=1": SLOW,
            f"{UCX}/x=2": SLOW[:5],
            f"{UCX}/x=4": SCATTERED,
            f"{UCX}/x=5": US,
            f"{UCX}/x=6": US,
            f"{UCX}/x=7": SHORT,
            f"{UCX}/x=8": US,
        }
        wrong = [launch("cand-8"), fault("cand-8", "invalid", f"{UCX}/x=6"), {"kind": "end", "launch_id": "cand-8"}]
        self.before, self.after = self.file("before", side("base", baseline)), self.file("after", side("cand", candidate) + wrong)

    def export(self, name: str, file: str) -> Path:
        self.assertEqual(run(self.before, self.after, "--export", name, self.folder / file)[0], 4)
        return self.folder / file
