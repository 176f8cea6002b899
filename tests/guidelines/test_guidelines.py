# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_guidelines: its rules, and the command as a person or a script runs it."""

from __future__ import annotations

import copy
import json
import subprocess
import unittest
from pathlib import Path
from typing import Any

import numpy as np
from running import WithFolder

from dlmb_launch.guidelines.measured import over
from dlmb_launch.guidelines.rules import COLLECTIVES, Calls, TimeRange, check

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "launch" / "dlmb_guidelines"
EXAMPLES = ROOT / "results-schema" / "examples" / "results.jsonl"
LAUNCH, CELL = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()[:2]]
HEADER = "system,nodes,collective,algorithm,bytes,median_us,p10_us,p90_us"


def cell(operation: str, size: int, us: float, **changes: Any) -> dict[str, Any]:
    line = copy.deepcopy(CELL)
    line |= {"pattern": "collective", "parameters": {"operation": operation, "message-size": size}, "method": "blocking"}
    line["time_ns"] |= {"median": 1000.0 * us, "median_low": 999.0 * us, "median_high": 1001.0 * us}
    return line | {"cell_id": f"{operation}/{size}"} | changes


def calls(*measured: tuple[str, int, float], setting: str = "one") -> Calls:
    made: Calls = {setting: {}}
    for collective, size, us in measured:
        made[setting].setdefault(collective, {})[size] = TimeRange(us, 0.95 * us, 1.05 * us)
    return made


def found(*measured: tuple[str, int, float], least_excess: float = 0) -> list[str]:
    return [violation.guideline for violation in check(calls(*measured), least_excess)[1]]


