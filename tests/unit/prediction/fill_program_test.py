# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict fill (PipeFisher, arXiv 2211.14133)."""

from __future__ import annotations

import program

# N = D, F = B: each of 4 stages idles 2 (D - 1) = 6 slots of 100 us.
SQUARE = ("--ranks", 4, "--microbatches", 4, "--forward-us", 100, "--backward-us", 100)


class Fill(program.Program):
    command = ("fill",)

    def test_work_of_any_time_fits_until_the_bubble_is_full(self) -> None:
        answer = self.answer(*SQUARE, "--bubble-reserve", 0, "--fill", "compute@1")
        self.assertEqual((answer["makespan_us"], answer["bubble_us"], answer["fits"]), (1400, 600, 600))
        self.assertFalse(answer["more_may_fit"])
        once, full, over = answer["fills"]
        self.assertEqual((full["times"], full["bubble_utilisation"], full["makespan_us"]), (600, 1, 1400))
        self.assertEqual((over["times"], over["makespan_us"], over["bubble_fill"]), (601, 1401, "compute@1x601"))
        self.assertEqual(once["fill_us"], 1)

    def test_an_item_of_many_copies_fits_at_least_as_often_as_can_be_asked(self) -> None:
        done = self.call(*SQUARE, "--bubble-reserve", 0, "--fill", "compute@0.1x3000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("this work fits at least 1 times", done.stdout)
        answer = self.answer(*SQUARE, "--bubble-reserve", 0, "--fill", "compute@0.1x3000")
        self.assertEqual((answer["fits"], answer["more_may_fit"]), (1, True))

    def test_what_is_released_late_fits_less(self) -> None:
        self.assertLess(self.answer(*SQUARE, "--fill", "backward.compute@10")["fits"], 600 // 10 // 4)
        self.assertEqual(self.answer(*SQUARE, "--fill", "compute@700")["fits"], 0)
        self.assertIn("this work fits 0 times", self.call(*SQUARE, "--fill", "compute@700").stdout)

    def test_a_collective_without_a_time_is_priced_for_the_copies_of_a_stage(self) -> None:
        # 8 ranks, 4 stages: 2 copies, whose allreduce of 4 MiB takes 4194304 B / 10 GB/s.
        arguments = ("--ranks", 8, "--pp", 4, *SQUARE[2:], "--fill", "forward.compute@1/allreduce:4M")
        answer = self.answer(*arguments, "--bandwidth", 10)
        self.assertEqual(answer["fills"][0]["bubble_fill"], "forward.compute@1x1/allreduce:4M@419.430x1")
        self.refused(64, "'allreduce:4M' has no time", *arguments)
        for item, bandwidth, time in (("allreduce:1.5M", 10, "157.286"), ("forward.allreduce:0.5K", 10, "0.051"), ("allreduce:8", 100, "0.001")):
            answer = self.answer(*arguments[:-1], item, "--bandwidth", bandwidth)
            self.assertEqual(answer["fills"][0]["bubble_fill"], f"{item}@{time}x1")
        self.refused(64, "each item has its time", *arguments[:-1], "compute@1", "--bandwidth", 10)

    def test_what_is_wrong_is_refused_in_one_line(self) -> None:
        for fill in ("compute", "compute@", "compute@5x0", "compute@5x9999", "foo@3", "allreduce:64@5", "/", ""):
            self.refused(64, "", *SQUARE, "--fill", fill)
        for item in ("compute@1x99999999999", "compute@5x0", "compute@5x-3", "compute@5x"):
            self.refused(64, f"--fill: '{item}': expected a count from 1 to 4096", *SQUARE, "--fill", f"compute@1+{item}")
        self.assertEqual(self.call(*SQUARE, "--schedule", "none", "--fill", "compute@5").returncode, 64)
        self.assertEqual(self.call("--ranks", 0, "--fill", "compute@5").returncode, 64)
        for stages, part in ((4, "a stage has one copy"), (8, "does not divide")):
            self.refused(64, part, "--ranks", 4, "--pp", stages, "--fill", "allreduce:4M", "--bandwidth", 25)


if __name__ == "__main__":
    program.main()
