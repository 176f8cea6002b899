# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One version: project() in CMake, what every program answers to --version, the change log and the Python distribution.

usage: version.py PROJECT_VERSION [PROGRAM]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import repository


def main(arguments: list[str]) -> int:
    version = arguments[0]
    findings = []
    changes = (repository.ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## \[?([0-9][^\] ]*)", changes, re.MULTILINE)
    if newest is None or newest.group(1) != version:
        findings.append(f"CHANGELOG.md: its newest version is {newest and newest.group(1)}, project() says {version}")
    package = (repository.ROOT / "pyproject.toml").read_text()
    if f'version = "{version}"' not in package:
        findings.append(f"pyproject.toml: its version is not {version}")
    for program in [*arguments[1:], *sorted((repository.ROOT / "launch").glob("dlmb_*"))]:
        if Path(program).is_dir():  # the package of some of them
            continue
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=30)
        if answer.returncode == 69:  # a package that it needs is not here
            continue
        if answer.returncode != 0 or not re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.])", answer.stdout):
            findings.append(f"{program} --version: exit {answer.returncode}, says {answer.stdout!r}, not {version}")
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
