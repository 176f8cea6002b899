# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""UCX sends by rendezvous from the size on that an exported table says."""

from __future__ import annotations

import unittest

from exports import InFolder, ok, rule, tune, write_table


class Ucx(InFolder):
    def test_the_threshold_acts_and_its_absence_is_noticed(self) -> None:
        eager = rule("r0", "ucx", "sendrecv", (0, 262143), ranks=2)
        eager["choose"] = {"backend": "ucx", "method": "linear", "params": {"knobs": {"UCX_RNDV_THRESH": "inf"}}}
        table = write_table(self.folder / "table.json", [eager])
        self.assertIn("ok     rendezvous from 256K bytes on; the export says 262144", ok("verify", "--to", "ucx", table))
        ok("export", "--to", "ucx", table, "-o", self.folder / "tuned")
        (self.folder / "tuned" / "ucx.conf").unlink()
        done = tune("verify", "--to", "ucx", table, "--files", self.folder / "tuned")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
