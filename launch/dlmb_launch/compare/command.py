# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_compare: reads two campaigns, compares, writes, and returns the verdict as its exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dlmb_launch.compare import noise, tables
from dlmb_launch.compare.campaign import METRICS, Campaign, Metric
from dlmb_launch.compare.comparison import Comparison, Rules, compare
from dlmb_launch.compare.document import cells_to_confirm, document, dumps, to_measure_again
from dlmb_launch.compare.exports import FORMATS, SEVERAL_FILES
from dlmb_launch.compare.pairing import Declared, facts_that_differ
from dlmb_launch.compare.reading import read_campaign
from dlmb_launch.compare.verdict import State
from dlmb_launch.history import command as history
from dlmb_results import program, rerun
from dlmb_results.arguments import Parser, count
from dlmb_results.cells import each_kind_once
from dlmb_results.files import is_standard_output, write_output
from dlmb_results.program import OutputError, UsageError, say

NO_REGRESSION = 0
REGRESSION = 1
INCONCLUSIVE = 2  # only with --strict
NOT_COMPARABLE = 3  # or too few launches
CANDIDATE_IS_WRONG = 4
NOT_WRITTEN = program.CANNOT_WRITE

PRECEDENCE = (NOT_WRITTEN, CANDIDATE_IS_WRONG, REGRESSION, NOT_COMPARABLE, INCONCLUSIVE)


def causes(comparison: Comparison, strict: bool) -> set[int]:
    """Every code that applies, except success."""
    found = set()
    states = comparison.counts
    if comparison.candidate_is_wrong:
        found.add(CANDIDATE_IS_WRONG)
    elif states[State.INVALID]:
        found.add(NOT_COMPARABLE)
    if states[State.REGRESSED]:
        found.add(REGRESSION)
    if states[State.NOT_COMPARABLE] or comparison.judged == 0:
        found.add(NOT_COMPARABLE)
    open_question = (State.INCONCLUSIVE, State.SUSPECT)
    if strict and any(verdict.state in open_question and verdict.gated for verdict in comparison.verdicts):
        found.add(INCONCLUSIVE)
    return found


def exit_code(found: set[int], warn_only: bool) -> int:
    """warn_only: a slower candidate does not fail; one that could not be judged still does."""
    if warn_only:
        found = found - {REGRESSION, INCONCLUSIVE}
    return next((code for code in PRECEDENCE if code in found), NO_REGRESSION)


