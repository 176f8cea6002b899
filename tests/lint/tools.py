# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A tool of others over the files that it is for.

usage: tools.py codespell|shellcheck     exit 0: nothing found, 1: something found, 77: the tool is not installed
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import repository

# Tests of suggestions misspell on purpose. Names in code that are put together from words are not words.
CODESPELL = ("codespell", "--ignore-words-list", "coyp,linaer,sise", "--ignore-regex", r"\b\w*[a-z][A-Z]\w*\b")
SHELLCHECK = ("shellcheck", "--external-sources", "--severity", "warning")
SHELL = re.compile(r"#!.*\b(ba)?sh\b")


def main(tool: str) -> int:
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed")
        return repository.SKIPPED
    texts = repository.text_files()
    command = CODESPELL
    if tool == "shellcheck":
        command = SHELLCHECK
        texts = [(path, text) for path, text in texts if path.suffix == ".sh" or SHELL.match(text)]
    names = [str(path) for path, _ in texts]
    return 1 if not names or subprocess.run([*command, *names], cwd=repository.ROOT, check=False).returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
