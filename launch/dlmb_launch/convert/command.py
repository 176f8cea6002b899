# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_convert FILE... -o RESULTS.jsonl"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from dlmb_launch.convert import comms_logger, formats, lines
from dlmb_launch.convert.measured import ConvertError, Given, Table
from dlmb_results import program
from dlmb_results.arguments import Parser, count
from dlmb_results.cells import CellFields, Line
from dlmb_results.files import is_standard_output, read_document, write_output
from dlmb_results.lines import read_lines, result_files

PROGRAM = "dlmb_convert"
OK = 0

DESCRIPTION = """Converts results of other programs to lines of result files, for dlmb_plot, dlmb_compare and dlmb_tune build. What a line may claim
and what each definition means: docs/converting.md."""
EPILOG = "exit codes: 0 converted, 64 bad usage or input, 70 a fault of the program, 74 cannot write, 130 Ctrl-C"


def file(text: str) -> Path:
    return Path("/dev/stdin" if text == "-" else text)


def condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not (column and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is not COLUMN=VALUE")
    return column, value


def parser() -> argparse.ArgumentParser:
    made = Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EPILOG)
    made.add_argument("files", nargs="+", type=file, metavar="FILE", help="output of another program, whole; -: standard input; " + ", ".join(form.what for form in formats.FORMATS.values()))
    made.add_argument("-o", "--output", type=Path, default=Path("-"), metavar="RESULTS.jsonl", help="default: -, standard output")
    made.add_argument("--from", dest="format", choices=formats.FORMATS, default="", help="default: found out from each file")
    made.add_argument("--to", choices=("comms_logger",), default="", help="the other way: FILE are result files, and OUTPUT is the comms_dict of their dlmb_collective cells")
    made.add_argument("--campaign", default="", metavar="NAME", help="of all launches; default: that of the table (pico), else one for each")
    said = made.add_argument_group("what the files do not say")
    said.add_argument("--ranks", type=count, metavar="N", help="osu and ucc_perftest do not print it")
    said.add_argument("--ranks-per-node", type=count, metavar="N")
    said.add_argument("--system", default="", metavar="NAME", help="of the machine; keeps cells of two machines apart")
    said.add_argument("--operation", default="", metavar="NAME", help="of nccl-tests that do not print their name")
    said.add_argument("--ucc-count", choices=("source", "block"), default="", help="what Count and Size are where the source has a block per rank")
    made.add_argument("--only", type=condition, action="append", default=[], metavar="COLUMN=VALUE", help="lines of the pico table with this value; all of several")
    return made


def tables_of(path: Path, format_name: str, given: Given) -> tuple[bytes, list[Table]]:
    content = read_document(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConvertError(f"{path}:{line}: is not UTF-8 text; give the text that the program printed") from None
    return content, formats.read(path, text, format_name, given)


def converted(paths: Iterable[Path], options: argparse.Namespace, given: Given) -> Iterator[Line]:
    file_of: dict[str, Path] = {}
    for path in paths:
        content, tables = tables_of(path, options.format, given)
        for place, table in enumerate(tables):
            identifier = lines.launch_id(content, place)
            if identifier in file_of:
                raise ConvertError(f"{path}: is the same as {file_of[identifier]}; a launch would count twice: name it once")
            file_of[identifier] = path
            yield from lines.lines_of(table, path.name, identifier, options.campaign, given)


def cells_of(paths: Iterable[Path]) -> Iterator[Line]:
    remarks: list[str] = []
    for path in (file for path in paths for file in result_files(path)):
        yield from (line for _, line in read_lines(path, remarks, CellFields) if line["kind"] == "cell" and line["pattern"] == "collective")
    for remark in remarks:
        program.say(PROGRAM, "warning", remark)


def run(arguments: list[str] | None) -> int:
    options = parser().parse_args(arguments)
    if options.ranks and options.ranks_per_node and options.ranks_per_node > options.ranks:
        raise ConvertError(f"--ranks-per-node {options.ranks_per_node} is more than --ranks {options.ranks}; give a node's share")
    if options.to:
        write_output(options.output, comms_logger.written(cells_of(options.files)))
        return OK
    given = Given(options.ranks, options.ranks_per_node, options.operation, options.system, options.ucc_count, dict(options.only))
    found = list(converted(options.files, options, given))  # nothing is written unless everything can be read
    text = "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in found)
    write_output(options.output, text)
    if not is_standard_output(options.output):
        kinds = [line["kind"] for line in found]
        print(f"{options.output}: {kinds.count('launch')} launches, {kinds.count('cell')} cells", flush=True)
    return OK


def main(arguments: list[str] | None = None) -> int:
    return program.run(PROGRAM, lambda: run(arguments))
