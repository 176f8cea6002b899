# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""UCX sends by rendezvous from the size on that an exported table says."""

from __future__ import annotations

import pathlib
import tempfile
import unittest

from exports import rule, tune, write_table


class Ucx(unittest.TestCase):
    def test_the_threshold_acts_and_its_absence_is_noticed(self) -> None:
        eager = rule("r0", "ucx", "sendrecv", (0, 262143), ranks=2)
        eager["choose"] = {"backend": "ucx", "method": "linear", "params": {"knobs": {"UCX_RNDV_THRESH": "inf"}}}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            table = write_table(folder / "table.json", [eager])
            done = tune("verify", "--to", "ucx", table)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("ok     rendezvous from 256K bytes on; the export says 262144", done.stdout)
            self.assertEqual(tune("export", "--to", "ucx", table, "-o", folder / "tuned").returncode, 0)
            (folder / "tuned" / "ucx.conf").unlink()
            done = tune("verify", "--to", "ucx", table, "--files", folder / "tuned")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
