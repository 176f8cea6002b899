# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which part of a rule a plain program bears out, on times that are planted."""

from __future__ import annotations

import os
import random
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from dlmb_launch.autotune import points, report
from dlmb_launch.autotune.outcome import Exported
from dlmb_launch.autotune.plain_program import DECIDING_ROUNDS, MOST_ROUNDS, Measurement, Plain, Visits
from dlmb_launch.autotune.plain_program import gaining_sizes, narrowed, run_rounds, settings_of, why_not_shown

SIZES = (1024, 2048, 4096, 8192, 16384)


def measurement(
    speedups: dict[int, float], rounds: int = 8, spread: float = 0.02, seed: int = 1, spreads: dict[int, float] | None = None
) -> SimpleNamespace:
    """Of a plain program that is so many times as fast with the file. `spreads`: of sizes that have another one."""
    draw = random.Random(seed)
    spread_of = {size: spread for size in speedups} | (spreads or {})
    made = [
        {
            "default": {size: 1000.0 * draw.lognormvariate(0, spread_of[size]) for size in speedups},
            "file": {size: 1000.0 / gain for size, gain in speedups.items()},
        }
        for _ in range(rounds)
    ]
    return SimpleNamespace(rounds=lambda: made, what=SimpleNamespace(sizes=tuple(speedups)))


def rule(least: int = 725, most: int = 16384, sizes: tuple[int, ...] = SIZES) -> dict:
    return {"id": "r1", "when": {"operation": "allreduce", "bytes": {"basis": "buffer", "min": least, "max": most}}, "evidence": {"sizes": list(sizes)}}


def ranges(rules: list[dict]) -> list[tuple[int, int]]:
    return [(each["when"]["bytes"]["min"], each["when"]["bytes"]["max"]) for each in rules]


class PlainCheck(unittest.TestCase):
    def test_a_rule_that_gains_everywhere_stays_as_it_is(self) -> None:
        gaining = gaining_sizes(rule(), measurement(dict.fromkeys(SIZES, 1.2)))
        self.assertEqual(gaining, list(SIZES))
        self.assertEqual(narrowed(rule(), gaining), [rule()])

    def test_sizes_that_lose_are_cut_off_and_cut_out(self) -> None:
        gaining = gaining_sizes(rule(), measurement({1024: 0.9, 2048: 1.3, 4096: 0.9, 8192: 1.3, 16384: 1.3}))
        self.assertEqual(gaining, [2048, 8192, 16384])
        parts = narrowed(rule(), gaining)
        self.assertEqual(ranges(parts), [(2048, 2048), (8192, 16384)])
        self.assertEqual([each["evidence"]["sizes"] for each in parts], [[2048], [8192, 16384]])
        self.assertEqual(len({each["id"] for each in parts}), 2)

    def test_a_size_that_loses_much_does_not_hide_that_the_others_gain(self) -> None:
        self.assertEqual(gaining_sizes(rule(), measurement(dict.fromkeys(SIZES, 1.2) | {16384: 0.3})), list(SIZES[:-1]))

    def test_a_size_that_may_lose_is_cut_out_though_the_others_gain(self) -> None:
        speedups = dict.fromkeys(SIZES, 1.3) | {4096: 1.02}
        noisy = [gaining_sizes(rule(), measurement(speedups, seed=seed, spreads={4096: 0.2})) for seed in range(40)]
        self.assertLessEqual(sum(4096 in sizes for sizes in noisy), 10)  # half of them seem to gain there
        self.assertEqual(gaining_sizes(rule(), measurement(speedups)), list(SIZES))

    def test_what_was_not_measured_there_is_not_kept(self) -> None:
        gaining = gaining_sizes(rule(), measurement(dict.fromkeys(SIZES[1:], 1.2)))
        self.assertEqual(ranges(narrowed(rule(), gaining)), [(2048, 16384)])
        self.assertEqual(narrowed(rule(), gaining_sizes(rule(), None)), [])

    def test_the_time_that_is_shown_is_the_median_of_the_rounds(self) -> None:
        one = Measurement(Path("none"), Visits("allreduce", (8,), 1, 1), Plain([], {}), {})
        one.rounds = lambda: [{"default": {8: default}, "file": {8: default / 2}, "control": {8: default}} for default in (4.0, 1.0, 2.0, 8.0)]
        (gain,) = one.gains({8})
        self.assertEqual((gain.default_ns, gain.file_ns), (3.0, 1.5))

    def test_few_rounds_bear_nothing_out(self) -> None:
        self.assertEqual(gaining_sizes(rule(), measurement(dict.fromkeys(SIZES, 1.5), DECIDING_ROUNDS - 1)), [])
        self.assertEqual(gaining_sizes(rule(), measurement(dict.fromkeys(SIZES, 1.5), DECIDING_ROUNDS)), list(SIZES))

    def test_a_rule_that_changes_nothing_is_rarely_kept(self) -> None:
        for sizes in (SIZES[:1], SIZES[:3], SIZES, tuple(1024 + 8 * number for number in range(10))):
            for rounds in (DECIDING_ROUNDS, MOST_ROUNDS):
                with self.subTest(sizes=len(sizes), rounds=rounds):
                    equal = (measurement(dict.fromkeys(sizes, 1.0), rounds, seed=seed) for seed in range(400))
                    self.assertLessEqual(sum(bool(gaining_sizes(rule(sizes=sizes), each)) for each in equal), 20)  # 5 %; 2.5 % are allowed above 1


class WhatWasNotShown(unittest.TestCase):
    def test_of_a_size_without_a_measurement_is_not_called_slower(self) -> None:
        measured = measurement(dict.fromkeys(SIZES, 1.2))
        self.assertEqual(why_not_shown(1024, measured), "")
        for size, none in ((1024, None), (512, measured)):
            self.assertIn("it was not measured", why_not_shown(size, none))
        one = Exported(points.CONSUMERS["openmpi"], withdrawn={("", "ring"): [1024], ("it was not measured", "linear"): [2048]})
        self.assertEqual(report._withdrawn(one), [
            "openmpi: withdrawn, because a plain program is not faster with it: ring at 1 KiB",
            "openmpi: not exported: linear at 2 KiB (it was not measured)"])

    def test_a_collective_that_fails_does_not_end_the_rounds_of_the_others(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            failing, good = (Measurement(Path(folder), Visits(name, (8,), 1, 1), Plain([], {}), {}) for name in ("allgather", "allreduce"))
            launched = []

            def launch(one: Measurement, number: int) -> str:
                launched.append((one.what.collective, number))
                return "it is too large" if one is failing else ""

            run_rounds([failing, good], lambda _number, _took: True, launch)
        self.assertEqual(launched, [("allgather", 1), *(("allreduce", number) for number in range(1, MOST_ROUNDS + 1))])
        self.assertEqual((failing.problem, good.problem), ("it is too large", ""))
        self.assertEqual(why_not_shown(8, failing), "the plain program failed: it is too large")


class Settings(unittest.TestCase):
    def test_what_an_export_sets_is_seen_beside_whatever_is_set_already(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "env.sh").write_text("export OMPI_MCA_coll_rules=here OTHER=1\n", encoding="utf-8")
            for before in ({}, {"OMPI_MCA_coll_rules": "here", "OMPI_MCA_more": "1"}, {"BYTES": os.fsdecode(b"\xff\xfe")}):
                with self.subTest(before), mock.patch.dict(os.environ, before):
                    self.assertEqual(settings_of(Path(folder)), {"OMPI_MCA_coll_rules": "here"})


if __name__ == "__main__":
    unittest.main()
