# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict guidelines as a person or a script runs it.

usage: guidelines_program_test.py DLMB_PREDICT
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.argv[1])
EXAMPLES = Path(__file__).resolve().parents[3] / "results-schema" / "examples" / "results.jsonl"
LAUNCH, CELL = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()[:2]]
HEADER = "system,nodes,collective,algorithm,bytes,median_us,p10_us,p90_us"


def cell(operation: str, size: int, us: float, **changes: Any) -> dict[str, Any]:
    line = copy.deepcopy(CELL)
    line |= {"pattern": "collective", "parameters": {"operation": operation, "message-size": size}, "method": "blocking"}
    line["time_ns"] |= {"median": 1000.0 * us, "median_low": 950.0 * us, "median_high": 1050.0 * us}
    return line | {"cell_id": f"{operation}/{size}"} | changes


class Guidelines(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def ask(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(PROGRAM), "guidelines", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)

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
        self.assertEqual(done.returncode, 1, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["measurements"], answer["left_out"]), (3, 0))
        first = answer["violations"][0]
        self.assertEqual(first["guideline"], "allreduce <= reduce_scatter + allgather")
        self.assertEqual((first["bytes"], first["mock_bytes"], first["excess"]), (1024, 1024, 1.0))
        self.assertEqual([round(share, 6) for share in first["excess_interval"]], [round(38 / 21 - 1, 6), round(42 / 19 - 1, 6)])
        text = self.ask(path).stdout
        self.assertIn("allreduce <= reduce_scatter + allgather", text)
        self.assertIn("slower by 100 % [81, 121]", text)

    def test_six_launches_give_an_interval_over_launches(self) -> None:
        path = self.results(cell("reduce", 1024, 12), cell("allreduce", 1024, 10), launches=6)
        self.assertEqual(json.loads(self.ask(path, "--json").stdout)["violations"][0]["us"], {"time": 12.0, "interval": [12.0, 12.0]})
        self.assertEqual(self.ask(path, "--min-excess", 25).returncode, 0)

    def test_what_was_not_measured_well_is_left_out(self) -> None:
        bad = ({"status": "failed"}, {"below_floor": True}, {"shared_gpu": True}, {"pattern": "moe_alltoall"})
        for change in bad:
            path = self.results(cell("reduce", 1024, 90, **change), cell("allreduce", 1024, 10), cell("allreduce", 2048, 11))
            done = self.ask(path, "--json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["left_out"]), (0, 1), done.stderr)

    def test_other_methods_and_machines_are_not_compared(self) -> None:
        slow, fast = cell("reduce", 1024, 90), cell("allreduce", 1024, 10)
        for change in ({"method": "persistent"}, {"memory": "pinned"}, {"backend": "ucx"}, {"mode": "stream"}):
            self.assertEqual(self.ask(self.results(slow, fast | change)).returncode, 69)

    def test_a_table_has_the_range_of_its_iterations_or_no_interval(self) -> None:
        path = self.table("made,4,reduce,default_ompi,1024,30,28,33", "made,4,allreduce,default_ompi,1024,10,9,14")
        done = self.ask(path, "--json")
        (violation,) = json.loads(done.stdout)["violations"]
        self.assertEqual((done.returncode, violation["excess_interval"]), (1, [28 / 14 - 1, 33 / 9 - 1]))
        bare = "system,nodes,collective,algorithm,bytes,median_us"
        path = self.table("made,4,reduce,default_ompi,1024,30", "made,4,allreduce,default_ompi,1024,10", header=bare)
        done = self.ask(path)
        self.assertEqual(done.returncode, 0, "a violation without an interval is shown and does not fail")
        self.assertIn("slower by 200 % [not known]", done.stdout)

    def test_what_is_damaged_is_refused_in_one_line(self) -> None:
        cut = self.folder / "cut.jsonl"
        cut.write_text('{"kind":\n{"kind":"launch"}\n', encoding="utf-8")
        for bad in (self.folder / "missing", self.table("made,4"), cut):
            done = self.ask(bad)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
            self.assertIn(bad.name, done.stderr)
        self.assertEqual(self.ask().returncode, 64)
        self.assertEqual(self.ask(self.results(cell("reduce", 8, 1)), "--min-excess", -1).returncode, 64)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
