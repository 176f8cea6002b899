# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The schemas, their examples and the code agree. Arguments: the program that writes the examples, an empty folder.

exit 0: all tests passed, 1: some did not, 77: python3-jsonschema is missing
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = ROOT / "results-schema"
EXAMPLES = SCHEMA / "examples"
WRITER, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])


def validate(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCHEMA / "validate.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def example_lines() -> list[dict]:
    return [json.loads(line) for line in (EXAMPLES / "results.jsonl").read_text(encoding="utf-8").splitlines()]


class Schemas(unittest.TestCase):
    def test_follow_draft_2020_12(self) -> None:
        for path in sorted(SCHEMA.glob("*.schema.json")):
            jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))

    def test_the_readme_is_made_from_their_descriptions(self) -> None:
        made = subprocess.run([sys.executable, str(SCHEMA / "describe.py")], capture_output=True, text=True, check=True).stdout
        readme = (SCHEMA / "README.md").read_text(encoding="utf-8")
        self.assertEqual(readme, made, "renew it: results-schema/describe.py > results-schema/README.md")

    def test_every_field_has_a_row_in_the_readme(self) -> None:
        rows = re.findall(r"^\|`(?:[\w.]*\.)?(\w+)`|`(\w+)`(?=[/|])", (SCHEMA / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
        named = {name for row in rows for name in row}
        for path in sorted(SCHEMA.glob("*.schema.json")):
            self.assertEqual(set(fields(json.loads(path.read_text(encoding="utf-8")))) - named, set(), path.name)


def fields(schema: object) -> list[str]:
    if isinstance(schema, list):
        return [name for each in schema for name in fields(each)]
    if not isinstance(schema, dict):
        return []
    names = list(schema["properties"]) if "required" in schema and "properties" in schema else []
    return names + [name for key, value in schema.items() if key not in ("if", "then", "else") for name in fields(value)]


class Examples(unittest.TestCase):
    def test_are_valid_and_hold_no_unexplained_field(self) -> None:
        done = validate("--strict", *sorted(EXAMPLES.iterdir()))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_are_not_called_wrong_where_the_validator_is_missing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "jsonschema.py").write_text("raise ImportError", encoding="utf-8")
            command = [sys.executable, str(SCHEMA / "validate.py"), str(EXAMPLES / "results.jsonl")]
            done = subprocess.run(command, env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (69, 1), done.stderr)

    def test_are_what_the_code_writes_today(self) -> None:
        for path in sorted(EXAMPLES.iterdir()):
            self.assertEqual((FOLDER / path.name).read_bytes(), path.read_bytes(), f"{path.name}: renew it with {WRITER.name}")

    def test_show_every_kind_of_line_and_of_operation(self) -> None:
        self.assertEqual({line["kind"] for line in example_lines()}, {"launch", "cell", "derived", "end"})
        plans = [json.loads(line) for line in (EXAMPLES / "plan.jsonl").read_text(encoding="utf-8").splitlines()]
        operations = {step["operation"] for plan in plans for step in plan.get("steps", [])}
        schema = json.loads((SCHEMA / "plan.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(operations, set(schema["$defs"]["step"]["properties"]["operation"]["enum"]))


class TuningTables(unittest.TestCase):
    def validated(self, change) -> subprocess.CompletedProcess[str]:
        table = json.loads((EXAMPLES / "tuning-table.json").read_text(encoding="utf-8"))
        change(table)
        path = FOLDER / "changed-table.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        return validate(path)

    def test_refuses_what_a_reader_would_trip_on(self) -> None:
        changes = {
            "unknown operation": lambda table: table["rules"][0]["when"].update(operation="alltoall"),
            "negative size": lambda table: table["rules"][0]["when"]["bytes"].update(min=-1),
            "unknown condition": lambda table: table["rules"][0]["when"].update(colour="red"),
            "empty device name": lambda table: table["system"].update(gpu=""),
            "no choice": lambda table: table["rules"][0].pop("choose"),
            "other major version": lambda table: table.update(schema="dlmb.tuning-table/2.0"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                done = self.validated(change)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def test_accepts_null_for_absent_and_what_a_later_version_adds_outside_of_rules(self) -> None:
        def change(table: dict) -> None:
            table.update(schema="dlmb.tuning-table/1.9", later=1)
            table["rules"][0]["when"].update(nodes=None, dtype=None, uniform=None)

        done = self.validated(change)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class FreshFiles(unittest.TestCase):
    def test_are_valid_and_hold_no_unexplained_field(self) -> None:
        done = validate("--strict", FOLDER / "fresh.jsonl")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Validator(unittest.TestCase):
    def broken(self, change) -> str:
        lines = example_lines()
        change(lines)
        path = FOLDER / "broken.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        done = validate(path)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout

    def test_names_file_and_line_of_a_missing_field(self) -> None:
        self.assertIn("broken.jsonl:2: the object: 'backend' is a required property", self.broken(lambda lines: lines[1].pop("backend")))

    def test_refuses_what_a_reader_would_trip_on(self) -> None:
        changes = {
            "time of a skipped cell": lambda lines: lines[2].update(time_ns=lines[1]["time_ns"]),
            "ok without a time": lambda lines: lines[1].update(time_ns=None),
            "ok without a sample": lambda lines: lines[1].update(samples_ns=[]),
            "failure without a reason": lambda lines: lines[3].update(reason=""),
            "negative bytes": lambda lines: lines[1]["traffic"].update(wire_bytes=-1),
            "unknown status": lambda lines: lines[1].update(status="fine"),
            "blank in a cell id": lambda lines: lines[1].update(cell_id="a b"),
            "long cell id": lambda lines: lines[1].update(cell_id="a" * 1001),
            "not a number": lambda lines: lines[1]["time_ns"].update(median=float("nan")),
            "rank's device without a bus id": lambda lines: lines[0]["environment"]["ranks"][0].update(device={"index": 0}),
            "test double neither yes nor no": lambda lines: lines[0].update(test_double="no"),
            "other major version": lambda lines: lines[0].update(schema="dlmb.result/2.0"),
            "figures of an unknown cell": lambda lines: lines[4].update(cell_id="x"),
            "cell of an unknown launch": lambda lines: lines[1].update(launch_id="x"),
            "count of an unknown status": lambda lines: lines[-1]["cells"].update(fine=1),
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.broken(change)

    def test_accepts_fields_and_kinds_of_a_later_minor_version_unless_strict(self) -> None:
        lines = example_lines()
        lines[0]["schema"] = "dlmb.result/1.9"
        lines[1]["later"] = 1
        lines.insert(1, {"kind": "calibration", "launch_id": lines[0]["launch_id"]})
        path = FOLDER / "later.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.assertEqual(validate(path).returncode, 0, validate(path).stdout)
        self.assertEqual(validate("--strict", path).returncode, 1)

    def test_a_launch_on_a_test_double_is_a_note(self) -> None:
        lines = example_lines()
        lines[0]["test_double"] = True
        path = FOLDER / "double.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        done = validate("--strict", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("no time of it is a measurement", done.stdout)
        self.assertNotIn("no time", validate(EXAMPLES / "results.jsonl").stdout)

    def test_a_killed_launch_is_a_note_and_its_broken_line_a_finding(self) -> None:
        done = validate(EXAMPLES / "killed.jsonl")
        self.assertEqual(done.returncode, 0)
        self.assertIn("has no end line", done.stdout)
        path = FOLDER / "cut.jsonl"
        path.write_bytes((EXAMPLES / "killed.jsonl").read_bytes()[:-100])
        done = validate(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cut.jsonl:2: the line has no end", done.stdout)

    def test_bad_usage_is_64(self) -> None:
        self.assertEqual(validate().returncode, 64)
        self.assertEqual(validate(FOLDER / "none.jsonl").returncode, 64)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run([WRITER, FOLDER], check=True)
    unittest.main(argv=sys.argv[:1], verbosity=1)
