# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of dlmb_compare."""

from __future__ import annotations

import argparse
from pathlib import Path

from dlmb_launch.compare.checks import UsageError
from dlmb_launch.compare.exports.formats import FORMATS, SEVERAL_FILES
from dlmb_launch.compare.metrics import METRICS
from dlmb_results.arguments import Parser

USAGE_LINES = """dlmb_compare [OPTION...] BASELINE CANDIDATE
       dlmb_compare [OPTION...] --history FOLDER CANDIDATE
       dlmb_compare --history FOLDER (--append RESULTS | --list [RESULTS] | --prune KEEP | --export otava FILE)"""

DEFAULT_LAST = 30  # nights; fewer tell less of how nights differ, older ones less of tonight's level

DESCRIPTION = """Says of every cell of two campaigns whether the candidate is worse. BASELINE and CANDIDATE are result files or
folders of them; each side takes 8 launches or more, measured in turns. With a history, the last campaigns of the same
environment in it are the baseline, and each counts as one night. How it decides, and what it writes: docs/comparing.md."""

EXIT_CODES = """exit codes: 0 no regression, 1 regression, 2 inconclusive (only with --strict), 3 not comparable or too few
launches, 4 the candidate failed validation, 64 bad usage or input, 70 a fault of the program, 130 Ctrl-C, 74 an output could not be written; of several that apply
the first of 74, 4, 1, 3, 2"""


def percentage(text: str) -> float:
    """In percent, as a share."""
    value = float(text.rstrip("%"))
    if not 0 < value < 1000:
        raise ValueError(text)
    return value / 100


def count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def parser() -> argparse.ArgumentParser:
    parser = Parser(UsageError, prog="dlmb_compare", usage=USAGE_LINES, description=DESCRIPTION, epilog=EXIT_CODES, allow_abbrev=False)
    parser.add_argument("campaigns", type=Path, nargs="*", metavar="CAMPAIGN")
    what = parser.add_argument_group("what is compared")
    what.add_argument("--metric", choices=METRICS, default="time", help="default: time")
    what.add_argument(
        "--factor",
        action="append",
        default=[],
        metavar="KEY",
        help="identity key or environment variable that is under study: the two sides differ in it",
    )
    what.add_argument("--allow-env-diff", action="append", default=[], metavar="KEY", help="may differ between any two launches")
    what.add_argument(
        "--margin",
        type=percentage,
        metavar="PERCENT",
        help="a smaller difference does not matter (default: 3; 5 for isolated cells below 50 us)",
    )
    what.add_argument(
        "--paired", action="store_true", help="launches that follow each other directly are pairs; from 12 pairs on they are tested as pairs"
    )
    verdict = parser.add_argument_group("verdict")
    verdict.add_argument("--strict", action="store_true", help="exit 2 if something is inconclusive")
    verdict.add_argument("--warn-only", action="store_true", help="exit 0 instead of 1 or 2")
    verdict.add_argument("--rerun", type=Path, metavar="FILE.json", help="write which cells to measure again")
    verdict.add_argument(
        "--confirm", type=Path, metavar="FILE.json", help="decide on the cells of that list, from fresh launches alone"
    )
    output = parser.add_argument_group("output")
    shown = output.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="the comparison as JSON instead of a table")
    shown.add_argument("--markdown", action="store_true", help="as Markdown")
    output.add_argument("--all", action="store_true", help="the table lists every cell")
    output.add_argument(
        "--export", nargs=2, action="append", default=[], metavar=("FORMAT", "FILE"), help=f"FORMAT: {', '.join(FORMATS)}"
    )
    history = parser.add_argument_group("history")
    history.add_argument("--history", type=Path, metavar="FOLDER", help="campaigns of the past")
    history.add_argument(
        "--last", type=count, default=DEFAULT_LAST, metavar="N", help=f"so many of them are the baseline (default: {DEFAULT_LAST})"
    )
    action = history.add_mutually_exclusive_group()
    action.add_argument("--append", type=Path, metavar="RESULTS", help="add the launches of a file or folder as one campaign")
    action.add_argument(
        "--list", type=Path, nargs="?", const=True, metavar="RESULTS", help="say what is in it, or which campaigns hold launches of RESULTS"
    )
    action.add_argument("--prune", type=count, metavar="KEEP", help="remove all but the last KEEP campaigns of each environment")
    return parser


def parse(arguments: list[str] | None) -> argparse.Namespace:
    options = parser().parse_args(arguments)
    for name, _ in options.export:
        if name not in FORMATS:
            raise UsageError(f"--export: no format '{name}'; known: {', '.join(FORMATS)}")
    for name, file in options.export:
        if name in SEVERAL_FILES and file == "-":
            raise UsageError(f"--export {name} -: writes several files; name the first of them")
    if options.confirm and options.rerun:
        raise UsageError("--rerun with --confirm: a confirmation is final")
    name_campaigns(options)
    return options


def name_campaigns(options: argparse.Namespace) -> None:
    """Sets baseline and candidate. A history alone, without a candidate, is managed or exported."""
    given = options.campaigns
    options.manages = options.append is not None or options.list is not None or options.prune is not None
    if options.history is None:
        if options.manages:
            raise UsageError("--append, --list and --prune need --history FOLDER")
        if len(given) != 2:
            raise UsageError(f"BASELINE and CANDIDATE are needed, not {len(given)} campaigns; --help shows the usage")
        options.baseline, options.candidate = given
        return
    if options.confirm:
        raise UsageError("--confirm with --history: launches of the past are not fresh; measure both sides again, in turns")
    if options.paired:
        raise UsageError("--paired with --history: launches of different days are no pairs")
    options.manages |= not given and [name for name, _ in options.export] == ["otava"]
    if len(given) != (0 if options.manages else 1):
        raise UsageError("with --history FOLDER goes one CANDIDATE, or --append, --list, --prune or --export otava alone")
    options.candidate = None if options.manages else given[0]
