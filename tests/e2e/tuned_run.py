# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Backend tuned, as users start it: a table picks mpi or ucx for each operation of a real pattern."""

import json
import pathlib
import re
import tempfile
import unittest

from programs import BIN, HAVE_UCX, MOE, SMALL, SOURCE, cells, mpirun, run, validate

DLRM = str(BIN / "dlmb_dlrm_exchange")
EXAMPLE = SOURCE / "results-schema" / "examples" / "tuning-table.json"
OTHER = "ucx" if HAVE_UCX else "mpi"
DLRM_SMALL = ["--preset", "dlrm-small", "-i", "6", "-x", "2", "--calibration", "off"]


def rule(name, operation, basis, least, most, backend, method="default"):
    return {"id": name, "scope": "select", "when": {"operation": operation, "bytes": {"basis": basis, "min": least, "max": most}},
            "choose": {"backend": backend, "method": method}, "status": "chosen"}


RULES = [
    rule("small", "exchange", "rank_send", 0, 4095, OTHER),
    rule("large", "exchange", "rank_send", 4096, None, "mpi", "pairwise:max_outstanding=2"),
    rule("sum", "allreduce", "buffer", 0, None, OTHER),
]


class TunedRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The program itself says what its system is, refusing a table of another one."""
        refused = run(mpirun(2, MOE, *SMALL, "--backend", "tuned", "--use-table", str(EXAMPLE)))
        example = json.loads(EXAMPLE.read_text(encoding="utf-8"))
        assert refused.returncode == 64 and example["system"]["key"] in refused.stderr, refused.stdout + refused.stderr
        key = re.search(r"that of this launch is ([0-9a-f]{16})", refused.stderr).group(1)
        cls.table = {**example, "system": {**example["system"], "key": key}}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name) / "results.jsonl"
        self.path = pathlib.Path(folder.name) / "table.json"

    def start(self, *command, rules=RULES, ranks=4):
        self.path.write_text(json.dumps({**self.table, "rules": rules}), encoding="utf-8")
        return run(mpirun(ranks, *command, "--cache", "warm", "--use-table", str(self.path), "--results", str(self.results)), timeout=300)

    def expect_both_ok(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = {cell["backend"]: cell for cell in cells(self.results)}
        self.assertEqual({name: cell["status"] for name, cell in found.items()}, {"tuned": "ok", "mpi": "ok"})
        self.assertEqual({cell["validation"]["verdict"] for cell in found.values()}, {"passed"})
        self.assertEqual(validate(self.results).returncode, 0)
        return found["tuned"]

    def test_moe_alltoall_by_a_table(self):
        cell = self.expect_both_ok(self.start(MOE, *SMALL, "--backend", "tuned,mpi"))
        self.assertEqual(cell["method"], "table")
        facts = cell["backend_facts"]
        self.assertRegex(facts["tuning_table_sha256"], "^[0-9a-f]{64}$")
        self.assertIn("mpi/pairwise:max_outstanding=2:large", facts["tuned_steps"])
        self.assertIn("mpi.mpi_library", facts)

    def test_dlrm_exchange_changes_backends_and_says_what_that_costs(self):
        cell = self.expect_both_ok(self.start(DLRM, *DLRM_SMALL, "--backend", "tuned,mpi"))
        facts = cell["backend_facts"]
        self.assertIn(f"{OTHER}/default:sum", facts["tuned_steps"])
        if HAVE_UCX:
            self.assertGreaterEqual(float(facts["tuned_switches_per_iteration"]), 2)
            self.assertGreater(float(facts["tuned_quiesce_ns_per_iteration"]), 0)

    def test_without_its_table_tuned_is_a_usage_error_and_so_is_a_table_without_tuned(self):
        for options, hint in ((["--backend", "tuned,mpi"], "--use-table FILE"),
                              (["--backend", "mpi", "--use-table", str(self.path)], "add it to --backend")):
            done = run(mpirun(2, MOE, *SMALL, *options))
            self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
            self.assertIn(hint, done.stderr)

    def test_a_table_that_cannot_be_read_is_named_once(self):
        done = run(mpirun(2, MOE, *SMALL, "--backend", "tuned", "--use-table", str(self.path)))
        self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("table.json"), 1, done.stderr)

    def test_what_the_chosen_backend_cannot_do_here_is_skipped_with_the_rule(self):
        done = self.start(MOE, *SMALL, "--backend", "tuned,mpi", rules=[rule("gpu", "exchange", "rank_send", 0, None, "in_process")])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (skipped,) = cells(self.results, "skipped")
        self.assertRegex(skipped["reason"], r"tuned: in_process/default \(gpu\): .*without mpirun")


if __name__ == "__main__":
    unittest.main()
