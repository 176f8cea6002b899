# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far launches are apart, and what slowdown so many of them can show: against powers that were simulated apart from this code."""

from __future__ import annotations

import contextlib
import io
import json
import math
import tempfile
import unittest
from pathlib import Path

import numpy as np
from made import CELL, cell, launch

from dlmb_launch.compare import command
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
    # Powers that the measurement protocol quotes for p <= .005 and a ratio of 1.03 or more, from simulations of its own: two of a thousand
    # comparisons each differ by up to 0.04.
    def test_the_power_is_that_of_the_protocol(self) -> None:
        for launches, spread, slowdown, expected, allowed in (
            (8, 0.01, 0.02, 0.05, 0.04), (8, 0.01, 0.03, 0.50, 0.04), (8, 0.01, 0.05, 1.00, 0.01), (5, 0.02, 0.05, 0.54, 0.04),
            (8, 0.02, 0.05, 0.89, 0.04), (10, 0.02, 0.05, 0.95, 0.04), (5, 0.02, 0.03, 0.16, 0.04), (8, 0.02, 0.03, 0.34, 0.04),
            (10, 0.02, 0.03, 0.43, 0.04), (8, 0.02, 0.0, 0.0, 0.002),
        ):  # fmt: skip
            with self.subTest(launches=launches, spread=spread, slowdown=slowdown):
                self.assertAlmostEqual(power(launches, spread, slowdown), expected, delta=allowed)

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


class Noise(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, *launches: tuple[str, float, dict]) -> Path:
        path = self.folder / "results.jsonl"
        lines = []
        for name, us, fields in launches:
            of_cell = {key: fields.pop(key) for key in ("mode", "throttled") if key in fields}
            lines += [launch(name, **fields), cell(name, us, **of_cell)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def run_command(self, *arguments: object) -> tuple[int, str, str]:
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = command.main([str(argument) for argument in arguments])
        return code, out.getvalue(), error.getvalue()

    def cells(self, path: Path) -> list[dict]:
        code, text, error = self.run_command("--noise", "--json", path)
        self.assertEqual((code, error), (0, ""))
        return json.loads(text)["cells"]

    def test_launches_of_one_campaign_and_environment_give_the_spread_of_their_medians(self) -> None:
        night = [(f"night-{number}", 100.0 + number, {}) for number in range(4)]
        (found,) = self.cells(self.write(*night, ("day-0", 9.0, {}), ("night-9", 9.0, {"env_key": "other"})))
        self.assertEqual((found["cell"], found["launches"], found["median_ns"], found["margin"]), (CELL, 4, 101_500, 0.03))
        self.assertAlmostEqual(found["spread"], detection.log_spread(np.array([100.0, 101.0, 102.0, 103.0])))
        self.assertGreater(found["spread_at_most"], found["spread"])
        self.assertGreater(found["least_slowdown"]["5"], found["least_slowdown"]["16"])

    def test_short_cells_are_held_to_less_only_where_a_comparison_holds_them_to_less(self) -> None:
        for mode, margin in (("isolated", 0.05), ("stream", 0.03), ("osu", 0.03)):
            (found,) = self.cells(self.write(*[(f"c-{number}", 10.0 + number / 10, {"mode": mode}) for number in range(3)]))
            self.assertEqual(found["margin"], margin)

    def test_throttled_launches_do_not_count(self) -> None:
        path = self.write(*[(f"c-{number}", 100.0 + number, {}) for number in range(3)], ("c-3", 900.0, {"throttled": True}))
        (found,) = self.cells(path)
        self.assertEqual((found["launches"], found["median_ns"]), (3, 101_000))
        self.assertIn("# 1 of 4 numbers left out: clocks or processor time were held down", self.run_command("--noise", path)[1])

    def test_two_launches_say_nothing_of_their_spread(self) -> None:
        code, _, error = self.run_command("--noise", self.write(("c-0", 100.0, {}), ("c-1", 101.0, {})))
        self.assertEqual(code, 64)
        self.assertIn("--noise: takes 3 launches", error)

    def test_the_table_says_what_it_shows(self) -> None:
        path = self.write(*[(f"c-{number}", 100.0 + number, {}) for number in range(3)])
        code, text, _ = self.run_command("--noise", path)
        self.assertEqual(code, 0)
        self.assertIn("5, 8, 12 or 16 launches per side shows in 80 of 100 tries", text)
        self.assertRegex(text, rf"101\.0 +1\.0 +\S+ +3 .*  {CELL}\n")
        code, _, error = self.run_command("--noise", path, path)
        self.assertEqual(code, 64)
        self.assertIn("one CAMPAIGN", error)


if __name__ == "__main__":
    unittest.main()
