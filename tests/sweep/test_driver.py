# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The driver with doubles of launcher and programs: states, resuming, signals, time-outs, exit codes."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import doubles

from dlmb_launch.sweep.launchers import Launcher, Machine

SWEEP = """
launches = 2
launch-timeout = {timeout}
[[world]]
ranks = 1
[[program]]
program = "collective"
"""


class Driver(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = doubles.make(Path(self.scratch.name))
        self.output = self.folder / "out"
        self.sweep = self.folder / "example.toml"
        self.sweep.write_text(SWEEP.format(timeout=30), encoding="utf-8")

    def command(self, *more):
        tool = [sys.executable, "-m", "dlmb_launch", "sweep"]
        return [*tool, str(self.sweep), "--build", str(self.folder / "bin"), "-o", str(self.output), *more]

    def environment(self, behaviour):
        path = f"{self.folder / 'path'}:{os.environ['PATH']}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        return {**clean, "PATH": path, "DOUBLE_BEHAVIOUR": behaviour, "PYTHONDONTWRITEBYTECODE": "1"}

    def run_sweep(self, behaviour="", *more):
        return subprocess.run(
            self.command(*more), env=self.environment(behaviour), capture_output=True, text=True, timeout=120, check=False
        )

    def launch_files(self):
        return sorted((self.output / "results").glob("*.jsonl"))

    def assert_complete(self):
        self.assertEqual(len(self.launch_files()), 2)
        for file in self.launch_files():
            self.assertEqual(sorted(doubles.cells(file)), [(cell, "ok") for cell in doubles.CELLS])

    def test_the_launcher_beside_the_mpi_library_is_taken_before_the_one_in_the_path(self):
        """Programs that run with another Open MPI than the one in PATH: each rank would be rank 0 of 1."""
        doubles.add_library(self.folder, self.folder / "other")
        done = self.run_sweep("", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(self.folder / "other" / "bin" / "mpirun"), done.stdout)

    def test_a_program_that_prints_warnings_before_its_answer_is_understood(self):
        info = self.folder / "bin" / "dlmb_info"
        info.write_text(info.read_text(encoding="utf-8").replace("echo", "echo 'UCX  WARN  two versions'; echo"), encoding="utf-8")
        self.assertEqual(self.run_sweep().returncode, 0)

    def test_a_program_that_adds_its_ranks_itself_is_given_no_place_and_srun_what_ends_and_mixes_them(self):
        machine = Machine(arguments=("-x",), bind="core")
        for kind, pmi, own in (("mpirun", "", []), ("mpiexec", "", []),
                               ("srun", "pmi2", ["--mpi=pmi2", "--kill-on-bad-exit=1", "--overcommit", "--cpu-bind=none"])):
            self.assertEqual(Launcher(kind, f"/bin/{kind}", pmi, ()).without_world(machine), [f"/bin/{kind}", *own, "-x"])

    def test_the_folder_of_programs_on_the_command_line_wins(self):
        machine = self.folder / "machine.toml"
        machine.write_text('build = "/no/such/folder"\n', encoding="utf-8")
        done = self.run_sweep("", "--machine", str(machine), "--dry-run")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(str(self.folder / "bin" / "dlmb_collective"), done.stdout)

    def test_programs_and_options_that_there_are_not_are_refused_before_anything_starts(self):
        cases = {
            'program = "colective"': "example.toml: unknown program 'colective'; nearest: collective in ",
            'program = "collective"\npresett = "x"': "example.toml: program collective: unknown option '--presett'; nearest: --preset",
        }
        for text, says in cases.items():
            self.sweep.write_text(SWEEP.format(timeout=30).replace('program = "collective"', text), encoding="utf-8")
            for more in ([], ["--dry-run"]):
                with self.subTest(text, more=more):
                    done = self.run_sweep("", *more)
                    self.assertEqual((done.returncode, done.stdout), (64, ""), done.stderr)
                    self.assertIn(says, done.stderr)
                    self.assertFalse(self.output.exists())

    def test_a_reader_that_goes_away_is_no_error(self):
        self.assertEqual(self.run_without_reader("--dry-run"), (0, ""))
        self.assertNotEqual(self.run_without_reader()[0], 0, "launches that were not made are not done")

    def run_without_reader(self, *more):
        reading, writing = os.pipe()
        os.close(reading)
        buffered = {name: value for name, value in self.environment("").items() if name != "PYTHONUNBUFFERED"}
        done = subprocess.run(self.command(*more), env=buffered, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        os.close(writing)
        return done.returncode, done.stderr

    def test_all_done(self):
        done = self.run_sweep()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_complete()

    def test_a_second_run_has_nothing_to_do(self):
        self.run_sweep()
        before = [file.read_bytes() for file in self.launch_files()]
        done = self.run_sweep()
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing was left to do", done.stdout)
        self.assertEqual(before, [file.read_bytes() for file in self.launch_files()])

    def test_a_failed_cell_is_shown_and_measured_again(self):
        failed = self.run_sweep("fail")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("the last words of a double", failed.stdout)
        self.assertEqual(self.run_sweep().returncode, 0)
        self.assert_complete()
        aside = [line for file in self.output.glob("results/*.superseded") for line in file.read_text().splitlines()]
        self.assertEqual([json.loads(line)["status"] for line in aside], ["failed", "failed"])

    def test_what_cannot_run_here_is_no_failure(self):
        self.assertEqual(self.run_sweep("nothing").returncode, 0)
        self.assertIn("nothing was left", self.run_sweep("nothing").stdout)

    def test_a_launch_that_hangs_is_ended(self):
        self.sweep.write_text(SWEEP.format(timeout=1), encoding="utf-8")
        done = self.run_sweep("hang")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 launches timeout", done.stdout)

    def test_sigterm_ends_in_order_and_the_next_run_completes(self):
        with subprocess.Popen(self.command(), env=self.environment("hang"), stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            self.wait_for_state("running")
            child.send_signal(signal.SIGTERM)
            rest = child.stdout.read()
        self.assertEqual(child.returncode, 128 + signal.SIGTERM)
        self.assertIn("goes on from here", rest)
        self.assertEqual(self.run_sweep().returncode, 0)
        self.assert_complete()

    def test_what_nohup_has_ignored_does_not_end_it(self):
        with subprocess.Popen(["nohup", *self.command()], env=self.environment("slow"), stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            self.wait_for_state("running")
            child.send_signal(signal.SIGHUP)
            child.stdout.read()
        self.assertEqual(child.returncode, 0)
        self.assert_complete()

    def test_a_killed_driver_leaves_nothing_that_disturbs_the_next(self):
        with subprocess.Popen(self.command(), env=self.environment("hang"), stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            self.wait_for_state("running")
            child.kill()
        file = self.output / "results" / "collective.1r.001.jsonl"
        file.parent.mkdir(exist_ok=True)  # it may have died before it wrote anything
        with file.open("a", encoding="utf-8") as results:
            results.write('{"kind": "cell", "cell_id": "bro')
        self.assertEqual(self.run_sweep().returncode, 0)
        self.assert_complete()

    def test_a_folder_in_use_is_refused_and_its_launch_goes_on(self):
        with subprocess.Popen(self.command(), env=self.environment("hang"), stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            self.wait_for_state("running")
            second = self.run_sweep()
            self.assertEqual((second.returncode, second.stdout), (69, ""))
            self.assertIn(f"{self.output}: another command measures into this folder", second.stderr)
            self.assertEqual(second.stderr.count("\n"), 1)
            self.wait_for_state("running")
            child.send_signal(signal.SIGTERM)
            self.assertIn("goes on from here", child.stdout.read())

    def wait_for_state(self, word):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if any(json.loads(f.read_text())["state"] == word for f in self.output.glob("state/results/*.json")):
                return
            time.sleep(0.02)
        self.fail(f"no launch is {word}")

    def test_a_folder_of_another_sweep_is_refused(self):
        self.run_sweep()
        self.sweep.write_text(SWEEP.format(timeout=31), encoding="utf-8")
        done = self.run_sweep()
        self.assertEqual(done.returncode, 64)
        self.assertIn("results of another sweep", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_folder_that_has_all_environments_together_is_refused(self):
        self.sweep.write_text(self.sweep.read_text(encoding="utf-8") + '[[environment]]\nname = "tcp"\n', encoding="utf-8")
        self.run_sweep()
        kept = self.output / "sweep.json"
        older = json.loads(kept.read_text(encoding="utf-8"))["sweep"]
        del older["layout"]
        text = json.dumps(older, sort_keys=True)
        kept.write_text(json.dumps({"sweep": older, "digest": hashlib.sha256(text.encode()).hexdigest()}), encoding="utf-8")
        self.assertIn("results of another sweep", self.run_sweep().stderr)

    def test_no_secret_is_written_and_a_changed_value_is_another_sweep(self):
        setting = '[[environment]]\nname = "hub"\nset = { HF_TOKEN = "hunter2", PROXY = "http://me:hunter2@proxy", MODE = "hunter%d", UCX_TLS = "tcp" }\n'
        begin = self.sweep.read_text(encoding="utf-8")
        self.sweep.write_text(begin + setting % 2, encoding="utf-8")
        self.assertEqual(self.run_sweep().returncode, 0)
        for file in self.output.rglob("*"):
            self.assertNotIn("hunter", file.read_text(encoding="utf-8") if file.is_file() else "", file)
        self.assertIn('"UCX_TLS": "tcp"', (self.output / "sweep.json").read_text(encoding="utf-8"))
        self.assertEqual(self.run_sweep().returncode, 0)
        self.sweep.write_text(begin + setting % 3, encoding="utf-8")
        self.assertIn("results of another sweep", self.run_sweep().stderr)

    def test_a_campaign_may_have_another_name_than_the_sweep(self):
        shown = self.run_sweep("", "--campaign", "night.2026-01-31", "--dry-run").stdout
        self.assertEqual(shown.count("--campaign night.2026-01-31.results "), 2, shown)

    def test_usage_errors(self):
        for more, code, says in (
            (["--frobnicate"], 64, "--frobnicate"),
            (["--build", "/nonexistent"], 64, "no DLMB programs here"),
            (["--machine", "/nonexistent.toml"], 64, "No such file"),
            (["-o", "/proc/nothing"], 74, "/proc/nothing"),
        ):
            with self.subTest(says):
                done = self.run_sweep("", *more)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_more_ranks_than_cores_needs_to_be_said(self):
        self.sweep.write_text(SWEEP.format(timeout=30).replace("ranks = 1", "ranks = 100000"), encoding="utf-8")
        done = self.run_sweep()
        self.assertEqual(done.returncode, 64)
        self.assertIn("oversubscribe = true", done.stderr)

    def test_ranks_that_share_cores_are_bound_only_where_the_machine_file_says_so(self):
        machine = self.folder / "machine.toml"
        for text, bound in (("", "--bind-to core "), ("oversubscribe = true", "--bind-to none "),
                            ('oversubscribe = true\nbind = "core"', "--bind-to core:overload-allowed ")):
            with self.subTest(text):
                machine.write_text(text, encoding="utf-8")
                self.assertIn(bound, self.run_sweep("", "--dry-run", "--machine", machine).stdout)

    def test_a_dry_run_prints_commands_and_writes_nothing(self):
        done = self.run_sweep("", "--dry-run")
        self.assertEqual(done.stdout.count("dlmb_collective"), 2)
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main()
