# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A rank that a preloaded library delays, always or now and then, is named in the record of the program that users run."""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["DLMB_BIN"])
MPIEXEC = os.environ["DLMB_MPIEXEC"]
SLOW_RANK = os.environ["DLMB_SLOW_RANK"]
RANKS = 4
LEAST_SLEEP_US = 5000
NOISE_TO_SLEEP = 10

COLLECTIVES = ("dlmb_collective", "--operation", "allreduce,alltoall", "-m", "8:8")
LAYER = ("dlmb_moe_alltoall", "--preset", "mixtral-8x7b", "--tokens", "8")  # three steps, one behind the other


def measured(late, microseconds, one_in, samples, workload=COLLECTIVES):
    """What a launch says at its end, and its cells. `late`: the ranks that are delayed, without gaps."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        done = subprocess.run(
            [MPIEXEC, "-n", str(RANKS), "env", f"LD_PRELOAD={SLOW_RANK}",
             f"DLMB_TEST_SLOW={late[0]}-{late[-1]}:{microseconds}:{one_in}", str(BIN / workload[0]), *workload[1:],
             "--backend", "mpi", "--method", "persistent", "-i", str(samples), "-x", "2", "--results", str(results)],
            capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    return done.stdout, [line for line in lines if line["kind"] == "cell"]


@functools.cache
def sleep_us(workload):
    """Far more than this machine, as busy as it is now, adds by itself where a rank sleeps: a multiple of the largest of the medians
    by rank (late to begin, late to post, spread of durations), without the sleep."""
    _, cells = measured([0], LEAST_SLEEP_US, 1, 20, workload)
    noise_ns = 0
    for cell in cells:
        times = cell["rank_times_ns"]
        times["posted"][0] -= 1000 * LEAST_SLEEP_US
        noise_ns = max(noise_ns, *(max(of_ranks) for of_ranks in times.values()))
    return max(LEAST_SLEEP_US, round(NOISE_TO_SLEEP * noise_ns / 1000))


def heaviest(cell):
    return max(cell["suspects"], key=lambda suspect: suspect["ns"] - suspect["others_ns"])


class SlowRank(unittest.TestCase):
    def test_a_rank_that_is_always_late_is_delayed(self):
        sleep = sleep_us(COLLECTIVES)
        for rank in range(RANKS):
            said, cells = measured([rank], sleep, 1, 10)
            self.assertEqual(len(cells), 2)
            for cell in cells:
                self.assertTrue(cell["suspects"], cell["rank_times_ns"])
                named = heaviest(cell)
                self.assertEqual((named["rank"], named["kind"]), (rank, "delayed"), cell["suspects"])
                self.assertGreaterEqual(named["ns"], 1000 * sleep)
            self.assertIn(f"# rank {rank} is delayed: {len(cells)} of {len(cells)} cells", said)

    def test_a_rank_that_is_late_in_each_of_several_steps_is_delayed(self):
        sleep = sleep_us(LAYER)
        for rank in (0, RANKS - 1):
            said, (cell,) = measured([rank], sleep, 1, 10, LAYER)
            self.assertGreaterEqual(cell["time_ns"]["median"], 2.5 * 1000 * sleep)  # in more than one step
            self.assertTrue(cell["suspects"], cell["rank_times_ns"])
            named = heaviest(cell)
            self.assertEqual((named["rank"], named["kind"]), (rank, "delayed"), cell["suspects"])
            self.assertIn(f"# rank {rank} is delayed: 1 of 1 cell\n", said)

    def test_a_rank_that_is_late_now_and_then_is_jittery(self):
        sleep = sleep_us(COLLECTIVES)
        for rank in (0, RANKS - 1):
            _, cells = measured([rank], sleep, 4, 60)  # fewer than 4 or more than 29 of 60: once in 10,000 launches
            for cell in cells:
                self.assertTrue(cell["suspects"], cell["rank_times_ns"])
                named = heaviest(cell)
                self.assertEqual((named["rank"], named["kind"]), (rank, "jittery"), cell["suspects"])

    def test_ranks_as_late_as_most_others_are_not_delayed(self):
        sleep = sleep_us(COLLECTIVES)
        late = range(1, RANKS)
        _, cells = measured(late, sleep, 1, 10)
        for cell in cells:
            for rank in late:
                self.assertGreaterEqual(cell["rank_times_ns"]["posted"][rank], 1000 * sleep)  # alone it would be named
            self.assertEqual([suspect for suspect in cell["suspects"] if suspect["kind"] == "delayed"], [])


if __name__ == "__main__":
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=False).stdout
    if "Open MPI" not in version and "OpenRTE" not in version:
        print("skipped: MPICH 4.0 has no persistent collectives, and its ranks that share cores are late by themselves")
        sys.exit(77)
    unittest.main()
