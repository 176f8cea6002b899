# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds of UCX as knobs of a method: each set has a context of its own in the launch."""

import pathlib
import tempfile
import unittest

from programs import BIN, cells, mpirun, run, validate

MESSAGES = [str(BIN / "dlmb_collective"), "--operation", "sendrecv", "--backend", "ucx", "-m", "64K:64K", "-i", "4", "--calibration", "off"]


class UcxContexts(unittest.TestCase):
    def sweep(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder) / "results.jsonl"
            done = run(mpirun(2, *MESSAGES, *options, "--results", str(results)))
            if not results.exists():
                return done, {}
            self.assertEqual(validate(results).returncode, 0)
            return done, {cell["method"]: cell for cell in cells(results)}

    def test_all_measures_eager_and_rendezvous_beside_ucx_s_own_choice(self):
        done, by_method = self.sweep("--method", "all")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        thresholds = {}
        for method in ("linear", "linear:rndv_thresh=1", "linear:rndv_thresh=inf"):
            self.assertEqual((by_method[method]["status"], by_method[method]["reason"]), ("ok", ""))
            thresholds[method] = by_method[method]["backend_facts"]["ucx_rndv_thresh"]
        self.assertEqual(len(set(thresholds.values())), 3, thresholds)

    def test_what_is_wrong_is_one_line(self):
        for method, hint in (("linear:rndv_tresh=1", "rndv_thresh=SIZE"), ("linear:rndv_thresh=64KB", "64K")):
            done, _ = self.sweep("--method", method)
            self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
            errors = [line for line in done.stderr.splitlines() if line.startswith("dlmb_collective: error:")]
            self.assertEqual(len(errors), 1, done.stderr)
            self.assertIn(hint, errors[0])


if __name__ == "__main__":
    unittest.main()
