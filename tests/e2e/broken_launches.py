# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Killed ranks, hung ranks, cancelled jobs and full disks: the launch ends and what was measured stays."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from processes import new_mark, ranks_of
from programs import COLLECTIVE, MOE, SMALL, cells, lines, mpirun, run, small, traffic

TOKENS = "32,48,64,80,96,112,128,144,160,176"
SWEEP = [*traffic(tokens=TOKENS), "--backend", "mpi"]


class BrokenLaunches(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.mark = new_mark()
        self.results = pathlib.Path(self.folder.name) / "moe.jsonl"

    def start(self, *arguments):
        """Ten cells of about half a second each, on 3 ranks, which have time to say how they end when another one has ended."""
        grace = {name: "1" for name in os.environ if name.endswith("_MCA_odls_base_sigkill_timeout")}
        return subprocess.Popen(mpirun(3, MOE, *SWEEP, "--time-limit", "0.4", "--results", str(self.results), *arguments),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | self.mark | grace)

    def wait_for_cells(self, count):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.results.exists() and self.results.read_text().count('"kind":"cell"') >= count:
                return
            time.sleep(0.05)
        self.fail("no cell was finished in a minute")

    def resume_and_check(self):
        before = len(cells(self.results, "ok"))
        done = run(mpirun(3, MOE, *SWEEP, "--time-limit", "0.02", "--resume", "--results", str(self.results)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        finished = [cell["cell_id"] for cell in cells(self.results, "ok")]
        self.assertEqual(len(finished), 10)
        self.assertEqual(len(set(finished)), 10)
        self.assertGreater(before, 0)

    def test_kill_9_of_one_rank_ends_the_job_and_resume_completes_it(self):
        job = self.start()
        self.wait_for_cells(2)
        os.kill(ranks_of(self.mark, MOE)[1], signal.SIGKILL)
        output, errors = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(output + errors, r"(?i)signal 9|killed|BAD TERMINATION")  # Hydra says it on standard output
        self.assertNotIn("end", [line["kind"] for line in lines(self.results)])
        self.resume_and_check()

    def test_sigterm_ends_the_job_with_whole_lines(self):
        job = self.start()
        self.wait_for_cells(2)
        for pid in ranks_of(self.mark, MOE):
            os.kill(pid, signal.SIGTERM)
        _, errors = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("signal 15", errors)
        self.assertIn("--resume", errors)
        lines(self.results)
        self.resume_and_check()

    def test_a_rank_that_stands_still_is_named_and_the_cell_is_a_timeout(self):
        job = self.start("--timeout", "3")
        self.wait_for_cells(1)
        stopped = ranks_of(self.mark, MOE)[2]
        os.kill(stopped, signal.SIGSTOP)
        self.addCleanup(lambda: subprocess.run(["kill", "-9", str(stopped)], check=False, stderr=subprocess.DEVNULL))
        _, errors = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(errors, r"rank \d .*no progress for \d+ s")
        self.assertEqual(len(cells(self.results, "timeout")), 1)
        self.assertIn("rank 0", cells(self.results, "timeout")[0]["reason"])

    @unittest.skipUnless("DLMB_STUCK_RANK" in os.environ, "sanitizers bear no preloading")
    def test_a_rank_that_never_comes_to_the_end_of_mpi_s_first_or_last_call_is_waited_for_no_longer_than_the_timeout(self):
        preload = ["env", f"LD_PRELOAD={os.environ['DLMB_STUCK_RANK']}"]
        program = [COLLECTIVE, "--operation", "allreduce", "-m", "8:8", "-i", "5", "--calibration", "off", "--backend", "mpi",
                   "--timeout", "2", "--results", str(self.results)]
        for call, where in (("MPI_Init_thread", "start-up"), ("MPI_Finalize", "end of the launch")):
            done = run(mpirun(2, *preload, f"DLMB_TEST_STUCK_IN={call}", *program), timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"rank \d.*: {where}: no progress for 2 s")
        self.assertEqual(lines(self.results)[-1]["kind"], "end")

    @unittest.skipUnless("DLMB_STUCK_RANK" in os.environ, "sanitizers bear no preloading")
    def test_a_rank_that_stands_still_between_two_cells_is_waited_for_no_longer_than_the_timeout(self):
        """How long a cell computes is agreed upon when the cell without computing is finished."""
        preload = ["env", f"LD_PRELOAD={os.environ['DLMB_STUCK_RANK']}", f"DLMB_TEST_STUCK_AFTER_CELL={self.results}"]
        program = [COLLECTIVE, "--operation", "allreduce", "-m", "8:8", "-i", "5", "--calibration", "off", "--backend", "mpi",
                   "--compute", "none,busy", "--timeout", "4", "--results", str(self.results)]
        done = run(mpirun(2, *preload, *program), timeout=90)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"rank \d.*, choosing cells: no progress for 4 s")
        self.assertEqual([cell["status"] for cell in cells(self.results)], ["ok"])

    def test_a_full_disk_keeps_whole_lines_and_prints_the_rest(self):
        limit = 24 * 1024

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = run([MOE, *small(tokens=TOKENS), "--backend", "in_process", "--ranks", "2", "--results", str(self.results)],
                   preexec_fn=small_files)
        self.assertEqual(done.returncode, 74, done.stdout + done.stderr)
        saved = len(cells(self.results))
        printed = done.stdout.count('DLMB-UNSAVED {"') - done.stdout.count('"kind":"end"')
        self.assertGreater(saved, 0)
        self.assertEqual(saved + printed, 10)
        self.assertLessEqual(self.results.stat().st_size, limit)

    def test_the_launcher_of_another_mpi_is_refused(self):
        others = {"mpiexec.hydra": "mpich", "mpirun.openmpi": "openmpi"}
        library = run(["ldd", MOE]).stdout
        wrong = "mpiexec.hydra" if "libmpi.so" in library else "mpirun.openmpi"
        if shutil.which(wrong) is None:
            self.skipTest(f"{wrong} ({others[wrong]}) is not installed")
        done = run([wrong, "-n", "2", MOE, *SMALL, "--backend", "mpi"])
        self.assertEqual(done.stderr.count("dlmb_moe_alltoall: error:"), 1, done.stderr)
        self.assertEqual(done.returncode, 64, done.stderr)


if __name__ == "__main__":
    unittest.main()
