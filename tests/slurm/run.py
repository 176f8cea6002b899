# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps and a tuning under a real Slurm that the test starts on this machine: sbatch with the template, srun, scancel and going on.

Usage: run.py BIN, the folder of the programs. Exits 77 where Slurm cannot be started.
"""

import json
import shlex
import sys
import tempfile
import time
import unittest
from pathlib import Path

import cluster

ROOT = Path(__file__).resolve().parents[2]
EXIT_SKIPPED = 77
BIN = ""

LONG = """
launches = 6
[options]
backend = "mpi"
iterations = 300
[[world]]
ranks = 2
[[program]]
program = "collective"
operation = "sendrecv"
message-size = "1K:128K"
"""
LONG_CELLS = 8


def cells(file):
    text = file.read_text(encoding="utf-8")
    entries = [json.loads(line) for line in text.splitlines()]
    return [entry["cell_id"] for entry in entries if entry["kind"] == "cell" and entry["status"] == "ok"]


class Sweeps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        folder = Path(cls.scratch.name)
        (folder / "slurm").mkdir()
        cls.slurm = cluster.Cluster(folder / "slurm")
        cls.slurm.__enter__()
        cls.addClassCleanup(cls.slurm.stop)
        cls.machine = folder / "machine.toml"
        cls.machine.write_text("oversubscribe = true\n", encoding="utf-8")

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=self.scratch.name))

    def submit(self, sweep):
        template = ROOT / "launch" / "slurm" / "sweep.sbatch"
        own = ["--machine", str(self.machine), "--build", BIN]
        command = ["sbatch", "--parsable", "-n", "2", "-o", str(self.folder / "job.log"), "--open-mode=append"]
        export = f"--export=ALL,DLMB_SWEEP={ROOT / 'launch' / 'dlmb_sweep'},PYTHONDONTWRITEBYTECODE=1"
        submitted = self.slurm.run([*command, export, str(template), str(sweep), str(self.folder / "out"), *own])
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        return submitted.stdout.strip()

    def assert_ends_well(self, job):
        # Not sbatch --wait: it looks every half minute only.
        self.wait_until(lambda: not self.in_queue(job))
        self.assertIn("JobState=COMPLETED", self.slurm.run(["scontrol", "show", "job", job]).stdout, self.log())

    def in_queue(self, job):
        return self.slurm.run(["squeue", "-h", "-j", job]).stdout.strip() != ""

    def log(self):
        file = self.folder / "job.log"
        return file.read_text(encoding="utf-8") if file.exists() else "no log"

    def assert_every_cell_once(self, launches, cells_per_launch=None):
        files = sorted((self.folder / "out" / "results").glob("*.jsonl"))
        self.assertEqual(len(files), launches, self.log())
        for file in files:
            ids = cells(file)
            self.assertEqual(len(ids), len(set(ids)), file.name)
            self.assertEqual(len(ids), cells_per_launch or len(ids))
            self.assertGreater(len(ids), 0)

    def test_the_quick_sweep_by_srun(self):
        shipped = (ROOT / "launch" / "sweeps" / "quick.toml").read_text(encoding="utf-8")
        quicker = self.folder / "quick.toml"
        quicker.write_text(shipped.replace("time-limit = 1\n", "time-limit = 0.1\n"), encoding="utf-8")
        self.assertNotEqual(quicker.read_text(encoding="utf-8"), shipped)
        self.assert_ends_well(self.submit(quicker))
        self.assert_every_cell_once(launches=7)
        states = [json.loads(f.read_text(encoding="utf-8")) for f in self.folder.glob("out/state/results/*.json")]
        for state in states:
            self.assertRegex(" ".join(state["command"][:2]), "srun --mpi=pmix")

    def test_scancel_and_going_on(self):
        sweep = self.folder / "long.toml"
        sweep.write_text(LONG, encoding="utf-8")
        job = self.submit(sweep)
        self.wait_until(lambda: len(list(self.folder.glob("out/results/*.jsonl"))) >= 2)
        self.slurm.run(["scancel", job])
        self.wait_until(lambda: not self.in_queue(job))
        before = sum(len(cells_or_none(file)) for file in self.folder.glob("out/results/*.jsonl"))
        self.assertLess(before, 6 * LONG_CELLS, "nothing was left when the job was cancelled")
        self.assert_ends_well(self.submit(sweep))
        self.assertIn("going on with", self.log())
        self.assert_every_cell_once(launches=6, cells_per_launch=LONG_CELLS)

    def test_a_night_as_a_job(self):
        sweep = self.folder / "night.toml"
        sweep.write_text(LONG.replace("launches = 6", "launches = 5").replace("iterations = 300", "iterations = 20"), encoding="utf-8")
        history = self.folder / "history"
        for night in ("one", "two"):
            arguments = [str(sweep), str(self.folder / night), str(history), "--machine", str(self.machine), "--build", BIN]
            export = f"--export=ALL,DLMB_NIGHTLY={ROOT / 'launch' / 'ci' / 'nightly'},PYTHONDONTWRITEBYTECODE=1"
            command = ["sbatch", "--parsable", "-n", "2", "-o", str(self.folder / "job.log"), "--open-mode=append", export]
            submitted = self.slurm.run([*command, str(ROOT / "launch" / "ci" / "nightly.sbatch"), *arguments])
            self.assertEqual(submitted.returncode, 0, submitted.stderr)
            self.wait_until(lambda: not self.in_queue(submitted.stdout.strip()))
        # Two nights on a busy machine may differ; that the second one was compared is what counts.
        self.assertTrue((self.folder / "two" / "report.xml").exists(), self.log())
        campaigns = [(self.folder / night / "campaign").read_text(encoding="utf-8") for night in ("one", "two")]
        self.assertEqual(len(set(campaigns)), 2)

    def test_a_tuning_as_a_job(self):
        asked = ["--ranks", "2", "--operations", "allreduce", "--sizes", "1K", "--budget", "3m", "-o", str(self.folder / "tuned")]
        tuning = shlex.join([str(ROOT / "launch" / "dlmb_autotune"), *asked, "--machine", str(self.machine), "--build", BIN])
        command = ["sbatch", "--parsable", "-n", "2", "-o", str(self.folder / "job.log"), "--export=ALL,PYTHONDONTWRITEBYTECODE=1"]
        submitted = self.slurm.run([*command, "--wrap", tuning])
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.wait_until(lambda: not self.in_queue(submitted.stdout.strip()))
        self.assertIn("dlmb_autotune: 2 ranks, ", self.log())
        states = [json.loads(f.read_text(encoding="utf-8")) for f in self.folder.glob("tuned/campaign/*/state/results/*.json")]
        self.assertGreater(len(states), 1, self.log())
        for state in states:
            self.assertRegex(" ".join(state["command"][:2]), "srun --mpi=pmix")

    def wait_until(self, true):
        end = time.monotonic() + 240
        while not true():
            if time.monotonic() > end:
                self.fail(self.log() + self.slurm.logs())
            time.sleep(0.1)


def cells_or_none(file):
    try:
        return cells(file)
    except ValueError:  # the line that the cancelled job was writing
        return []


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if reason := cluster.why_not():
        print(f"skipped: {reason}")
        sys.exit(EXIT_SKIPPED)
    BIN = sys.argv.pop()
    unittest.main(verbosity=2)
