# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_guidelines RESULTS...: which measured collectives are slower than other calls that do the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlmb_launch.guidelines.measured import Measured
from dlmb_launch.guidelines.rules import TimeRange, Violation, check
from dlmb_results import program
from dlmb_results.arguments import Parser, number

PROGRAM = "dlmb_guidelines"
OK, VIOLATIONS = 0, 1
EPILOG = "exit codes: 0 no certain violation, 1 a certain violation, 64 bad usage or input, 69 nothing can be compared, 70 a fault of the program, 74 cannot write, 130 Ctrl-C"


def parser() -> Parser:
    made = Parser(prog=PROGRAM, description="Finds measured collectives that other calls would be faster than.", epilog=EPILOG)
    made.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="result files of dlmb_collective or dlmb_convert, or tables with the columns of the data of PICO")
    made.add_argument("--min-excess", type=number(0, 1e6), default=5.0, metavar="PERCENT", help="list calls slower by more than so many percent (default 5); certain ones are so at the near ends of their intervals over launches")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def body() -> int:
    options = parser().parse_args()
    measured = Measured()
    for path in options.results:
        measured.read(path)
    for remark in measured.remarks:
        program.say(PROGRAM, "note", remark)
    calls = measured.calls()
    checks, violations = check(calls, options.min_excess / 100)
    sure = sum(violation.known for violation in violations)
    if options.json:
        print(json.dumps(document(measured, checks, options.min_excess, violations), indent=2))
    else:
        count = sum(len(sizes) for collectives in calls.values() for sizes in collectives.values())
        possible = "; certainty needs six launches of both calls" if sure < len(violations) else ""
        print(f"{measured.used} measurements of {count} calls, {measured.left_out} left out; {checks} comparisons; {len(violations)} violations above "
              f"{options.min_excess:g} %, of which {sure} are certain{possible}")
        for setting in dict.fromkeys(violation.setting for violation in violations):  # in the order of their worst one
            print(f"\n{setting}", *(line(each) for each in violations if each.setting == setting), sep="\n")
    if checks == 0:
        program.say(PROGRAM, "error", "no two of these measurements are of one setting and can be compared; measure several sizes, or several operations, in one launch")
        return program.UNAVAILABLE
    return VIOLATIONS if sure else OK


def line(violation: Violation) -> str:
    interval = f"[{100 * violation.excess_low:.0f}, {100 * violation.excess_high:.0f}]" if violation.known else "[possible: too few launches]"
    return (f"  {violation.guideline:<46} {violation.bytes:>10} B {violation.us.time:>12.3f} us against {violation.mock_us.time:>12.3f} us ({violation.mock_bytes} B)  "
            f"slower by {100 * violation.excess:.0f} % {interval}")


def document(measured: Measured, checks: int, least_percent: float, violations: list[Violation]) -> dict[str, Any]:
    def shown(us: TimeRange) -> dict[str, Any]:
        return {"time": us.time, "interval": [us.low, us.high] if us.known else None}

    return {
        "schema": "dlmb.guidelines/1.0", "measurements": measured.used, "left_out": measured.left_out, "comparisons": checks, "min_excess": least_percent / 100,
        "violations": [{"guideline": each.guideline, "setting": each.setting, "collective": each.collective, "bytes": each.bytes,
                        "mock_bytes": each.mock_bytes, "us": shown(each.us), "mock_us": shown(each.mock_us), "excess": each.excess,
                        "excess_interval": [each.excess_low, each.excess_high] if each.known else None} for each in violations],
    }


def main() -> int:
    return program.run(PROGRAM, body)
