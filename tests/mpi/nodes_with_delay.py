# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The common clock, the start and the record across nodes whose clocks and links differ."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from delayed_nodes import SECONDS_APART, DelayedNodes, why_not

BIN = pathlib.Path(os.environ["DLMB_BIN"])
MPIEXEC = os.environ["DLMB_MPIEXEC"]
UNEQUAL_MS = [[0, 1, 3], [4, 0, 2], [5, 1, 0]]


def run(nodes, ranks_per_node, *command):
    done = subprocess.run(nodes.mpirun(MPIEXEC, ranks_per_node, *command), capture_output=True, text=True, timeout=240,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def lines_of_an_exchange(nodes, start="auto", iterations=7):
    """What the record of a small exchange has, by kind of line."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        # Two launches at once that begin in one folder may both find no session directory, and one then fails to make it.
        run(nodes, 1, "--mca", "orte_tmpdir_base", folder, str(BIN / "dlmb_collective"), "--operation", "alltoall", "-m", "8:8", "--backend", "mpi",
            "--method", "isend_irecv", "-i", str(iterations), "-x", "1", "--start", start, "--results", str(results))
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    return {line["kind"]: line for line in lines}


class NodesWithDelay(unittest.TestCase):
    def test_the_common_clock_is_right_within_its_bound(self):
        with DelayedNodes(UNEQUAL_MS) as nodes:
            said = run(nodes, 2, str(BIN / "mpi_common_clock_test"))
            self.assertIn(f"clocks apart by {2 * SECONDS_APART}", said)  # node 3 from node 1

    def test_a_clock_that_is_too_bad_for_a_cell_is_not_used_for_it(self):
        # Both at once: they wait for packets most of the time.
        with DelayedNodes(UNEQUAL_MS) as nodes, concurrent.futures.ThreadPoolExecutor() as threads:
            launches = threads.map(lambda start: lines_of_an_exchange(nodes, start), ("auto", "window"))
            chosen, forced = (lines["cell"] for lines in launches)
        least_ns = 1e6 * (1 + 4) / 2  # half the round trip between nodes 1 and 2, which delays at least so long
        for cell in (chosen, forced):
            self.assertGreaterEqual(cell["sync"]["clock_err_ns"], 0.9 * least_ns)
            self.assertIn("largest over ranks", cell["definition"])
        self.assertEqual(chosen["sync"]["method"], "barrier")
        self.assertEqual(forced["sync"]["method"], "window")

    def test_links_that_are_slow_by_delay_or_by_bandwidth_are_named_in_the_record_and_no_other(self):
        delays_ms = [[0, 3, 3], [3, 0, 13], [3, 13, 0]]  # twice the round trip is far more than a busy machine adds
        megabytes_per_s = [[4, 4, 1], [4, 4, 4], [4, 4, 4]]  # from node 1 to node 3
        with DelayedNodes(delays_ms, megabytes_per_s) as nodes:
            links = lines_of_an_exchange(nodes, iterations=1)["launch"]["calibration"]["links"]
        transfers = links["transfers"]
        self.assertEqual(links["count"], 3)
        self.assertEqual([link["ranks"] for link in links["slow"]], [[1, 2]], links)
        self.assertEqual([link["ranks"] for link in transfers["slow"]], [[0, 2]], links)
        self.assertGreaterEqual(links["median_ns"], 6e6)
        self.assertGreaterEqual(transfers["median_ns"], 0.9 * 2 * 262144 / 4e6 * 1e9)  # there and back


if __name__ == "__main__":
    reason = why_not()
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=False).stdout
    if not reason and "Open MPI" not in version and "OpenRTE" not in version:
        reason = "only Open MPI is started on such nodes"
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
