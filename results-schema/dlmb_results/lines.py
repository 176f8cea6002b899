# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one reader of result files (JSON Lines): line by line, checked; says what is odd about a file, never guesses. Many files are read in as
many processes as there are cores.

Lines come as dictionaries without `samples_ns`: the samples are most of a line's bytes, and no tool works on them. Where msgspec is
installed, millions of lines are read several times faster: of a cell it builds only the fields that the caller wants.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import accumulate, groupby
from pathlib import Path
from typing import TypeVar

from dlmb_results.cells import CellFields, CellIdentity, DerivedFields, EndFields, LaunchFields, Line, for_readers
from dlmb_results.fields import checker, is_version, load_json
from dlmb_results.files import bounded_lines
from dlmb_results.program import UsageError
from dlmb_results.plans import is_plan

try:
    import msgspec
except ModuleNotFoundError:
    msgspec = None

Decode = Callable[[bytes], "tuple[Line | None, bool]"]  # None: not a whole line of a result file; whether its fields were checked

SCHEMA = "dlmb.result/1"
READ_BYTES = 1 << 20  # lines have kilobytes; Python's own buffer has 8
# Inside a JSON string the second quote would have a backslash before it, so this is always the field itself.
SAMPLES = re.compile(rb'"samples_ns":\s*\[[^\]]*\]')


class ResultError(UsageError):
    """A file that cannot be used at all."""


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


def result_files(path: Path) -> list[Path]:
    """The file itself, or every *.jsonl below a folder that holds no plans."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*.jsonl") if not is_plan(file))
    if not found:
        raise ResultError(f"{path}: no result file (*.jsonl) in this folder")
    return found


def read_lines(path: Path, remarks: list[str], cell_fields: type = CellIdentity, unread: bytes | None = None) -> Iterator[tuple[int, Line]]:
    """Line number and content. Launches and ends have the fields of cells.py, and cells those of `cell_fields`, a TypedDict; a field that
    is missing, has another type, or is a number that cannot be is a ResultError. Whoever names more fields than CellIdentity is faster: of
    others there may be none. Converted lines come as `for_readers` fills them. Figures of a `derived` line go to the statistics of the
    cell that they belong to, which may have been given out long before. A launch without its end line and a last line that is cut off
    become remarks. Lines that begin with `unread` come empty: nothing of them is looked at."""
    ended: dict[str, bool] = {}  # by launch
    statistics: dict[str, dict[str, float]] = {}  # of the last ok cell of each id
    checks = {"launch": checker(LaunchFields), "cell": checker(cell_fields), "derived": checker(DerivedFields), "end": checker(EndFields)}
    decode = decoder(None if cell_fields is CellIdentity else cell_fields)
    try:
        with path.open("rb", buffering=READ_BYTES) as file:
            for number, line in enumerate(bounded_lines(file), 1):
                if unread and line.startswith(unread):
                    yield number, {}
                    continue
                value, checked = decode(line)
                if value is None:
                    if file.read(1):
                        other = "; dlmb_convert makes one of the output of other programs" if number == 1 else ""
                        raise ResultError(f"{path}:{number}: not a line of a result file{other}")
                    remarks.append(f"{path}:{number}: the last line is cut off; left out")
                    break
                kind = value["kind"]
                if kind == "launch" and not is_version(value.get("schema", ""), SCHEMA):
                    raise ResultError(f"{path}:{number}: schema '{value.get('schema', '')}', this program reads {SCHEMA}.x")
                if "origin" in value:
                    value = filled(value, path, number)
                if kind in checks:
                    if wrong := "" if checked else checks[kind](value):
                        raise ResultError(f"{path}:{number}: {kind}{wrong}")
                    launch = value["launch_id"]
                    if kind != "launch" and launch not in ended:
                        raise ResultError(f"{path}:{number}: {kind} of launch {launch}, which has no line above")
                    ended[launch] = kind == "end"
                if kind == "cell" and value["status"] == "ok" and isinstance(value.get("statistics"), dict):
                    statistics[value["cell_id"]] = value["statistics"]
                elif kind == "derived":
                    statistics.get(value["cell_id"], {}).update(value["statistics"])
                yield number, value
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    for launch in (launch for launch, has_ended in ended.items() if not has_ended):
        remarks.append(f"{path}: launch {launch} has no end line: it was interrupted; its finished cells are used")


def read_cells(path: Path, remarks: list[str], take_launch: Callable[[Line], None], take_cell: Callable[[Line], None]) -> None:
    """Gives every line to one of both. What a line has in each field is checked before; that they fit together is not."""
    for number, line in read_lines(path, remarks, CellFields):
        try:
            if line["kind"] == "launch":
                take_launch(line)
            elif line["kind"] == "cell":
                take_cell(line)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ResultError(f"{path}:{number}: not as results-schema/ says: {type(error).__name__} {error}") from error


def filled(value: Line, path: Path, number: int) -> Line:
    try:
        return for_readers(value)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ResultError(f"{path}:{number}: not a converted line as results-schema/ says: {type(error).__name__} {error}") from None


Read = TypeVar("Read")

LEAST_BYTES = 16 << 20  # of a part; less is read sooner than a process has started and handed over what it read


def equal_parts(paths: Sequence[Path], count: int) -> list[list[Path]]:
    """Runs of neighbours, at most `count`, none empty, of about equal bytes."""
    sizes = [size(path) for path in paths]
    middles = (end - own / 2 for own, end in zip(sizes, accumulate(sizes)))
    numbers = [min(count - 1, int(count * middle / max(1, sum(sizes)))) for middle in middles]
    return [[path for path, _ in run] for _, run in groupby(zip(paths, numbers), key=lambda each: each[1])]


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # whoever opens it says what is wrong


def read_in_processes(read: Callable[[list[Path]], Read], paths: Sequence[Path], least_bytes: int = LEAST_BYTES) -> list[Read]:
    """What `read` makes of each part, in the order of `paths`; what it raises is raised."""
    cores = len(os.sched_getaffinity(0))
    parts = equal_parts(paths, max(1, min(cores, sum(map(size, paths)) // least_bytes)))
    if len(parts) < 2:
        return [read(part) for part in parts]
    try:
        with ProcessPoolExecutor(len(parts), multiprocessing.get_context("fork"), _end_quietly) as processes:
            return list(processes.map(read, parts))
    except BrokenProcessPool:  # one was killed, for its memory perhaps
        return [read(part) for part in parts]


def _end_quietly() -> None:
    """Ctrl-C reaches every process; only the first one has something to say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
