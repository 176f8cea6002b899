# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts need sides that were measured in turns, pairs need neighbours: what the times of launches say."""

from __future__ import annotations

import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

from made import CELL, WithFolder, side
from test_exit_codes import run

from dlmb_launch.compare.comparison import Rules
from dlmb_launch.compare.evidence import are_pairs, took_turns
from dlmb_launch.compare.verdict import State

US = [100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]
BEGIN = datetime(2026, 1, 31, tzinfo=timezone.utc)


def stamps(order: str, letter: str, apart: timedelta = timedelta(minutes=1)) -> list[str]:
    return [f"{BEGIN + index * apart:%Y-%m-%dT%H:%M:%SZ}" for index, each in enumerate(order) if each == letter]


def ordered(lines: list[dict[str, Any]], times: list[str]) -> list[dict[str, Any]]:
    for line, time in zip([line for line in lines if line["kind"] == "launch"], times):
        line["time"] = time
    return lines


def sides(order: str, slower: float, values: list[float] = US) -> list[list[dict[str, Any]]]:
    both = {"A": [*values], "B": [slower * value for value in values]}
    return [ordered(side(letter, {CELL: both[letter]}), stamps(order, letter)) for letter in "AB"]


class TurnsTest(unittest.TestCase):
    def test_sides_that_alternate_took_turns_and_blocks_did_not(self) -> None:
        for order, expected in (
            ("ABBA" * 4, True),
            ("AB" * 8, True),
            ("AABB" * 4, True),
            ("ABB" * 5, True),  # 5 against 10
            ("ABBAABABBBAABABA", True),  # a random order
            ("A" * 8 + "B" * 8, False),
            ("B" * 8 + "A" * 8, False),
            ("AAAABBBB" * 2, False),
            ("AAAABBBBBBBBAAAA", False),  # no drift in one direction, but what lasts for some launches
            ("AAAAAAABABBBBBBB", False),
        ):
            self.assertEqual(took_turns(stamps(order, "A"), stamps(order, "B")), expected, order)

    def test_launches_of_one_second_count_as_in_turns(self) -> None:
        self.assertTrue(took_turns(["2026-01-31T12:00:00Z"] * 8, ["2026-01-31T12:00:00Z"] * 8))

    def test_pairs_are_neighbours_of_one_day(self) -> None:
        day = timedelta(days=1)
        for order, apart, expected in (
            ("ABBA" * 6, timedelta(minutes=1), True),
            ("AB" * 12, timedelta(minutes=1), True),
            ("AABB" * 6, timedelta(minutes=1), False),
            ("A" * 12 + "B" * 12, timedelta(minutes=1), False),
            ("AB" * 12, 30 * day, False),
            ("AB" * 12, day / 2, True),
        ):
            self.assertEqual(are_pairs(stamps(order, "A", apart), stamps(order, "B", apart)), expected, (order, apart))
        self.assertFalse(are_pairs(["no time"], ["none either"]))
        self.assertFalse(are_pairs(stamps("ABA", "A"), stamps("ABA", "B")))


class NotInTurnsTest(WithFolder):
    def test_blocks_have_no_verdict_that_ends_a_job_and_are_told_why(self) -> None:
        for slower, state in ((1.0, State.INCONCLUSIVE), (0.5, State.INCONCLUSIVE), (1.12, State.SUSPECT)):
            before, after = (self.file(name, lines) for name, lines in zip("ab", sides("A" * 8 + "B" * 8, slower)))
            code, output, _ = run(before, after, "--rerun", self.folder / "rerun.json")
            self.assertEqual(code, 0)
            said = " ".join(output.split())
            self.assertIn(f"{state.value}: the sides were not measured in turns", said)
            self.assertIn("1 cell without a verdict: the launches of the two sides did not take turns", said)
            self.assertIn("--history", said)
            self.assertEqual(run(before, after, "--strict")[0], 2)
            self.assertEqual(CELL in (self.folder / "rerun.json").read_text(), state == State.SUSPECT)
        self.assertIn("did not take turns", run(before, after, "--markdown")[1])

    def test_the_same_numbers_in_turns_are_judged(self) -> None:
        before, after = (self.file(name, lines) for name, lines in zip("ab", sides("ABBA" * 4, 1.12)))
        self.assertEqual(run(before, after)[0], 1)

    def test_pairs_that_are_no_neighbours_are_not_tested_as_pairs_and_it_is_said(self) -> None:
        drift = [100 * 1.1**index for index in range(12)]
        for order, test in (("AB" * 12, "signed-rank"), ("A" * 12 + "B" * 12, "rank-sum")):
            found = self.compared(*sides(order, 1.05, drift), rules=Rules(paired=True))
            self.assertEqual(found.verdicts[0].evidence.test, test)
            self.assertEqual([remark for remark in found.remarks if "--paired" in remark] != [], test == "rank-sum")


if __name__ == "__main__":
    unittest.main()