class Rules(unittest.TestCase):
    def test_they_hold_where_each_call_is_as_fast_as_its_mock(self) -> None:
        checks, violations = check(calls(*((collective, size, 10 + 0.001 * size) for collective in sorted(COLLECTIVES) for size in (1024, 2048, 4096))), 0)
        self.assertEqual(violations, [])
        # Of 8 collectives and 3 sizes: 14 patterns at each, 2 with a larger size, 2 with a smaller one that divides it.
        self.assertEqual(checks, 3 * 14 + 8 * 2 + 8 * 2)

    def test_each_combination_that_is_faster_is_named(self) -> None:
        self.assertEqual(found(("allreduce", 64, 30), ("reduce", 64, 10), ("bcast", 64, 10)), ["allreduce <= reduce + bcast"])
        self.assertEqual(found(("allreduce", 64, 30), ("reduce_scatter", 64, 10), ("allgather", 64, 10)), ["allreduce <= reduce_scatter + allgather"])
        self.assertEqual(found(("bcast", 64, 30), ("scatter", 64, 10), ("allgather", 64, 10)), ["bcast <= scatter + allgather"])
        self.assertEqual(found(("reduce", 64, 30), ("allreduce", 64, 10)), ["reduce <= allreduce"])

    def test_a_larger_vector_and_a_split_one_are_not_faster(self) -> None:
        self.assertEqual(found(("alltoall", 64, 30), ("alltoall", 100, 10)), ["alltoall: a larger vector is not faster"])
        # 4 * 5 us < 30 us; 96 is no multiple of 64.
        self.assertEqual(found(("alltoall", 16, 5), ("alltoall", 64, 30), ("alltoall", 96, 60)), ["alltoall: a split vector is not faster"] * 2)
        self.assertEqual(found(("alltoall", 64, 5), ("alltoall", 96, 60)), [])

    def test_a_mock_may_be_larger_but_not_twice(self) -> None:
        (near,) = check(calls(("reduce", 64, 30), ("allreduce", 96, 10)), 0)[1]
        self.assertEqual(near.mock_bytes, 96)
        for size in (128, 32):  # a smaller vector says nothing
            self.assertEqual(check(calls(("reduce", 64, 30), ("allreduce", size, 10)), 0), (0, []))

    def test_none_is_broken_while_intervals_overlap_or_the_excess_is_small(self) -> None:
        self.assertEqual(found(("reduce", 64, 10.9), ("allreduce", 64, 10)), [], "10.355 against up to 10.5")
        self.assertNotEqual(found(("reduce", 64, 11.2), ("allreduce", 64, 10)), [])
        self.assertEqual(found(("reduce", 64, 11.2), ("allreduce", 64, 10), least_excess=0.05), [])

    def test_calls_are_compared_within_one_setting(self) -> None:
        self.assertEqual(check(calls(("reduce", 64, 30), setting="ring") | calls(("allreduce", 64, 10), setting="tree"), 0), (0, []))

    def test_sure_violations_come_first_and_the_largest_of_them_before(self) -> None:
        unsure = calls(("gather", 64, 900), ("allgather", 64, 10), setting="other")
        unsure["other"]["gather"][64] = TimeRange(900, 900, 900, False)
        violations = check(unsure | calls(("reduce", 64, 30), ("allreduce", 64, 10), ("scatter", 64, 90), ("bcast", 64, 5)), 0)[1]
        self.assertEqual((violations[0].guideline, violations[-1].guideline), ("scatter <= bcast", "gather <= allgather"))
        self.assertAlmostEqual(violations[0].excess, 17)
        self.assertAlmostEqual(violations[0].excess_low, 0.95 * 90 / (1.05 * 5) - 1)

    def test_many_launches_have_the_interval_of_their_median(self) -> None:
        for launches, ranks in ((6, (1, 6)), (9, (2, 8)), (20, (6, 15))):  # Conover: Practical Nonparametric Statistics
            us = over(list(range(1, launches + 1)))
            self.assertEqual((us.low, us.high, us.known), (*ranks, True))

    def test_fewer_than_six_launches_are_never_certain(self) -> None:
        """In truth all calls take the same time, and launches differ by 5 %: then the largest of many differences is above 5 %."""
        random = np.random.default_rng(1)
        for launches in (1, 3, 5):
            made = {collective: {2**power: over(np.exp(random.normal(0, 0.05, launches)).tolist()) for power in range(8)} for collective in COLLECTIVES}
            violations = check({"one": made}, 0.05)[1]
            self.assertGreater(len(violations), 0)
            self.assertEqual([each for each in violations if each.known], [])

    def test_a_certain_violation_is_not_hidden_by_a_larger_possible_one(self) -> None:
        measured = calls(("alltoall", 64, 30), ("alltoall", 100, 20), ("alltoall", 200, 10))
        measured["one"]["alltoall"][200] = TimeRange(10, 10, 10, False)
        (certain, *_) = check(measured, 0)[1]
        self.assertEqual((certain.known, certain.mock_bytes), (True, 100))


