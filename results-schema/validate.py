#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks result files and plans (JSON Lines), and documents such as tuning tables and what dlmb_predict prints
as JSON against the schemas beside this script.

Prints one line per finding, FILE:LINE: what is wrong. A launch without an end line was killed; that is a note, not a
finding. exit 0: all files are valid, 1: some are not, 64: bad usage or a file that cannot be read,
69: jsonschema is missing
"""

from __future__ import annotations

import argparse
import copy
import functools
import json
import re
import sys
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

from dlmb_results import program
from dlmb_results.arguments import Parser
from dlmb_results.fields import load_json

try:
    import jsonschema
except ImportError:
    program.say("validate.py", "error", "the Python package jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(program.UNAVAILABLE)

HERE = Path(__file__).resolve().parent
DOCUMENTS = ("tuning-table", "machine-model", "comparison", "bound", "guidelines", "layouts", "fill", "simulation")
FORMAT = re.compile(rb'"dlmb\.([a-z-]+)/')


def closed(schema: Any) -> Any:
    """The same schema, refusing fields it does not name: shows what a program writes but no page explains."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if result.get("type") == "object" and "required" in result and "kind" not in result["required"]:
        result.setdefault("additionalProperties", False)
    return result


def closed_result_schema(schema: dict[str, Any]) -> dict[str, Any]:
    schema = closed(copy.deepcopy(schema))
    for kind in ("launch", "cell", "derived", "end", "converted_launch", "converted"):
        schema["$defs"][kind]["additionalProperties"] = False
    schema["properties"]["kind"]["enum"] = ["launch", "cell", "derived", "end"]
    return schema


@functools.cache
def validator(name: str, strict: bool) -> jsonschema.Draft202012Validator:
    schema = json.loads((HERE / f"{name}.schema.json").read_text(encoding="utf-8"))
    if strict:
        schema = closed_result_schema(schema) if name == "result" else closed(schema)
    return jsonschema.Draft202012Validator(schema)


def explain(error: jsonschema.ValidationError) -> str:
    place = "/".join(str(part) for part in error.absolute_path) or "the object"
    message = error.message if len(error.message) < 300 else error.message[:300] + " ..."
    return f"{place}: {message}"


Relate = Callable[[dict[str, Any]], Iterable[str]]  # what is wrong with a line only beside the lines above it


def check_line(line: bytes, validator: jsonschema.Draft202012Validator, relate: Relate) -> Iterator[str]:
    if not line.endswith(b"\n"):
        yield "the line has no end: what wrote it was killed"
        return
    try:
        record = load_json(line.decode("utf-8"))
    except ValueError as error:
        yield f"not JSON: {error}"
        return
    yield from map(explain, validator.iter_errors(record))
    if isinstance(record, dict):
        yield from relate(record)


class Results:
    """The lines of a result file so far."""

    def __init__(self) -> None:
        self.launches: set[str] = set()
        self.ended: set[str] = set()
        self.ok_cells: set[str] = set()
        self.notes: list[str] = []

    def relate(self, record: dict[str, Any]) -> Iterator[str]:
        kind, launch = record.get("kind"), str(record.get("launch_id"))
        if kind == "launch":
            if launch in self.launches:
                yield f"launch {launch} is there twice"
            if record.get("test_double"):
                self.notes.append(f"launch {launch} ran on a test double of the CUDA runtime: no time of it is a measurement")
            self.launches.add(launch)
        elif kind in ("cell", "derived", "end"):
            if launch not in self.launches:
                yield f"{kind} of launch {launch}, which has no line above"
            if kind == "end":
                self.ended.add(launch)
            elif kind == "cell" and record.get("status") == "ok":
                self.ok_cells.add(str(record.get("cell_id")))
            elif kind == "derived" and str(record.get("cell_id")) not in self.ok_cells:
                yield "figures of a cell that has no ok line above"


def check_document(path: Path, validator: jsonschema.Draft202012Validator) -> list[str]:
    try:
        document = load_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return [f"{path}: not JSON: {error}"]
    return [f"{path}: {explain(error)}" for error in validator.iter_errors(document)]


def check_lines(path: Path, validator: jsonschema.Draft202012Validator, relate: Relate = lambda _: ()) -> list[str]:
    with path.open("rb") as file:
        return [f"{path}:{number}: {finding}" for number, line in enumerate(file, 1) for finding in check_line(line, validator, relate)]


def check_file(path: Path, strict: bool) -> list[str]:
    """A file says what it is in its first bytes; nothing of a large document has to be read for that."""
    with path.open("rb") as file:
        found = FORMAT.search(file.read(100))
    name = found[1].decode() if found else "result"
    if name in DOCUMENTS:
        return check_document(path, validator(name, strict))
    if name == "plan":
        return check_lines(path, validator(name, strict))
    results = Results()
    findings = check_lines(path, validator("result", strict), results.relate)
    if not results.launches:
        findings.append(f"{path}: holds no launch")
    for note in results.notes:
        print(f"{path}: note: {note}")
    for launch in sorted(results.launches - results.ended):
        print(f"{path}: note: launch {launch} has no end line: it was killed or is still running")
    return findings


def run() -> int:
    parser = Parser(prog="validate.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="result file, plan document, tuning table or comparison")
    parser.add_argument("--strict", action="store_true", help="refuse fields and kinds that the schema does not name")
    arguments = parser.parse_args()
    findings = []
    for path in arguments.files:
        try:
            findings += check_file(path, arguments.strict)
        except OSError as error:
            raise program.UsageError(f"{path}: {error.strerror}") from None
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"{len(arguments.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(program.run("validate.py", run))
