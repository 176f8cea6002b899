# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far launches are apart, and what slowdown so many of them can show: against powers that were simulated apart from this code."""

from __future__ import annotations

import json
import math
import unittest
from pathlib import Path

import numpy as np
from made import CELL, WithFolder, cell, launch
from test_exit_codes import run
from test_simulation import POWERS

from dlmb_statistics import detection

MARGIN = 0.03


def power(launches: int, spread: float, slowdown: float) -> float:
    """How often a slowdown is found: the largest power whose least slowdown is no larger."""
    low, high = 0, detection.TRIALS + 1
    while high - low > 1:
        middle = (low + high) // 2
        least = detection.least_slowdown(launches, spread, MARGIN, (middle - 0.5) / detection.TRIALS)
        low, high = (middle, high) if least <= slowdown else (low, middle)
    return low / detection.TRIALS


class Detection(unittest.TestCase):
    def test_the_power_is_that_of_the_protocol(self) -> None:
        """Two of a thousand comparisons each differ by up to 0.04."""
        for spread, launches, slowdown, expected in POWERS:
            with self.subTest(launches=launches, spread=spread, slowdown=slowdown):
                self.assertAlmostEqual(power(launches, spread, slowdown), expected, delta={1.0: 0.01, 0.0: 0.002}.get(expected, 0.04))

    def test_more_launches_see_less_down_to_the_margin(self) -> None:
        least = [detection.least_slowdown(launches, 0.05, MARGIN) for launches in (5, 8, 12, 16)]
        self.assertEqual(least, sorted(least, reverse=True))
        self.assertAlmostEqual(detection.least_slowdown(8, 0.0, MARGIN), MARGIN, places=12)
        self.assertIsNone(detection.least_slowdown(4, 0.05, MARGIN), "1 / 70 is the rarest that there is")

    # 5 against 5: all 25 pairs have 1 / 252 = .00397, 24 or more 2 / 252. 8 against 8: 1 / 12870. 4 against 4: 1 / 70.
    def test_the_critical_count_is_the_least_one_that_is_unlikely_enough(self) -> None:
        found = [detection.critical_pairs(*asked) for asked in ((5, 0.005), (5, 0.008), (5, 0.0039), (8, 7.8e-5), (4, 0.005))]
        self.assertEqual(found, [25, 24, None, 64, None])

    def test_the_spread_is_that_of_logarithms_and_its_bound_that_of_chi_squared(self) -> None:
        self.assertAlmostEqual(detection.log_spread(np.exp([1.0, 2.0, 3.0])), 1.0)
        self.assertAlmostEqual(detection.spread_bound(8), math.sqrt(7 / 2.833), places=3)  # the 10 % quantile with 7 degrees of freedom


class Noise(WithFolder):
    def write(self, *launches: tuple[str, float, dict]) -> Path:
        lines = []
        for name, us, fields in launches:
            of_cell = {key: fields.pop(key) for key in ("mode", "throttled") if key in fields}
            lines += [launch(name, **fields), cell(name, us, **of_cell)]
        return self.file("results", lines)

    def cells(self, path: Path) -> list[dict]:
        code, text, error = run("--noise", "--json", path)
        self.assertEqual((code, error), (0, ""))
        return json.loads(text)["cells"]

    def test_launches_of_one_campaign_and_environment_give_the_spread_of_their_medians(self) -> None:
        night = [(f"night-{number}", 100.0 + number, {}) for number in range(4)]
        (found,) = self.cells(self.write(*night, ("day-0", 9.0, {}), ("night-9", 9.0, {"env_key": "other"})))
        self.assertEqual((found["cell"], found["launches"], found["median_ns"], found["margin"]), (CELL, 4, 101_500, 0.03))
        self.assertAlmostEqual(found["spread"], detection.log_spread(np.array([100.0, 101.0, 102.0, 103.0])))
        sides = [(f"night-{number}", 100.0 * (1 + number % 2) + number, {"variables": {"UCX_TLS": ("sm", "tcp")[number % 2]}}) for number in range(6)]
        self.assertEqual([(each["launches"], each["median_ns"]) for each in self.cells(self.write(*sides))], [(3, 102_000), (3, 203_000)])
        self.assertGreater(found["spread_at_most"], found["spread"])
        self.assertGreater(found["least_slowdown"]["8"], found["least_slowdown"]["16"])
        self.assertEqual(list(found["least_slowdown"]), ["8", "12", "16"], "with fewer launches dlmb_compare calls no cell slower")

    def test_short_cells_are_held_to_less_only_where_a_comparison_holds_them_to_less(self) -> None:
        for mode, margin in (("isolated", 0.05), ("stream", 0.03), ("osu", 0.03)):
            (found,) = self.cells(self.write(*[(f"c-{number}", 10.0 + number / 10, {"mode": mode}) for number in range(3)]))
            self.assertEqual(found["margin"], margin)

    def test_options_count_or_are_refused(self) -> None:
        path = self.write(*[(f"c-{number}", 100.0 + number / 10, {}) for number in range(3)])
        code, text, _ = run("--noise", "--json", "--margin", 10, path)
        self.assertEqual((code, [cell["margin"] for cell in json.loads(text)["cells"]]), (0, [0.1]))
        self.assertIn("margin 10 %)", run("--noise", "--margin", 10, path)[1])
        many = [line for number in range(3) for line in (launch(f"c-{number}"), *(cell(f"c-{number}", 100.0 + number, f"{CELL}/x={x}") for x in range(25)))]
        for options, rows in (((), 21), (("--all",), 25)):
            self.assertEqual(run("--noise", *options, self.file("many", many))[1].count(CELL), rows)
        for options in (("--metric", "busbw"), ("--factor", "X"), ("--allow-env-diff", "X"), ("--paired",), ("--strict",), ("--warn-only",), ("--last", 3)):
            code, _, error = run("--noise", *options, path)
            self.assertEqual(code, 64, options)
            self.assertIn(f"{options[0]} with --noise", error)

    def test_throttled_launches_do_not_count(self) -> None:
        path = self.write(*[(f"c-{number}", 100.0 + number, {}) for number in range(3)], ("c-3", 900.0, {"throttled": True}))
        (found,) = self.cells(path)
        self.assertEqual((found["launches"], found["median_ns"]), (3, 101_000))
        self.assertIn("# 1 of 4 numbers left out: clocks or processor time were held down", run("--noise", path)[1])

    def test_two_launches_say_nothing_of_their_spread(self) -> None:
        code, _, error = run("--noise", self.write(("c-0", 100.0, {}), ("c-1", 101.0, {})))
        self.assertEqual(code, 64)
        self.assertIn("--noise: takes 3 launches", error)

    def test_the_table_says_what_it_shows(self) -> None:
        path = self.write(*[(f"c-{number}", 100.0 + number, {}) for number in range(3)])
        code, text, _ = run("--noise", path)
        self.assertEqual(code, 0)
        self.assertIn("8, 12 or 16 launches per side shows in 80 of 100 tries", text)
        self.assertRegex(text, rf"101\.0 +1\.0 +\S+ +3 .*  {CELL}\n")
        code, _, error = run("--noise", path, path)
        self.assertEqual(code, 64)
        self.assertIn("one CAMPAIGN", error)


if __name__ == "__main__":
    unittest.main()
