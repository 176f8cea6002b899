# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH runs what an exported table says, and dlmb_tune verify notices where it does not."""

from __future__ import annotations

import unittest

from exports import InFolder, ok, rule, tune, write_table

RULES = [
    rule("r0", "mpi", "allreduce", (32768, 131072), algorithm="recursive_doubling", family="mpich"),
    rule("r1", "mpi", "exchange", (65536, 65536), algorithm="brucks", family="mpich", uniform=True),
]


class Mpich(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.table = write_table(self.folder / "table.json", RULES, mpi="MPICH")

    def verify(self, *arguments):
        return tune("verify", "--to", "mpich", self.table, *arguments)

    def test_rules_act_where_they_hold_and_nowhere_else(self) -> None:
        done = self.verify()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # Two steps of 4 ranks, 10 calls; the library's own choice above 8 bytes has twice as many.
        self.assertIn("ok     allreduce of 32768 bytes, 4 ranks: recursive_doubling: 80 messages\n", done.stdout)
        self.assertIn("ok     allreduce of 131088 bytes, 4 ranks: default: 160 messages\n", done.stdout)

    def test_a_broken_file_is_noticed(self) -> None:
        output = self.folder / "export"
        ok("export", "--to", "mpich", self.table, "-o", output)
        file = output / "dlmb_collectives.json"
        whole = file.read_text(encoding="utf-8")
        file.write_text(whole[: len(whole) // 2], encoding="utf-8")
        done = self.verify("--files", output, "--ranks", "4")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG", done.stdout)


if __name__ == "__main__":
    unittest.main()
