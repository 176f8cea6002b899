# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""codespell over every text file of the project.

exit 0: no known misspelling, 1: some, 77: codespell is not installed
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import repository

# Tests of suggestions misspell on purpose.
MISSPELT_ON_PURPOSE = "coyp,linaer,sise"
# Names in code that are put together from words are not words.
NAMES = r"\b\w*[a-z][A-Z]\w*\b"


def main() -> int:
    if shutil.which("codespell") is None:
        print("skipped: codespell is not installed")
        return repository.SKIPPED
    names = [str(path) for path, _ in repository.text_files()]
    command = ["codespell", "--ignore-words-list", MISSPELT_ON_PURPOSE, "--ignore-regex", NAMES, *names]
    return 1 if subprocess.run(command, cwd=repository.ROOT, check=False).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
