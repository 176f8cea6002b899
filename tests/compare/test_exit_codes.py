# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every exit code, every pair of them, and the options that change them."""

from __future__ import annotations

import itertools
import json
import unittest
from pathlib import Path

from made import CELL, WithFolder, fault, launch, side
from running import run_main

from dlmb_launch.compare.command import PRECEDENCE, exit_code, main

US = [100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]
SLOW = [2 * value for value in US]
SCATTERED = [80, 90, 100, 110, 120, 130, 140, 150]


def run(*arguments: object) -> tuple[int, str, str]:
    return run_main(main, *arguments)


class WithCampaigns(WithFolder):
    """Each cause of an exit code is a cell of its own, so that they can be combined."""

    def sides(self, *causes: int) -> tuple[Path, Path]:
        baseline, candidate = {f"{CELL}/x=0": US}, {f"{CELL}/x=0": US}
        extra = []
        for cause in causes:
            name = f"{CELL}/x={cause}"
            if cause == 1:
                baseline[name], candidate[name] = US, SLOW
            elif cause == 2:
                baseline[name], candidate[name] = SCATTERED, SCATTERED
            elif cause == 3:
                baseline[name] = US
            elif cause == 4:
                extra = [launch("wrong"), fault("wrong", "invalid", name)]
        return self.file("before", side("base", baseline)), self.file("after", side("cand", candidate) + extra)

    def options(self, *causes: int) -> list[object]:
        """A folder cannot be written as a file."""
        return ["--export", "json", self.folder] if 74 in causes else []


class ExitCodeTest(WithCampaigns):
    def test_each_code(self) -> None:
        self.assertEqual(run(*self.sides())[0], 0)
        for code in PRECEDENCE:
            self.assertEqual(run(*self.sides(code), "--strict", *self.options(code))[0], code)

    def test_of_two_causes_the_graver_is_told(self) -> None:
        for graver, other in itertools.combinations(PRECEDENCE, 2):
            found = run(*self.sides(graver, other), "--strict", *self.options(graver, other))[0]
            self.assertEqual(found, graver, (graver, other))

    def test_inconclusive_is_a_failure_only_with_strict(self) -> None:
        self.assertEqual([run(*self.sides(2), *option)[0] for option in ([], ["--strict"])], [0, 2])

    def test_warn_only_lets_speed_pass_and_nothing_else(self) -> None:
        for code in PRECEDENCE:
            found = run(*self.sides(code), "--strict", "--warn-only", *self.options(code))[0]
            self.assertEqual(found, 0 if code in (1, 2) else code)
        self.assertEqual(exit_code({1, 3}, warn_only=True), 3, "a regression does not hide what else is wrong")

    def test_too_few_launches_say_how_many_are_needed(self) -> None:
        before, after = (self.file(name, side(name, {CELL: US[:4]})) for name in ("before", "after"))
        code, output, _ = run(before, after)
        self.assertEqual(code, 3)
        self.assertIn(
            "the baseline has 4 and the candidate 4 per cell; 5 of each are needed to screen, 8 of each to decide", " ".join(output.split())
        )

    def test_wrong_payload_in_the_baseline_alone_is_not_the_candidates_fault(self) -> None:
        before = self.file("before", side("base", {CELL: US}) + [launch("wrong"), fault("wrong", "invalid")])
        self.assertEqual(run(before, self.file("after", side("cand", {CELL: US})))[0], 3)

    def test_a_cell_below_the_floor_is_no_open_question(self) -> None:
        short = {f"{CELL}/x=1": [value / 1000 for value in US]}
        sides = [self.file(name, side(name, {CELL: US} | short)) for name in ("before", "after")]
        self.assertEqual(run(*sides, "--strict")[0], 0)

    def test_bad_usage_and_input_are_one_line_that_says_what(self) -> None:
        before, after = self.sides()
        broken = self.folder / "broken.jsonl"
        broken.write_text('{"kind": "launch", "schema": "dlmb.result/2.0", "launch_id": "a"}\n')
        for arguments, said in (
            ((before,), "CANDIDATE"),
            ((before, self.folder / "none.jsonl"), "none.jsonl"),
            ((before, broken), "broken.jsonl:1"),
            ((before, after, "--export", "xml", "out"), "xml"),
            ((before, after, "--factor", "NOTHING"), "NOTHING"),
            ((before, after, "--margin", "-1"), "--margin"),
            ((before, before), "both sides"),
        ):
            code, output, errors = run(*arguments)
            self.assertEqual((code, output, errors.count("error:"), errors.count("\n")), (64, "", 1, 1), errors)
            self.assertIn(said, errors)


class ConfirmationTest(WithCampaigns):
    def first_look(self) -> Path:
        path = self.folder / "rerun.json"
        self.assertEqual(run(*self.sides(1, 2), "--rerun", path)[0], 1)
        return path

    def fresh(self, medians: list[float], cells: tuple[str, ...] = (f"{CELL}/x=1",)) -> tuple[Path, Path]:
        before = self.file("fresh_before", side("freshbase", {name: US for name in cells}))
        return before, self.file("fresh_after", side("freshcand", {name: medians for name in cells}))

    def test_the_list_holds_what_is_doubtful_and_the_launches_seen(self) -> None:
        found = json.loads(self.first_look().read_text())
        self.assertEqual([each["cell_id"] for each in found["cells"]], [f"{CELL}/x=1"])
        self.assertEqual(len(found["launches"]), 16)

    def test_fresh_launches_decide(self) -> None:
        request = self.first_look()
        self.assertEqual(run(*self.fresh(US), "--confirm", request)[0], 0)
        self.assertEqual(run(*self.fresh(SLOW), "--confirm", request)[0], 1)

    def test_only_the_cells_of_the_list_are_decided_on(self) -> None:
        request = self.first_look()
        before, _ = self.fresh(US, (f"{CELL}/x=1", f"{CELL}/x=5"))
        after = self.file("other", side("other", {f"{CELL}/x=1": US, f"{CELL}/x=5": SLOW}))
        self.assertEqual(run(before, after, "--confirm", request)[0], 0)

    def test_another_metric_than_that_of_the_list_confirms_nothing(self) -> None:
        code, _, errors = run(*self.fresh(US), "--metric", "busbw", "--confirm", self.first_look())
        self.assertEqual(code, 64)
        self.assertIn("the first comparison was by time; give --metric time", errors)

    def test_launches_that_were_seen_do_not_confirm(self) -> None:
        request = self.first_look()
        code, _, errors = run(*self.sides(1, 2), "--confirm", request)
        self.assertEqual(code, 64)
        self.assertIn("only fresh launches confirm", errors)

    def test_a_cell_that_is_not_measured_again_does_not_pass(self) -> None:
        code, _, errors = run(*self.fresh(US, (f"{CELL}/x=5",)), "--confirm", self.first_look())
        self.assertEqual(code, 64)
        self.assertIn(f"{CELL}/x=1", errors)

    def test_another_file_is_no_list(self) -> None:
        before, after = self.fresh(US)
        self.assertEqual(run(before, after, "--confirm", before)[0], 64)


if __name__ == "__main__":
    unittest.main()
