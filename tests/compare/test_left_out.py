# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of single launches that do not count, and numbers that are none."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

from made import CELL, WithFolder, side

from dlmb_launch.compare.verdict import State

US = [100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]
SLOW = [1.2 * value for value in US]
WINDOW = "isolated: one iteration begun at one time on all ranks, largest over ranks of (done - enter)"
BARRIER = "isolated: one iteration behind a dissemination barrier, largest over ranks of (done - enter)"
Line = dict[str, Any]


def throttled(line: Line) -> None:
    line["throttled"] = True


def held_down(line: Line) -> None:
    line["flags"] = ["throttled"]


def unchecked(line: Line) -> None:
    line["validation"] = {"verdict": "off"}


def another_start(line: Line) -> None:
    line["definition"] = WINDOW


ODD = (throttled, held_down, unchecked, another_start)


def cells(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line["kind"] == "cell"]


class LeftOutTest(WithFolder):
    def found(self, change: Callable[[Line], None], count: int, values: list[float] = SLOW) -> Any:
        """A candidate of which `count` launches are changed so, and three times as slow."""
        lines = side("base", {CELL: US}), side("cand", {CELL: values})
        for line in cells(lines[0]) + cells(lines[1]):
            line["definition"] = BARRIER
        for line in cells(lines[1])[:count]:
            change(line)
            line["rounds"]["median_of_rounds_ns"] *= 3
        return self.compared(*lines)

    def test_one_or_two_of_eight_are_left_out_and_the_rest_decides(self) -> None:
        for change in ODD:
            for count in (1, 2):
                found = self.found(change, count)
                verdict = found.verdicts[0]
                self.assertEqual((verdict.state, verdict.candidate_launches), (State.REGRESSED, 8 - count), change)
                self.assertLess(verdict.evidence.high, 1.3)
                self.assertIn(f"candidate: {count} of 8 numbers left out", found.candidate.remarks[0])
                self.assertEqual(found.baseline.remarks, [])

    def test_of_five_that_remain_a_slowdown_is_suspect(self) -> None:
        verdict = self.found(another_start, 3).verdicts[0]
        self.assertEqual((verdict.state, verdict.reason), (State.SUSPECT, "few_launches"))

    def test_half_of_them_cannot_be_compared_with_the_reason(self) -> None:
        for change, reason in (
            (throttled, "clocks or processor time were held down (throttled), in 4 of 8 launches of the candidate"),
            (unchecked, "not validated (-c off), so its times may be those of wrong bytes, in 4 of 8 launches of the candidate"),
            (another_start, "definition differs: 'behind a dissemination barrier' in 8 and 4 launches, 'begun at one time on all ranks' in 0 and 4 launches"),
        ):
            verdict = self.found(change, 4).verdicts[0]
            self.assertEqual(verdict.state, State.NOT_COMPARABLE)
            self.assertIn(reason, verdict.reason)
        self.assertIn('measure again with --start barrier (start = "barrier" in a sweep)', verdict.reason)

    def test_a_time_of_nothing_is_no_measurement(self) -> None:
        for which, count, said in (("base", 8, "baseline"), ("cand", 8, "candidate"), ("cand", 1, "candidate")):
            lines = {name: side(name, {CELL: US}) for name in ("base", "cand")}
            for line in cells(lines[which])[:count]:
                line["rounds"]["median_of_rounds_ns"] = 0
            verdict = self.compared(*lines.values()).verdicts[0]
            self.assertEqual(verdict.state, State.NOT_COMPARABLE)
            self.assertIn(f"of the {said}: its time is 0 ns, which is no measurement", verdict.reason)

    def test_a_reason_is_printed_whole(self) -> None:
        from dlmb_launch.compare import tables

        lines = side("base", {CELL: US}), side("cand", {CELL: US})
        for line, definition in zip(cells(lines[0]) + cells(lines[1]), [WINDOW, BARRIER] * 8):
            line["definition"] = definition
        said = " ".join(tables.terminal(self.compared(*lines), False).split())
        self.assertIn("'begun at one time on all ranks' in 4 and 4 launches", said)
        self.assertIn('(start = "barrier" in a sweep)', said)


if __name__ == "__main__":
    unittest.main()