class Guidelines(WithFolder):
    def ask(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)

    def results(self, *cells: dict[str, Any], name: str = "results.jsonl", launches: int = 1) -> Path:
        lines = []
        for launch in range(launches):
            lines.append(LAUNCH | {"launch_id": f"{launch:016x}"})
            lines += [each | {"launch_id": f"{launch:016x}"} for each in cells]
            lines.append({"kind": "end", "launch_id": f"{launch:016x}", "status": "ok", "cells": {"ok": len(cells)}, "self_comparison": None})
        path = self.folder / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def table(self, *lines: str, header: str = HEADER) -> Path:
        path = self.folder / "table.csv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return path

    def test_a_slow_call_of_a_result_file_is_named_with_its_interval(self) -> None:
        # The example has 4 ranks: an allgather of 256 bytes per rank is one of 1 KiB.
        path = self.results(cell("allreduce", 1024, 40), cell("reduce_scatter_block", 1024, 10), cell("allgather", 256, 10))
        done = self.ask(path, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), "one launch is no reason to fail")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["measurements"], answer["left_out"]), (3, 0))
        first = answer["violations"][0]
        self.assertEqual(first["guideline"], "allreduce <= reduce_scatter + allgather")
        self.assertEqual((first["bytes"], first["mock_bytes"], first["excess"]), (1024, 1024, 1.0))
        self.assertEqual((first["us"]["interval"], first["excess_interval"]), (None, None))
        text = self.ask(path).stdout
        self.assertIn("above 5 %, of which 0 are certain; certainty needs six launches of both calls", text)
        self.assertIn("allreduce <= reduce_scatter + allgather", text)
        self.assertIn("slower by 100 % [possible: too few launches]", text)

    def test_six_launches_are_certain_and_have_an_interval_over_launches(self) -> None:
        path = self.results(cell("reduce", 1024, 12), cell("allreduce", 1024, 10), launches=6)
        done = self.ask(path, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["violations"][0]["us"]), (1, {"time": 12.0, "interval": [12.0, 12.0]}))
        self.assertIn("1 violations above 5 %, of which 1 are certain\n", self.ask(path).stdout)
        self.assertEqual(self.ask(path, "--min-excess", 25).returncode, 0)
        self.assertEqual(self.ask(self.results(cell("reduce", 1024, 12), cell("allreduce", 1024, 10), launches=5)).returncode, 0)

    def test_what_was_not_measured_well_is_left_out(self) -> None:
        bad = ({"status": "failed"}, {"below_floor": True}, {"shared_gpu": True}, {"flags": ["throttled"]}, {"pattern": "moe_alltoall"}, {"world": {"ranks": 1, "ranks_per_node": 1}})
        for change in bad:
            path = self.results(cell("reduce", 1024, 90, **change), cell("allreduce", 1024, 10), cell("allreduce", 2048, 11))
            done = self.ask(path, "--json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["left_out"]), (0, 1), done.stderr)

    def test_other_methods_and_machines_are_not_compared(self) -> None:
        slow, fast = cell("reduce", 1024, 90), cell("allreduce", 1024, 10)
        for change in ({"method": "persistent"}, {"memory": "pinned"}, {"backend": "ucx"}, {"mode": "stream"}):
            self.assertEqual(self.ask(self.results(slow, fast | change)).returncode, 69)
        other = {**LAUNCH["environment"], "variables": {"UCX_TLS": "tcp"}}
        lines = [LAUNCH, slow | {"launch_id": LAUNCH["launch_id"]}, LAUNCH | {"launch_id": "b", "environment": other}, fast | {"launch_id": "b"}]
        path = self.folder / "variables.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.assertEqual(self.ask(path).returncode, 69)

    def test_six_lines_of_a_table_are_certain_and_the_range_of_iterations_of_one_is_not(self) -> None:
        lines = "made,4,reduce,default_ompi,1024,30,28,33", "made,4,allreduce,default_ompi,1024,10,9,14"
        for launches, code, interval in ((1, 0, None), (6, 1, [2.0, 2.0])):
            done = self.ask(self.table(*(launches * lines)), "--json")
            (violation,) = json.loads(done.stdout)["violations"]
            self.assertEqual((done.returncode, violation["excess"], violation["excess_interval"]), (code, 2.0, interval))

    def test_what_is_damaged_is_refused_in_one_line(self) -> None:
        cut = self.folder / "cut.jsonl"
        cut.write_text('{"kind":\n{"kind":"launch"}\n', encoding="utf-8")
        huge = self.table("made,4,reduce,x,1,1,1,1", f"made,4,reduce,x,{'9' * 400},1,1,1").rename(self.folder / "huge.csv")
        for bad in (self.folder / "missing", self.table("made,4"), cut, huge):
            done = self.ask(bad)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
            self.assertIn(bad.name, done.stderr)
        self.assertEqual(self.ask().returncode, 64)
        self.assertEqual(self.ask(self.results(cell("reduce", 8, 1)), "--min-excess", -1).returncode, 64)


if __name__ == "__main__":
    unittest.main()
