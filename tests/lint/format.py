# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every C++ file is as clang-format 14 writes it. Other major versions lay out code differently, so they do not judge.

usage: format.py [--fix]      exit 0: nothing to change, 1: some files differ, 77: no clang-format 14
"""

from __future__ import annotations

import re
import subprocess
import sys

import repository

MAJOR = 14


def find_tool() -> str | None:
    for name in (f"clang-format-{MAJOR}", "clang-format"):
        try:
            version = subprocess.check_output([name, "--version"], text=True)
        except OSError:
            continue
        if re.search(rf"version {MAJOR}\.", version):
            return name
    return None


def main(arguments: list[str]) -> int:
    tool = find_tool()
    if tool is None:
        print(f"skipped: clang-format {MAJOR} is not installed")
        return repository.SKIPPED
    sources = [str(path) for path in repository.files() if path.suffix in repository.CPP]
    mode = ["-i"] if arguments == ["--fix"] else ["--dry-run", "-Werror"]
    return 1 if subprocess.run([tool, *mode, *sources], cwd=repository.ROOT, check=False).returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
