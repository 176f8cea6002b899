# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""argparse as all programs use it."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """fault: what is raised for a wrong command line, instead of two lines and exit code 2."""

    def __init__(self, fault: type[Exception], **settings: Any) -> None:
        super().__init__(**settings)
        self._fault = fault

    def error(self, message: str) -> NoReturn:
        raise self._fault(f"{message}; --help shows the usage")

    def print_help(self, file: Any = None) -> None:
        """argparse does not mind if nobody gets the text."""
        (file or sys.stdout).write(self.format_help())
