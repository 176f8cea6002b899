# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small rules for every text file: no path of one machine, licence lines in sources, clean line ends, no edits of sys.path,
and the files that begin with #! are those that can be executed.

exit 0: all hold, 1: some do not; one line per finding: file:line: message
"""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import repository

# Folders of a person's or a project's machine. System folders (/usr, /proc, /sys, /dev) are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w./<>$}{*-])/(work|home|root|tmp|mnt|scratch|users|Users)/[\w.]")
# Packages are installed, or found by PYTHONPATH: launch/run-python for users, dlmb_add_python_test for tests.
PATH_EDIT = re.compile(r"\bsys\.path\s*(\[|\+?=|\.(append|insert|extend)\b)")
# Whoever opens a file to write it destroys a link or a device, or leaves a part of it after a kill.
OWN_WRITING = re.compile(r"\bstd::ofstream\b|\.write_(text|bytes)\(")
PRODUCT = ("common/", "patterns/", "benchmarks/", "launch/dlmb_launch/", "plotting/dlmb_plotting/", "results-schema/dlmb_")
SOURCES = repository.CPP | {".py", ".sh"}
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
GENERATED_OR_DATA = {".json", ".jsonl", ".svg", ".csv", ".txt"}


def needs_licence_line(path: Path, text: str) -> bool:
    return path.suffix in SOURCES or text.startswith("#!")


def check(path: Path, text: str) -> list[str]:
    findings = []
    if needs_licence_line(path, text) and SPDX not in "\n".join(text.splitlines()[:3]):
        findings.append(f"{path}:1: the licence line ({SPDX}) is missing")
    if text and not text.endswith("\n"):
        findings.append(f"{path}: no newline at the end")
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            findings.append(f"{path}:{number}: names a path of one machine")
        if line != line.rstrip() and path.suffix not in GENERATED_OR_DATA:
            findings.append(f"{path}:{number}: blanks at the end of the line")
        if "\t" in line and path.suffix in SOURCES:
            findings.append(f"{path}:{number}: a tab")
        if PATH_EDIT.search(line):
            findings.append(f"{path}:{number}: edits sys.path")
        if OWN_WRITING.search(line) and str(path).startswith(PRODUCT):
            findings.append(f"{path}:{number}: writes a file of its own accord; call write_output (common/base/output_file.hpp, dlmb_results/files.py)")
    return findings


def check_mode(path: Path, text: str, executable: bool) -> list[str]:
    if text.startswith("#!") == executable:
        return []
    return [f"{path}:1: " + ("executable, but no #!" if executable else "begins with #!, but is not executable")]


def main() -> int:
    texts = repository.text_files()
    findings = [finding for path, text in texts for finding in check(path, text)]
    for path, text in texts:
        findings += check_mode(path, text, bool((repository.ROOT / path).stat().st_mode & stat.S_IXUSR))
    print(*findings, sep="\n")
    print(f"text: {len(texts)} files, {len(findings)} findings")
    return 1 if findings or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
