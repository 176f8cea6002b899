# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The lines of result files (JSON Lines), one by one; says what is odd about a file, never guesses.

Lines come as dictionaries without `samples_ns`: the samples are most of a line's bytes, and no tool works on them. Where msgspec is
installed, millions of lines are read several times faster: of a cell it builds only the fields that the caller wants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Optional, TypedDict

from dlmb_results.converted import for_readers
from dlmb_results.fields import Signed, checker, load_json
from dlmb_results.inputs import bounded_lines

try:
    import msgspec
except ModuleNotFoundError:
    msgspec = None

Line = dict[str, Any]
Decode = Callable[[bytes], "tuple[Line | None, bool]"]  # None: not a whole line of a result file; whether its fields were checked

# Inside a JSON string the second quote would have a backslash before it, so this is always the field itself.
SAMPLES = re.compile(rb'"samples_ns":\s*\[[^\]]*\]')


def whole(line: bytes) -> Line | None:
    """Every field, and `samples_ns` empty."""
    try:
        value = load_json(SAMPLES.sub(b'"samples_ns":[]', line).decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("kind"), str) else None


def decoder(cell_fields: type | None) -> Decode:
    """cell_fields: a TypedDict with the fields of cells that the caller looks at; None: all. Other lines are always whole."""
    if msgspec is None or cell_fields is None:
        return lambda line: (whole(line), False)
    narrow = msgspec.json.Decoder(cell_fields).decode
    fault = msgspec.MsgspecError
    wrong_number = checker(cell_fields, numbers_only=True)  # all else msgspec has checked

    def decode(line: bytes) -> tuple[Line | None, bool]:
        try:
            value = narrow(line)
            if value.get("kind") == "cell" and not wrong_number(value):
                return value, True
        except (fault, ValueError, RecursionError):
            pass
        return whole(line), False

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


class Timer(TypedDict):
    cost_ns: float
    step_ns: float


class Calibration(TypedDict):
    timer: Timer


class Environment(TypedDict):
    env_key: str
    identity: dict[str, str]
    informational: dict[str, str]
    variables: dict[str, str]
    warnings: list[str]


class World(TypedDict):
    ranks: int


class LaunchFields(TypedDict):
    schema: str
    launch_id: str
    campaign_id: str
    time: str
    world: World
    test_double: bool
    environment: Environment
    calibration: Optional[Calibration]


class CellFields(TypedDict):
    launch_id: str
    cell_id: str
    status: str


class DerivedFields(TypedDict):
    launch_id: str
    cell_id: str
    statistics: dict[str, Signed]


class EndFields(TypedDict):
    launch_id: str


def read_lines(path: Path, remarks: list[str], cell_fields: type = CellFields) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and content. Launches, cells and ends have the fields of the classes above, and cells those of `cell_fields`, a
    TypedDict; a field that is missing, has another type, or is a number that cannot be is a ResultError. Whoever names the fields is
    faster: of others there may be none. Converted lines come as `for_readers` fills them. A launch without its end line and a last line
    that is cut off become remarks."""
    launches: dict[str, bool] = {}  # whether it has ended
    checks = {"launch": checker(LaunchFields), "cell": checker(cell_fields), "derived": checker(DerivedFields), "end": checker(EndFields)}
    decode = decoder(None if cell_fields is CellFields else cell_fields)
    try:
        with path.open("rb", buffering=READ_BYTES) as file:
            for number, line in enumerate(bounded_lines(file), 1):
                value, checked = decode(line)
                if value is None:
                    if file.read(1):
                        other = "; dlmb_convert makes one of the output of other programs" if number == 1 else ""
                        raise ResultError(f"{path}:{number}: not a line of a result file{other}")
                    remarks.append(f"{path}:{number}: the last line is cut off; left out")
                    break
                kind = value["kind"]
                if kind == "launch":
                    check_schema(value.get("schema", ""), path, number)
                if "origin" in value:
                    value = filled(value, path, number)
                if kind in checks:
                    if wrong := "" if checked else checks[kind](value):
                        raise ResultError(f"{path}:{number}: {kind}{wrong}")
                    launch = value["launch_id"]
                    if kind != "launch" and launch not in launches:
                        raise ResultError(f"{path}:{number}: {kind} of launch {launch}, which has no line above")
                    launches[launch] = kind == "end"
                yield number, value
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    for launch in (launch for launch, ended in launches.items() if not ended):
        remarks.append(f"{path}: launch {launch} has no end line: it was interrupted; its finished cells are used")


def filled(value: Line, path: Path, number: int) -> Line:
    try:
        return for_readers(value)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ResultError(f"{path}:{number}: not a converted line as results-schema/ says: {type(error).__name__} {error}") from None


def check_schema(schema: Any, path: Path, number: int) -> None:
    name, _, version = str(schema).partition("/")
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
