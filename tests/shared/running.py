# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A folder of a test's own, the main() of a command run here without starting the command, and files held against their schemas."""

from __future__ import annotations

import contextlib
import functools
import io
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path


SCHEMAS = Path(__file__).resolve().parents[2] / "results-schema"


class WithFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


def run_main(main: Callable[[list[str]], int], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and error output."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = main([str(argument) for argument in arguments])
    return code, output.getvalue(), errors.getvalue()


@functools.cache
def python_with(module: str) -> str:
    """NumPy and jsonschema may be packages of different installations; empty: none has it."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    return ""


def validated(*arguments: object) -> subprocess.CompletedProcess[str]:
    """By results-schema/validate.py."""
    python = python_with("jsonschema")
    if not python:
        raise unittest.SkipTest("no python3 here has jsonschema")
    return subprocess.run([python, SCHEMAS / "validate.py", *map(str, arguments)], capture_output=True, text=True, check=False)
