# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged lines: every reader says file, line and field in one line and exits with 64. No traceback, whose exit code has another meaning."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
import signal
import subprocess
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from made import CELL, WithFolder, side
from running import run_main

from dlmb_launch.compare import command as compare
from dlmb_plotting import command as plot
from dlmb_results import lines, program

EXAMPLES = Path(__file__).resolve().parents[2] / "results-schema" / "examples"
PROGRAM = Path(os.environ["DLMB_COMPARE"])
US = [100, 101, 99, 102, 100.5, 98.5, 101.5, 99.5]
RANDOM_DAMAGES = 200
VALUES = (None, True, -1, 0, 1e308, -1e308, 5e-324, 2**70, float("nan"), float("inf"), "", "x", "\x1b[31m", [], [1], {}, {"a": 1})


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in it with every key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


def damaged(value: Any, chance: random.Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 5))):
        container, key = chance.choice(list(places(value)))
        if isinstance(container, dict) and chance.random() < 0.3:
            del container[key]
        else:
            container[key] = chance.choice(VALUES)
    return value


def damaged_bytes(text: bytes, chance: random.Random) -> bytes:
    found = bytearray(text)
    for _ in range(chance.choice((1, 3, 20))):
        at = chance.randrange(len(found) + 1)
        found[at : at + chance.choice((0, 1, 1, 50))] = bytes(chance.choice((b"", b"\xff", b"\n", b'"', b"[" * 3000, b"{", b"9" * 400, b"-", b"null")))
    return bytes(found)


class WithoutMsgspec(WithFolder):
    def both_readers(self) -> Iterator[str]:
        yield "msgspec" if lines.msgspec else "json"
        if lines.msgspec:
            with mock.patch.object(lines, "msgspec", None):
                yield "json"


class NamedDamageTest(WithoutMsgspec):
    def refused(self, field: str, change: Any, number: int = 2) -> None:
        before = self.file("before", side("base", {CELL: US}))
        campaign = side("cand", {CELL: US})
        line = campaign[number - 1]
        for name in field.split(".")[:-1]:
            line = line[name]
        if change is KeyError:
            del line[field.split(".")[-1]]
        else:
            line[field.split(".")[-1]] = change
        after = self.file("after", campaign)
        kind = campaign[number - 1].get("kind", "")
        for reader in self.both_readers():
            for main, arguments in ((compare.main, (before, after)), (plot.main, ("report", after, "-o", self.folder / "report.html"))):
                code, _, errors = run_main(main, *arguments)
                if main is plot.main and "is missing" in errors and field not in errors:
                    continue  # these lines have only what a comparison looks at
                self.assertEqual((code, errors.count("\n")), (64, 1), f"{reader}: {errors}")
                self.assertIn(f"after.jsonl:{number}: {kind}.{field}: ", errors)

    def test_a_field_that_is_missing_or_of_another_type_or_no_possible_number_is_named(self) -> None:
        for field in ("launch_id", "environment.identity", "environment.env_key", "time", "test_double"):
            self.refused(field, KeyError, 1)
        for field, wrong in (("launch_id", ["x"]), ("environment", 3), ("environment.identity", ["a"]), ("environment.env_key", {"A": 1}), ("time", 5)):
            self.refused(field, wrong, 1)
        for field in ("cell_id", "status", "traffic.wire_bytes", "time_ns.median"):
            self.refused(field, KeyError)
        for field, wrong in (("time_ns.median", 1e308), ("time_ns.median", "1"), ("time_ns.median", -1), ("traffic.payload_bytes", 0.5), ("cell_id", 7)):
            self.refused(field, wrong)

    def test_a_cell_without_its_launch_and_brackets_without_end_are_refused(self) -> None:
        cell = side("cand", {CELL: US})[1]
        for text, message in ((json.dumps(cell), "results.jsonl:1: cell of launch cand-0, which has no line above"), ("[" * 2000 + "\n{}", "results.jsonl:1: not a line of a result file; dlmb_convert makes one")):
            path = self.folder / "results.jsonl"
            path.write_text(text + "\n")
            code, _, errors = run_main(compare.main, path, path)
            self.assertEqual((code, errors.count("\n")), (64, 1), errors)
            self.assertIn(message, errors)


