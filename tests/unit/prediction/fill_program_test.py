# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict fill as a person or a script runs it (PipeFisher, arXiv 2211.14133).

usage: fill_program_test.py DLMB_PREDICT
"""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv[1])
# N = D, F = B: each of 4 stages idles 2 (D - 1) = 6 slots of 100 us.
SQUARE = ("--ranks", 4, "--microbatches", 4, "--forward-us", 100, "--backward-us", 100)


class Fill(unittest.TestCase):
    def ask(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(PROGRAM), "fill", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)

    def answer(self, *arguments: object) -> dict:
        done = self.ask(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_work_of_any_time_fits_until_the_bubble_is_full(self) -> None:
        answer = self.answer(*SQUARE, "--bubble-reserve", 0, "--fill", "compute@1")
        self.assertEqual((answer["makespan_us"], answer["bubble_us"], answer["fits"]), (1400, 600, 600))
        self.assertFalse(answer["more_may_fit"])
        once, full, over = answer["fills"]
        self.assertEqual((full["times"], full["bubble_utilisation"], full["makespan_us"]), (600, 1, 1400))
        self.assertEqual((over["times"], over["makespan_us"], over["bubble_fill"]), (601, 1401, "compute@1x601"))
        self.assertEqual(once["fill_us"], 1)

    def test_an_item_of_many_copies_fits_at_least_as_often_as_can_be_asked(self) -> None:
        done = self.ask(*SQUARE, "--bubble-reserve", 0, "--fill", "compute@0.1x3000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("this work fits at least 1 times", done.stdout)
        answer = self.answer(*SQUARE, "--bubble-reserve", 0, "--fill", "compute@0.1x3000")
        self.assertEqual((answer["fits"], answer["more_may_fit"]), (1, True))

    def test_what_is_released_late_fits_less(self) -> None:
        self.assertLess(self.answer(*SQUARE, "--fill", "backward.compute@10")["fits"], 600 // 10 // 4)
        self.assertEqual(self.answer(*SQUARE, "--fill", "compute@700")["fits"], 0)
        self.assertIn("this work fits 0 times", self.ask(*SQUARE, "--fill", "compute@700").stdout)

    def test_a_collective_without_a_time_is_priced_for_the_copies_of_a_stage(self) -> None:
        # 8 ranks, 4 stages: 2 copies, whose allreduce of 4 MiB takes 4194304 B / 10 GB/s.
        arguments = ("--ranks", 8, "--pp", 4, *SQUARE[2:], "--fill", "forward.compute@1/allreduce:4M")
        answer = self.answer(*arguments, "--bandwidth", 10)
        self.assertEqual(answer["fills"][0]["bubble_fill"], "forward.compute@1x1/allreduce:4M@419.430x1")
        done = self.ask(*arguments)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
        self.assertIn("'allreduce:4M' has no time", done.stderr)
        for item, bandwidth, time in (("allreduce:1.5M", 10, "157.286"), ("forward.allreduce:0.5K", 10, "0.051"), ("allreduce:8", 100, "0.001")):
            answer = self.answer(*arguments[:-1], item, "--bandwidth", bandwidth)
            self.assertEqual(answer["fills"][0]["bubble_fill"], f"{item}@{time}x1")
        done = self.ask(*arguments[:-1], "compute@1", "--bandwidth", 10)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
        self.assertIn("each item has its time", done.stderr)

    def test_what_is_wrong_is_refused_in_one_line(self) -> None:
        for fill in ("compute", "compute@", "compute@5x0", "compute@5x9999", "foo@3", "allreduce:64@5", "/", ""):
            done = self.ask(*SQUARE, "--fill", fill)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), f"{fill}: {done.stderr}")
        for item in ("compute@1x99999999999", "compute@5x0", "compute@5x-3", "compute@5x"):
            self.assertIn(f"--fill: '{item}': expected a count from 1 to 4096", self.ask(*SQUARE, "--fill", f"compute@1+{item}").stderr)
        self.assertEqual(self.ask(*SQUARE, "--schedule", "none", "--fill", "compute@5").returncode, 64)
        self.assertEqual(self.ask("--ranks", 0, "--fill", "compute@5").returncode, 64)
        for stages, part in ((4, "a stage has one copy"), (8, "does not divide")):
            done = self.ask("--ranks", 4, "--pp", stages, "--fill", "allreduce:4M", "--bandwidth", 25)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
            self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
