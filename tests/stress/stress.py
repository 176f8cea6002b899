# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Kills, stops and full disks at random moments of real launches: is a finished cell lost, is one there twice, does anything hang?

Each trial starts a launch, strikes once, waits for its end, looks at the results, and lets --resume (or the same dlmb_sweep)
complete them. The last lines are a table of counts:

finished    cells that had been reported before the strike, or that were in the file when the disk was full
lost        cells whose line was in the file, or whose row was printed, and that are not in the file any more
twice       cells that one launch ended more than once
hangs       launches of which a process was left two minutes after the strike or the last cell
incomplete  launches after which --resume did not leave every cell once
unexpected  exit codes, a stopped rank that nobody named, tracebacks

exit 0: only zeros in the last five columns, else 1
"""

import argparse
import collections
import itertools
import pathlib
import random
import shutil
import signal
import sys
import tempfile

import launches
import trials

from dlmb_results import program

COLUMNS = ("trials", "finished", "lost", "twice", "hangs", "incomplete", "unexpected")


def parse():
    parser = argparse.ArgumentParser(prog="tests/stress/run [FOLDER_OF_PROGRAMS]", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, metavar="N", help="trials (default: 100)")
    parser.add_argument("--seed", type=int, help="of all moments and choices (default: drawn and printed)")
    parser.add_argument("--only", type=int, metavar="N", help="trial N of this seed alone")
    parser.add_argument("--kind", default="", metavar="TEXT", help="only trials whose line holds TEXT, for instance SIGSTOP")
    return parser.parse_args()


def table(counts):
    """In Markdown: a row per victim, and their sum."""
    everything = sum(counts.values(), collections.Counter())
    rows = [("strike", *COLUMNS)]
    for name, count in [*counts.items(), ("all", everything)]:
        rows.append((name, *(str(count[column]) for column in COLUMNS)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, ("-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])))
    for row in rows:
        print("| " + " | ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]) + " |")


def main():
    options = parse()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    if not trials.can_mount():
        print("no tmpfs can be mounted here: a full disk is a limit on the size of files")
    print(f"{options.count} trials, seed {seed}, launcher {launches.launcher().path}", flush=True)
    numbers = itertools.count() if options.only is None else [options.only]
    chosen = ((number, kind) for number in numbers if options.kind in (kind := trials.KINDS[number % len(trials.KINDS)]).name)
    counts = {}
    bad = False
    for number, kind in itertools.islice(chosen, options.count):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dlmb-stress-"))
        outcome = trials.run(kind, random.Random(f"{seed}/{number}"), folder)
        count = counts.setdefault(kind.row, collections.Counter())
        count.update(trials=1, finished=outcome.finished, lost=len(outcome.lost), twice=len(outcome.twice), hangs=int(outcome.hung),
                     incomplete=int(bool(outcome.incomplete)), unexpected=len(outcome.unexpected))
        print(f"{number:3d} {kind.name}: {outcome.story}", flush=True)
        problems = outcome.problems()
        for problem in problems:
            print(f"    {problem}", flush=True)
        if problems:
            bad = True
            print(f"    {folder} holds its files", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    table(counts)
    return 1 if bad else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what runs is ended as well
    sys.exit(program.run("tests/stress/run", main))
