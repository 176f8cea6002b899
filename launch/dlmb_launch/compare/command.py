# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_compare: reads two campaigns, compares, writes, and returns the verdict as its exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dlmb_launch.compare import confirmation, exit_codes, markdown, terminal
from dlmb_launch.compare.campaign import Campaign
from dlmb_launch.compare.checks import Declared, UsageError, facts_that_differ
from dlmb_launch.compare.comparison import Comparison, Rules, compare
from dlmb_launch.compare.document import document, dumps
from dlmb_launch.compare.exports.formats import FORMATS
from dlmb_launch.compare.metrics import METRICS, Metric
from dlmb_launch.compare.options import parse
from dlmb_launch.compare.reading import read_campaign
from dlmb_launch.history import command as history
from dlmb_results import program
from dlmb_results.lines import ResultError, each_kind_once
from dlmb_results.output import OutputError, is_standard_output, write_output
from dlmb_results.program import say

PROGRAM = "dlmb_compare"
PROBABLY_A_SHARE = 0.001  # as a margin: no machine repeats itself that well


class NoBaselineError(Exception):
    """The history has nothing that the candidate could be compared with."""


def both_sides(options: argparse.Namespace, metric: Metric, declared: Declared) -> tuple[Campaign, Campaign]:
    candidate = read_campaign("candidate", options.candidate, metric)
    if options.history is not None:
        return baseline_from_history(options, candidate, metric, declared), candidate
    return read_campaign("baseline", options.baseline, metric), candidate


def baseline_from_history(options: argparse.Namespace, candidate: Campaign, metric: Metric, declared: Declared) -> Campaign:
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
    baseline, candidate = both_sides(options, metric, declared)
    for campaign in (baseline, candidate):
        for warning, _ in each_kind_once((text, text) for text in campaign.warnings):
            complain("note", f"a launch of the {campaign.name} warns: {warning}")
    for difference in facts_that_differ(baseline, candidate):
        complain("note", difference)
    if options.margin is not None and options.margin < PROBABLY_A_SHARE:
        complain("note", f"--margin {100 * options.margin:g} is {100 * options.margin:g} %; for {1e4 * options.margin:g} % write {1e4 * options.margin:g}")
    only = None
    if options.confirm:
        request = confirmation.read_request(options.confirm)
        request.refuse_stale(baseline, candidate)
        request.refuse_missing(baseline, candidate)
        only = request.cells
    rules = Rules(declared, options.margin, options.paired, history=options.history is not None)
    comparison = compare(baseline, candidate, metric, rules, only)
    for remark in [*baseline.remarks, *candidate.remarks, *comparison.remarks]:
        complain("note", remark)
    return comparison


def shown(options: argparse.Namespace, comparison: Comparison, code: int) -> str:
    if options.json:
        return dumps(document(comparison, code))
    return markdown.text(comparison) if options.markdown else terminal.text(comparison, options.all)


def write(options: argparse.Namespace, comparison: Comparison, code: int) -> bool:
    """Tries to write every output, also after a failure. Returns whether all were written."""
    outputs = [(lambda path, writer=FORMATS[name]: writer(comparison, code, path), Path(file)) for name, file in options.export]
    if options.rerun:
        rerun = dumps(confirmation.rerun(comparison))
        outputs.append((lambda path: write_output(path, rerun), options.rerun))
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
        return exit_codes.NO_REGRESSION
    except OSError as error:
        complain("error", f"{error.filename or options.history}: {error.strerror}; name a folder that can be written")
        return exit_codes.NOT_WRITTEN


def run(arguments: list[str] | None) -> int:
    options = parse(arguments)
    if options.manages:
        return manage(options)
    comparison = compared(options)
    found = exit_codes.causes(comparison, options.strict)
    code = exit_codes.exit_code(found, options.warn_only)
    beside = any(is_standard_output(path) for path in [*(Path(file) for _, file in options.export), *filter(None, [options.rerun])])
    print(shown(options, comparison, code), end="", flush=True, file=sys.stderr if beside else sys.stdout)
    if not write(options, comparison, code):
        found.add(exit_codes.NOT_WRITTEN)
    return exit_codes.exit_code(found, options.warn_only)


def main(arguments: list[str] | None = None) -> int:
    codes = {ResultError: exit_codes.USAGE, UsageError: exit_codes.USAGE, NoBaselineError: exit_codes.NOT_COMPARABLE}
    return program.run(PROGRAM, lambda: run(arguments), codes)
