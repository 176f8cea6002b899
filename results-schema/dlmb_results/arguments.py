# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""argparse as all programs use it: one line for a wrong command line, with the nearest names, and --version."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from dlmb_results import VERSION
from dlmb_results.program import UsageError


class Parser(argparse.ArgumentParser):
    """A wrong command line is a UsageError, instead of two lines and exit code 2."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)  # a later option could make an abbreviation mean another one
        self.add_argument("--version", action="version", version=f"%(prog)s {VERSION}", help="print the version and exit")

    def error(self, message: str) -> NoReturn:
        unknown = re.fullmatch(r"unrecognized arguments: (-[^\s=]+).*", message, re.DOTALL)
        if unknown:
            message = unknown_name("option", unknown.group(1), (name for name in self._option_string_actions if name.startswith("--")))
        raise UsageError(f"{message}; --help shows the usage")

    def print_help(self, file: Any = None) -> None:
        """argparse does not mind if nobody gets the text."""
        (file or sys.stdout).write(self.format_help())


def number(least: float, most: float) -> Callable[[str], float]:
    """The type of an argument; NaN is in no range."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from {least:g} to {most:g}")
        return value

    return read


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number above 0")
    return int(text)


def unknown_name(kind: str, unknown: str, known: Iterable[str]) -> str:
    """With at most three names: what the word abbreviates first, then by the number of changed letters. As common/base/error.cpp says it."""
    begins = len(unknown.lstrip("-")) >= 2
    nearest = sorted(known, key=lambda name: (not (begins and name.startswith(unknown)), distance(unknown, name)))[:3]
    return f"unknown {kind} '{unknown}'; " + (f"nearest: {', '.join(nearest)}" if nearest else "there is none")


def distance(a: str, b: str) -> int:
    """Levenshtein's."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1]