class AnyDamageTest(WithoutMsgspec):
    def setUp(self) -> None:
        super().setUp()
        self.whole = self.file("whole", side("base", {CELL: US}))
        self.results = [json.loads(line) for line in (EXAMPLES / "results.jsonl").read_text().splitlines()]
        self.compared = [json.loads(line) for line in self.whole.read_text().splitlines()]

    def looked_at(self, main: Any, *arguments: object, what: object) -> None:
        code, _, errors = run_main(main, *arguments)
        self.assertIn(code, (0, 1, 2, 3, 4, 64), f"{what}\n{errors}")
        self.assertNotIn("Traceback", errors)
        for line in errors.splitlines():
            self.assertTrue(line.isprintable() and len(line) < 1100, line)

    def both(self, path: Path, what: object) -> None:
        for _ in self.both_readers():
            self.looked_at(compare.main, self.whole, path, "--json", what=what)
            self.looked_at(compare.main, path, path, "--markdown", what=what)
            self.looked_at(plot.main, "report", path, "-o", self.folder / "report.html", what=what)

    def test_changed_fields_of_lines(self) -> None:
        for seed in range(RANDOM_DAMAGES):
            chance = random.Random(seed)
            good = chance.choice((self.results, self.compared))
            bad = self.folder / "bad.jsonl"
            bad.write_text("".join(json.dumps(line) + "\n" for line in damaged(good, chance) if line is not None))
            self.both(bad, seed)

    def test_changed_bytes_of_lines(self) -> None:
        for seed in range(RANDOM_DAMAGES):
            chance = random.Random(seed)
            good = chance.choice((EXAMPLES / "results.jsonl", self.whole)).read_bytes()
            bad = self.folder / "bad.jsonl"
            bad.write_bytes(damaged_bytes(good, chance))
            self.both(bad, seed)

    def test_changed_documents(self) -> None:
        for seed in range(RANDOM_DAMAGES):
            chance = random.Random(seed)
            good = EXAMPLES / chance.choice(("plan.jsonl", "tuning-table.json"))
            bad = self.folder / f"bad{good.suffix}"
            if good.suffix == ".json" and chance.random() < 0.5:
                bad.write_text(json.dumps(damaged(json.loads(good.read_text()), chance)))
            else:
                bad.write_bytes(damaged_bytes(good.read_bytes(), chance))
            self.looked_at(plot.main, "report", bad, "-o", self.folder / "report.html", what=seed)


class ProgramTest(WithFolder):
    def test_an_output_that_is_full_is_said_in_one_line(self) -> None:
        before = self.file("before", side("base", {CELL: US}))
        for name, arguments in (("dlmb_compare", (before, before.with_name("after.jsonl"))), ("dlmb_compare", ("--help",)), ("dlmb_plot", ("--help",)), ("dlmb_convert", ("--help",)), ("dlmb_sweep", ("--help",))):
            self.file("after", side("cand", {CELL: US}))
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM.with_name(name), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (74, f"{name}: error: standard output cannot be written: No space left on device\n"))

    def test_ctrl_c_at_any_moment_ends_a_program_without_a_traceback(self) -> None:
        if subprocess.run(["env", "--block-signal=INT", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("env cannot hold back Ctrl-C until Python is loaded")
        results = self.file("results", side("base", {f"{CELL}/x={number}": US for number in range(200)}))
        sweep = Path(__file__).resolve().parents[2] / "launch" / "sweeps" / "quick.toml"
        for name, arguments in (("dlmb_compare", (results, results)), ("dlmb_sweep", (sweep, "--dry-run", "--build", self.folder))):
            for moment in range(12):
                with subprocess.Popen([PROGRAM.with_name(name), *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as started:
                    time.sleep(moment * 0.03)
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(started.pid, signal.SIGINT)
                    errors = started.communicate(timeout=120)[1]
                self.assertNotIn("Traceback", errors)
                if started.returncode == program.INTERRUPTED:
                    self.assertEqual(errors, f"{name}: error: interrupted\n")


if __name__ == "__main__":
    unittest.main()
