# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The command line: RESULTS... -o FOLDER."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dlmb_results.lines import ResultError

from dlmb_plotting.groups import grouped
from dlmb_plotting.results import read

EXIT_USAGE = 64
EXIT_UNAVAILABLE = 69
EXIT_OUTPUT = 74
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(EXIT_USAGE, f"dlmb_plot: error: {message}; --help shows the usage\n")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="dlmb_plot", description="Draws DLMB result files, two pictures per pattern.")
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="result files (JSON Lines)")
    parser.add_argument("-o", "--output", type=Path, default=Path("."), metavar="FOLDER", help="for pictures (default: here)")
    parser.add_argument("--format", choices=[suffix[1:] for suffix in PICTURE_SUFFIXES], default="png")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch of png pictures (default: 150)")
    return parser.parse_args(arguments)


def draw(options: argparse.Namespace) -> int:
    from dlmb_plotting import figures

    results = read(options.results)
    for remark in results.remarks:
        print(f"dlmb_plot: note: {remark}", file=sys.stderr)
    for warning in results.warnings:
        print(f"dlmb_plot: note: a launch warns: {warning}", file=sys.stderr)
    if not any(cell.ok for cell in results.cells):
        raise ResultError("no cell that ran in " + ", ".join(str(path) for path in options.results))
    options.output.mkdir(parents=True, exist_ok=True)
    for pattern, groups in grouped(results.cells).items():
        pictures = {
            "phases": figures.phase_figure(pattern, groups, results.warnings),
            "bandwidth": figures.bandwidth_figure(pattern, groups, results.warnings),
        }
        for name, figure in pictures.items():
            if figure is not None:
                path = options.output / f"{pattern}.{name}.{options.format}"
                figure.savefig(path, dpi=options.dpi)
                print(path)
    return 0


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        return draw(options)
    except ModuleNotFoundError as error:
        hint = "Debian package python3-matplotlib, or 'pip install matplotlib'"
        print(f"dlmb_plot: error: {error.name} is not installed for {sys.executable}: {hint}", file=sys.stderr)
        return EXIT_UNAVAILABLE
    except ResultError as error:
        print(f"dlmb_plot: error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except OSError as error:
        print(f"dlmb_plot: error: {error}", file=sys.stderr)
        return EXIT_OUTPUT
