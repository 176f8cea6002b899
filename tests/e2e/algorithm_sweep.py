# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""--method all over the algorithms of the MPI library, as a user of dlmb_collective sees it."""

import os
import pathlib
import tempfile
import unittest

from programs import BIN, cells, mpirun, run, validate

COLLECTIVE = str(BIN / "dlmb_collective")
ALLREDUCE = ["--operation", "allreduce", "--element", "fp32", "--backend", "mpi", "--calibration", "off"]


class AlgorithmSweep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.results = pathlib.Path(self.folder.name) / "sweep.jsonl"

    def sweep(self, *options, **keywords):
        done = run(mpirun(4, COLLECTIVE, *ALLREDUCE, *options, "--results", str(self.results)), **keywords)
        return done, {cell["method"]: cell for cell in cells(self.results)} if self.results.exists() else {}

    def test_all_has_the_algorithms_beside_the_methods_and_the_record_says_which(self):
        done, by_method = self.sweep("-m", "64K:64K", "--method", "all", "--time-limit", "0.1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(by_method["blocking"]["status"], "ok")
        self.assertNotIn("dropped", by_method["blocking"], "the default")
        chosen = by_method["algorithm:allreduce=recursive_doubling"]
        self.assertEqual(chosen["status"], "ok", chosen["reason"])
        facts = chosen["backend_facts"]
        self.assertEqual(facts["mpi_algorithm.allreduce"], "recursive_doubling")
        self.assertIn(f"={facts['mpi_algorithm_id.allreduce']}", facts["mpi_algorithm_variables"])
        self.assertNotIn("mpi_algorithm_family", by_method["blocking"]["backend_facts"])
        self.assertEqual(validate(self.results).returncode, 0)

    def test_a_size_that_the_algorithm_cannot_do_is_skipped_with_the_reason(self):
        done, by_method = self.sweep("-m", "4:4", "--method", "all", "-i", "2", "-x", "0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        reasons = [cell["reason"] for cell in by_method.values() if cell["status"] == "skipped"]
        self.assertTrue(reasons, "one element cannot be spread over four ranks")
        self.assertEqual([reason for reason in reasons if "not applicable" not in reason], [])

    def test_an_unknown_algorithm_is_one_line_that_names_the_nearest(self):
        done, _ = self.sweep("-m", "64:64", "--method", "algorithm:allreduce=recursive_dubling")
        self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("recursive_doubling"), 1, done.stderr)

    def test_a_launch_that_open_mpi_would_not_obey_is_skipped(self):
        environment = dict(os.environ, OMPI_MCA_coll_tuned_use_dynamic_rules="0")
        done, by_method = self.sweep("-m", "64:64", "--method", "algorithm:allreduce=recursive_doubling", env=environment)
        cell = by_method["algorithm:allreduce=recursive_doubling"]
        if cell["backend_facts"]["mpi_library"].startswith("MPICH"):
            self.assertEqual(cell["status"], "ok", "MPICH has no such variable")
        else:
            self.assertEqual((done.returncode, cell["status"]), (77, "skipped"))
            self.assertIn("OMPI_MCA_coll_tuned_use_dynamic_rules=1", cell["reason"])


if __name__ == "__main__":
    unittest.main()