USAGE_LINES = """dlmb_compare [OPTION...] BASELINE CANDIDATE
       dlmb_compare [OPTION...] --history FOLDER CANDIDATE
       dlmb_compare --noise [--json] CAMPAIGN
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


def parser() -> argparse.ArgumentParser:
    parser = Parser(prog="dlmb_compare", usage=USAGE_LINES, description=DESCRIPTION, epilog=EXIT_CODES)
    parser.add_argument("campaigns", type=Path, nargs="*", metavar="CAMPAIGN")
    what = parser.add_argument_group("what is compared")
    what.add_argument("--metric", choices=METRICS, default="time", help="default: time")
    what.add_argument("--factor", action="append", default=[], metavar="KEY", help="identity key or environment variable that is under study: the two sides differ in it")
    what.add_argument("--allow-env-diff", action="append", default=[], metavar="KEY", help="may differ between any two launches")
    what.add_argument("--margin", type=percentage, metavar="PERCENT", help="a smaller difference does not matter (default: 3; 5 for isolated cells below 50 us)")
    what.add_argument("--paired", action="store_true", help="launches that follow each other directly are pairs; from 12 pairs on they are tested as pairs")
    what.add_argument("--noise", action="store_true", help="of one campaign: how far its launches are apart, and what slowdown so many can show")
    verdict = parser.add_argument_group("verdict")
    verdict.add_argument("--strict", action="store_true", help="exit 2 if something is inconclusive")
    verdict.add_argument("--warn-only", action="store_true", help="exit 0 instead of 1 or 2")
    verdict.add_argument("--rerun", type=Path, metavar="FILE.json", help="write which cells to measure again")
    verdict.add_argument("--confirm", type=Path, metavar="FILE.json", help="decide on the cells of that list, from fresh launches alone")
    output = parser.add_argument_group("output")
    shown = output.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="the comparison as JSON instead of a table")
    shown.add_argument("--markdown", action="store_true", help="as Markdown")
    output.add_argument("--all", action="store_true", help="the table lists every cell")
    output.add_argument("--export", nargs=2, action="append", default=[], metavar=("FORMAT", "FILE"), help=f"FORMAT: {', '.join(FORMATS)}")
    history = parser.add_argument_group("history")
    history.add_argument("--history", type=Path, metavar="FOLDER", help="campaigns of the past")
    history.add_argument("--last", type=count, default=DEFAULT_LAST, metavar="N", help=f"so many of them are the baseline (default: {DEFAULT_LAST})")
    action = history.add_mutually_exclusive_group()
    action.add_argument("--append", type=Path, metavar="RESULTS", help="add the launches of a file or folder as one campaign")
    action.add_argument("--list", type=Path, nargs="?", const=True, metavar="RESULTS", help="say what is in it, or which campaigns hold launches of RESULTS")
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
    if options.noise:
        if len(given) != 1 or options.history or options.manages or options.export or options.rerun or options.confirm or options.markdown:
            raise UsageError("--noise: goes with one CAMPAIGN, --margin, --all and --json")
        for name in ("metric", "factor", "allow_env_diff", "paired", "strict", "warn_only", "last"):
            if getattr(options, name) != parser().get_default(name):
                raise UsageError(f"--{name.replace('_', '-')} with --noise: changes nothing in it; leave it out")
        return
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
    shows = options.rerun or options.json or options.markdown  # of a comparison
    compares = len(given) == 1 and not options.manages
    exports = not (given or options.manages or shows) and [name for name, _ in options.export] == ["otava"]
    if not (compares or exports or (options.manages and not (given or options.export or shows))):
        raise UsageError("with --history FOLDER goes one CANDIDATE, or --append, --list, --prune or --export otava alone")
    options.manages = not compares
    options.candidate = given[0] if compares else None


PROGRAM = "dlmb_compare"
PROBABLY_A_SHARE = 0.001  # as a margin: no machine repeats itself that well


class NoBaselineError(program.ProgramError):
    """The history has nothing that the candidate could be compared with."""

    exit_code = NOT_COMPARABLE


def baseline_of(options: argparse.Namespace, candidate: Campaign, metric: Metric, declared: Declared) -> Campaign:
    if options.history is None:
        return read_campaign("baseline", options.baseline, metric)
    found = history.baseline_for(candidate, options.history, options.last, metric, declared)
    if found is None:
        keys = ", ".join(sorted({launch.env_key for launch in candidate.launches}))
        raise NoBaselineError(f"{options.history}: no other campaign of this environment ({keys}); --append adds the first")
    return found


def complain(kind: str, text: object) -> None:
    say(PROGRAM, kind, text)


def compared(options: argparse.Namespace) -> Comparison:
    metric = METRICS[options.metric]
    declared = Declared(frozenset(options.factor), frozenset(options.allow_env_diff))
    candidate = read_campaign("candidate", options.candidate, metric)
    baseline = baseline_of(options, candidate, metric, declared)
    for campaign in (baseline, candidate):
        for warning, _ in each_kind_once((text, text) for text in campaign.warnings):
            complain("note", f"a launch of the {campaign.name} warns: {warning}")
    for difference in facts_that_differ(baseline, candidate):
        complain("note", difference)
    if options.margin is not None and options.margin < PROBABLY_A_SHARE:
        complain("note", f"--margin {100 * options.margin:g} is {100 * options.margin:g} %; for {1e4 * options.margin:g} % write {1e4 * options.margin:g}")
    only = cells_to_confirm(rerun.read(options.confirm), baseline, candidate, metric) if options.confirm else None
    rules = Rules(declared, options.margin, options.paired, history=options.history is not None)
    comparison = compare(baseline, candidate, metric, rules, only)
    for remark in [*baseline.remarks, *candidate.remarks, *comparison.remarks]:
        complain("note", remark)
    return comparison


def shown(options: argparse.Namespace, comparison: Comparison, code: int) -> str:
    if options.json:
        return dumps(document(comparison, code))
    return tables.markdown(comparison) if options.markdown else tables.terminal(comparison, options.all)


def write(options: argparse.Namespace, comparison: Comparison, code: int) -> bool:
    """Tries to write every output, also after a failure. Returns whether all were written."""
    outputs = [(lambda path, writer=FORMATS[name]: writer(comparison, code, path), Path(file)) for name, file in options.export]
    if options.rerun:
        again = dumps(to_measure_again(comparison))
        outputs.append((lambda path: write_output(path, again), options.rerun))
    written = True
    for put, path in outputs:
        try:
            put(path)
        except OutputError as error:
            complain("error", error)
            written = False
        except BrokenPipeError:
            raise
        except OSError as error:  # of a step's summary
            complain("error", f"{error.filename or path}: {error.strerror}; give a path that can be written")
            written = False
    return written


def manage(options: argparse.Namespace) -> int:
    try:
        for line in history.run(options):
            print(line)
        return NO_REGRESSION
    except OSError as error:
        complain("error", f"{error.filename or options.history}: {error.strerror}; name a folder that can be written")
        return NOT_WRITTEN


def run(arguments: list[str] | None) -> int:
    options = parse(arguments)
    if options.noise:
        described = noise.document(read_campaign("campaign", options.campaigns[0], METRICS["time"]), options.margin)
        print(dumps(described) if options.json else noise.text(described, options.margin, options.all), end="", flush=True)
        return NO_REGRESSION
    if options.manages:
        return manage(options)
    comparison = compared(options)
    found = causes(comparison, options.strict)
    code = exit_code(found, options.warn_only)
    beside = any(is_standard_output(path) for path in [*(Path(file) for _, file in options.export), *filter(None, [options.rerun])])
    print(shown(options, comparison, code), end="", flush=True, file=sys.stderr if beside else sys.stdout)
    if not write(options, comparison, code):
        found.add(NOT_WRITTEN)
    return exit_code(found, options.warn_only)


def main(arguments: list[str] | None = None) -> int:
    return program.run(PROGRAM, lambda: run(arguments))
