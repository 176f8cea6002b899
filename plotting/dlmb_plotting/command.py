# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The command line: [PLOT] FILE... -o OUTPUT."""

from __future__ import annotations

import argparse
import io
import re
import sys
import textwrap
from pathlib import Path

from dlmb_plotting.charts import Limits
from dlmb_plotting.inputs import Inputs, read_inputs
from dlmb_plotting.plots import MAKERS, plots
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.style import palettes as palettes_of
from dlmb_results import program
from dlmb_results.arguments import Parser, number, unknown_name
from dlmb_results.files import is_standard_output, write_output
from dlmb_results.lines import ResultError

PICTURE_FORMATS = ("png", "svg", "pdf")
IN_A_PICTURE = Limits(charts=12)
REPORT = "report"
FINDINGS = "findings"
COLUMNS = 100
ALL = "all"
FILES = "result files and plans (*.jsonl), tuning tables, comparisons (*.json), or folders of them"


def parser() -> Parser:
    names = "\n".join(f"  {name:<10} {purpose}" for name, (purpose, _) in MAKERS.items())
    made = Parser(prog="dlmb_plot", formatter_class=argparse.RawDescriptionHelpFormatter, usage="%(prog)s [PLOT] FILE... [-o OUTPUT]",
                  description=f"Draws what DLMB wrote.\n\nPLOT is one of\n{names}\n  {REPORT:<10} one HTML file with all of them\n  {FINDINGS:<10} what the report finds, as text\n"
                              f"  {ALL:<10} every picture that the files have something for (the default)")
    made.add_argument("files", nargs="+", type=Path, metavar="FILE", help=FILES)
    made.add_argument("-o", "--output", type=Path, metavar="OUTPUT", help="folder for pictures (default: here); file of the report (default: report.html)")
    made.add_argument("--format", choices=PICTURE_FORMATS, default="png")
    made.add_argument("--dpi", type=number(10, 2400), default=150, help="dots per inch of png pictures (default: 150)")
    machine = made.add_argument_group("the machine that timelines are simulated on")
    machine.add_argument("--latency-us", type=number(1e-9, 1e9), default=Machine().latency_us, metavar="US", help="of a message, microseconds (default: %(default)g)")
    machine.add_argument("--bandwidth-GBps", dest="bandwidth", type=number(1e-9, 1e9), default=Machine().bandwidth_gb_per_s, metavar="GBPS",
                         help="of a rank in one direction, 10^9 bytes per second (default: %(default)g)")
    return made


def parse(arguments: list[str] | None) -> tuple[str, argparse.Namespace]:
    arguments = sys.argv[1:] if arguments is None else arguments
    plot = ALL
    plots = (*MAKERS, REPORT, FINDINGS, ALL)
    if arguments and arguments[0] in plots:
        plot, arguments = arguments[0], arguments[1:]
    elif arguments and re.fullmatch("[a-z_]+", arguments[0]) and not Path(arguments[0]).exists():  # a word is no file's name
        raise ResultError(unknown_name("plot or file", arguments[0], plots))
    return plot, parser().parse_intermixed_args(arguments)


def say(kind: str, text: str) -> None:
    program.say("dlmb_plot", kind, text)


def draw(plot: str, options: argparse.Namespace) -> int:
    inputs = read_inputs(options.files)
    for remark in inputs.results.remarks:
        say("note", remark)
    for warning, count in inputs.results.warnings():
        say("note", f"{count} launch{'es warn' if count > 1 else ' warns'}: {warning}")
    machine = Machine(options.latency_us, options.bandwidth)
    if plot == FINDINGS:
        write_output(options.output or Path("-"), findings_text(inputs))
        return 0
    if plot == REPORT:
        from dlmb_plotting.report.page import write

        path = write(inputs, machine, options.output or Path("report.html"))
        if not is_standard_output(path):
            print(path)
        return 0
    draw_pictures(inputs, machine, plot, options)
    return 0


def findings_text(inputs: Inputs) -> str:
    """The sentences of the report, wrapped for a terminal."""
    from dlmb_plotting.findings import findings, how_sure

    def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
        return textwrap.wrap(text, COLUMNS, initial_indent=first, subsequent_indent=rest)

    found = findings(inputs)
    if not found:
        raise ResultError("the files hold nothing that was measured; give result files, tuning tables or comparisons")
    parts: list[str] = []
    for finding in found:
        parts += [finding.title, *wrapped(finding.summary)]
        for where, text in finding.lines:
            parts += wrapped(f"{where}: {text}" if where else text, "  - ", "    ")
        parts.append("")
    return "\n".join([*parts, *wrapped(how_sure(inputs.results))]) + "\n"


def draw_pictures(inputs: Inputs, machine: Machine, plot: str, options: argparse.Namespace) -> None:
    from dlmb_plotting.pictures import picture

    only = None if plot == ALL else plot
    drawn = plots(inputs, machine, IN_A_PICTURE, only)
    if not drawn or not (inputs.plans or inputs.tables or inputs.comparisons or any(cell.ok for cell in inputs.results.cells)):
        what = "any plot" if only is None else f"the plot '{only}': {MAKERS[only][0]}"
        raise ResultError(f"nothing for {what}; no cell that ran, no two cells to set against each other, or another kind of file, in "
                          + ", ".join(map(str, options.files)))
    palettes = palettes_of(drawn)
    folder = options.output or Path(".")
    folder.mkdir(parents=True, exist_ok=True)
    for each in drawn:
        path = folder / f"{each.name}.{options.format}"
        drawn_as = io.BytesIO()
        picture(each, inputs.results.warnings(each.launches), palettes[each.palette]).savefig(drawn_as, dpi=round(options.dpi), format=options.format)
        write_output(path, drawn_as.getvalue())
        print(path)


def run(arguments: list[str] | None) -> int:
    plot, options = parse(arguments)
    try:
        return draw(plot, options)
    except ModuleNotFoundError as error:
        hint = f"Debian package python3-{error.name}, or 'pip install {error.name}'"
        say("error", f"{error.name} is not installed for {sys.executable}: {hint}")
        return program.UNAVAILABLE


def main(arguments: list[str] | None = None) -> int:
    return program.run("dlmb_plot", lambda: run(arguments))
