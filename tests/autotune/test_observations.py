# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What result lines say: ratios inside of a launch, what failed, how noisy it is."""

from __future__ import annotations

import json
import math
import random
import unittest
from pathlib import Path

from running import WithFolder

from dlmb_launch.autotune import observations
from dlmb_launch.autotune.points import Point
from dlmb_results.lines import ResultError

KEY = ("mpi", Point("allreduce", 1024))


EXAMPLE = Path(__file__).resolve().parents[2] / "results-schema" / "examples" / "results.jsonl"
LAUNCH, CELL = (next(each for each in map(json.loads, EXAMPLE.open(encoding="utf-8")) if each["kind"] == kind) for kind in ("launch", "cell"))


def line(method: str, nanoseconds: float, status: str = "ok", operation: str = "allreduce", default: bool = False) -> str:
    cell = {**CELL, "backend": "mpi", "method": method, "parameters": {"operation": operation, "message-size": 1024}, "status": status}
    rounds = {**CELL["rounds"], "median_of_rounds_ns": nanoseconds or None}
    return json.dumps({**cell, "is_default": default, "rounds": rounds, "time_ns": {**CELL["time_ns"], "median": nanoseconds} if nanoseconds else None}) + "\n"


class Observations(WithFolder):
    def read(self, *launches: str):
        files = []
        for number, text in enumerate(launches):
            files.append(self.folder / f"{number}.jsonl")
            files[-1].write_text(json.dumps(LAUNCH) + "\n" + text, encoding="utf-8")
        return observations.read(files)

    def test_a_launch_gives_one_ratio_to_its_own_default(self) -> None:
        point = self.read(*(line("blocking", 100 * n, default=True) + line("ring", 50 * n) for n in (1, 10)))[KEY]
        self.assertEqual(point.default_ns, [100, 1000])
        self.assertEqual(point.logs, {"ring": dict.fromkeys((0, 1), math.log(0.5))})

    def test_a_method_that_is_measured_again_keeps_the_launches_apart(self) -> None:
        both, alone = line("blocking", 100, default=True) + line("ring", 50), line("blocking", 100, default=True)
        self.assertEqual(list(self.read(both, alone, both)[KEY].logs["ring"]), [0, 2])

    def test_a_launch_without_its_default_says_nothing(self) -> None:
        self.assertNotIn(KEY, self.read(line("ring", 50)))

    def test_what_fails_or_does_not_exist_is_remembered(self) -> None:
        point = self.read(line("blocking", 100, default=True) + line("ring", 0, "failed") + line("two_proc", 0, "skipped"))[KEY]
        self.assertEqual(point.refused, {"ring", "two_proc"})

    def test_a_time_of_zero_has_no_ratio(self) -> None:
        zero = line("ring", 1).replace('"median_of_rounds_ns": 1', '"median_of_rounds_ns": 0')
        self.assertEqual(self.read(line("blocking", 100, default=True) + zero)[KEY].logs, {})

    def test_an_alltoall_over_mpi_is_compared_with_the_call_of_that_name(self) -> None:
        found = self.read(line("alltoallv", 200, operation="alltoall", default=True) + line("alltoall", 100, operation="alltoall"))
        (point,) = found.values()
        self.assertEqual(point.default_ns, [100])

    def test_a_line_that_a_kill_cut_is_passed_over(self) -> None:
        point = self.read(line("blocking", 100, default=True) + line("ring", 50)[:40])[KEY]
        self.assertEqual((point.launches, point.logs), (1, {}))

    def test_a_line_without_a_size_is_named(self) -> None:
        with self.assertRaisesRegex(ResultError, "0.jsonl:2: not as results-schema/ says: KeyError 'message-size'"):
            self.read(line("blocking", 100).replace('"message-size": 1024', '"x": 1'))

    def test_a_file_that_grows_is_read_again(self) -> None:
        self.assertEqual(self.read(line("blocking", 100, default=True))[KEY].logs, {})
        self.assertEqual(list(self.read(line("blocking", 100, default=True) + line("ring", 50))[KEY].logs), ["ring"])

    def spread(self, launches: int, sigma: float, outlier: float = 1.0) -> float:
        draw = random.Random(1)
        texts = []
        for number in range(launches):
            factor = outlier if number == 0 else 1.0
            methods = "".join(line(f"m{m}", 100 * factor * math.exp(draw.gauss(0, sigma))) for m in range(200))
            texts.append(line("blocking", 100, default=True) + methods)
        return self.read(*texts)[KEY].spread

    def test_the_spread_is_that_of_launches_whatever_their_number_is(self) -> None:
        for launches in (2, 3, 4, 8):
            self.assertAlmostEqual(self.spread(launches, 0.1), 0.1, delta=0.02)

    def test_one_launch_in_eight_that_is_far_off_does_not_hide_the_spread(self) -> None:
        self.assertLess(self.spread(8, 0.1, outlier=100.0), 0.2)

    def test_the_noise_is_not_known_before_the_second_launch(self) -> None:
        one = line("blocking", 100, default=True) + line("ring", 50)
        self.assertIsNone(observations.noise(self.read(one)))
        self.assertIsNotNone(observations.noise(self.read(one, one)))


if __name__ == "__main__":
    unittest.main()
