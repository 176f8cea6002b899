# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The lines of result files (JSON Lines), one by one; says what is odd about a file, never guesses.

Lines come as dictionaries without `samples_ns`: the samples are most of a line's bytes, and no tool works on them. Where msgspec is
installed, millions of lines are read several times faster: of a cell it builds only the fields that the caller wants.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dlmb_results.converted import for_readers
from dlmb_results.inputs import bounded_lines

try:
    import msgspec
except ModuleNotFoundError:
    msgspec = None

Line = dict[str, Any]
Decode = Callable[[bytes], "Line | None"]  # None: not a whole line of a result file

# Inside a JSON string the second quote would have a backslash before it, so this is always the field itself.
SAMPLES = re.compile(rb'"samples_ns":\s*\[[^\]]*\]')


def whole(line: bytes) -> Line | None:
    """Every field, and `samples_ns` empty."""
    try:
        value = json.loads(SAMPLES.sub(b'"samples_ns":[]', line).decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) and "kind" in value else None


def decoder(cell_fields: type | None) -> Decode:
    """cell_fields: a TypedDict with the fields of cells that the caller looks at; None: all. Other lines are always whole."""
    if msgspec is None or cell_fields is None:
        return whole
    narrow = msgspec.json.Decoder(cell_fields).decode
    fault = msgspec.MsgspecError

    def decode(line: bytes) -> Line | None:
        try:
            value = narrow(line)
            if value.get("kind") == "cell":
                return value
        except (fault, ValueError):
            pass
        return whole(line)

    return decode


NUMBER = re.compile(r"\d+(?:\.\d+)?")
SCHEMA_NAME = "dlmb.result"
SCHEMA_MAJOR = 1
READ_BYTES = 1 << 20  # lines have kilobytes; Python's own buffer has 8
TEST_DOUBLE = "the GPUs are a test double of the CUDA runtime: no time of this launch is a measurement"


class ResultError(Exception):
    """A file that cannot be used at all."""


def result_files(path: Path) -> list[Path]:
    """The file itself, or every *.jsonl below a folder."""
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob("*.jsonl"))
    if not found:
        raise ResultError(f"{path}: no result file (*.jsonl) in this folder")
    return found


def read_lines(path: Path, remarks: list[str], cell_fields: type | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and content; of cells all fields, or at least those of a TypedDict `cell_fields`, which is faster. Converted lines come as `for_readers` fills them. A launch without its end line and a last line that is cut off become remarks."""
    open_launches: dict[str, None] = {}
    decode = decoder(cell_fields)
    try:
        with path.open("rb", buffering=READ_BYTES) as file:
            for number, line in enumerate(bounded_lines(file), 1):
                value = decode(line)
                if value is None:
                    if file.read(1):
                        raise ResultError(f"{path}:{number}: not a line of a result file")
                    remarks.append(f"{path}:{number}: the last line is cut off; left out")
                    break
                if value["kind"] == "launch":
                    check_schema(value.get("schema", ""), path, number)
                    open_launches[value["launch_id"]] = None
                elif value["kind"] == "end":
                    open_launches.pop(value["launch_id"], None)
                yield number, for_readers(value) if "origin" in value else value
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    for launch in open_launches:
        remarks.append(f"{path}: launch {launch} has no end line: it was interrupted; its finished cells are used")


def check_schema(schema: str, path: Path, number: int) -> None:
    name, _, version = schema.partition("/")
    if name != SCHEMA_NAME or version.split(".")[0] != str(SCHEMA_MAJOR):
        raise ResultError(f"{path}:{number}: schema '{schema}', this program reads {SCHEMA_NAME}/{SCHEMA_MAJOR}.x")


def warnings_of(launch: dict[str, Any]) -> list[str]:
    """What a launch line says makes its numbers less than they could be."""
    warnings = list((launch.get("environment") or {}).get("warnings") or [])
    if launch.get("test_double") and TEST_DOUBLE not in warnings:
        warnings.append(TEST_DOUBLE)
    return warnings


def each_kind_once(said: Iterable[tuple[str, str]]) -> list[tuple[str, int]]:
    """said: who, and a text. Texts that differ only in numbers are of one kind; it has the range of each number: "a load of 4.4 to
    4.6". With each goes how many say it."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for who, text in said:
        kinds.setdefault(NUMBER.sub("#", text), []).append((who, text))
    found = []
    for members in kinds.values():
        numbers = zip(*(NUMBER.findall(text) for _, text in members))
        text = NUMBER.sub(lambda _: shown_range(next(numbers)), members[0][1])
        found.append((text, len({who for who, _ in members})))
    return found


def shown_range(numbers: Sequence[str]) -> str:
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if float(low) == float(high) else f"{low} to {high}"
