# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/gpu/run keeps of a stage, whatever becomes of it."""

import os
import tempfile
import unittest
from pathlib import Path

from stage import LONGEST_OUTPUT, NO_FIT, Runner, Stage


def shell(name, text, limit_s=20.0, **more):
    return Stage(name, ["sh", "-c", text], limit_s, **more)


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.runner = Runner(self.folder, dict(os.environ), 60)

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def result(self, stage):
        self.runner.run(stage)
        return self.runner.outcomes[-1].result

    def test_a_stage_passes_by_its_exit_code_and_what_it_says(self):
        self.assertEqual(self.result(shell("good", "true")), "passed")
        self.assertEqual(self.result(shell("bad", "exit 3")), "exit code 3")
        self.assertEqual(self.result(shell("skipped", "exit 77")), "exit code 77 (skipped)")
        self.assertEqual(self.result(shell("judged", "echo half", judge=lambda output: f"only {output.strip()}")), "only half")
        self.assertEqual(self.result(shell("small", "exit 64", may_not_fit=True)), NO_FIT)
        self.assertRegex(self.result(Stage("absent", ["/no/such/program"], 5)), "^does not start: ")
        self.assertFalse(self.runner.all_passed())

    def test_table_and_figures_are_there_after_every_stage(self):
        self.runner.run(shell("first", "echo 42 GB/s", figures=True))
        self.assertRegex(self.text("summary.txt"), r"(?s)first +\d+\.\d  passed\n\nfirst\n42 GB/s")
        self.runner.run(shell("second", "false"))
        self.assertIn("exit code 1", self.text("summary.txt"))

    def test_output_is_in_the_log_before_the_stage_ends(self):
        seen = self.folder / "seen"
        self.runner.run(shell("slow", f"echo early; cp {self.folder / 'log.txt'} {seen}"))
        self.assertIn("early", seen.read_text(encoding="utf-8"))

    def test_what_does_not_end_is_ended_with_process_groups_of_its_own(self):
        # A shell with job control gives its jobs process groups of their own, as mpirun does its ranks.
        pids = self.folder / "pids"
        stage = Stage("hangs", ["bash", "-c", f"set -m; sleep 60 & echo $! > {pids}; echo waiting; wait"], 1)
        self.assertEqual(self.result(stage), "ended after its limit of 1 s")
        self.assertEqual(self.runner.outcomes[-1].output, "waiting\n")
        state = Path(f"/proc/{pids.read_text(encoding='utf-8').strip()}/stat")
        self.assertTrue(not state.exists() or state.read_text(encoding="utf-8").split()[2] == "Z")

    def test_after_two_of_a_kind_that_hang_the_others_are_not_tried(self):
        for name in ("one", "two", "three"):
            self.runner.run(shell(name, "sleep 60", 0.2, alike="sleepers"))
        self.assertEqual(self.runner.outcomes[2].result, "not run: 2 of sleepers did not end")
        self.assertEqual(self.result(shell("four", "true", alike="others")), "passed")

    def test_nothing_starts_when_the_time_is_used_up(self):
        runner = Runner(self.folder, dict(os.environ), 0)
        self.assertFalse(runner.run(shell("late", f"touch {self.folder / 'ran'}")))
        self.assertEqual(runner.outcomes[0].result, "not run: the time was used up")
        self.assertFalse((self.folder / "ran").exists())

    def test_of_a_flood_beginning_and_end_stay(self):
        self.runner.run(shell("flood", "echo begin; yes | head -c 3000000; echo end"))
        self.runner.run(shell("next", "echo hello"))
        log = self.text("log.txt")
        self.assertLess(len(log), 2 * LONGEST_OUTPUT)
        self.assertRegex(log, r"(?s)begin.*bytes are left out here.*end\n.*==== passed.*hello")


if __name__ == "__main__":
    unittest.main()
