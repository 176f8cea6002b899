# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""shellcheck over every shell script of the project.

exit 0: nothing found, 1: something found, 77: shellcheck is not installed
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import repository

SHELL = re.compile(r"#!.*\b(ba)?sh\b")


def main() -> int:
    if shutil.which("shellcheck") is None:
        print("skipped: shellcheck is not installed")
        return repository.SKIPPED
    scripts = [str(path) for path, text in repository.text_files() if path.suffix == ".sh" or SHELL.match(text)]
    command = ["shellcheck", "--external-sources", "--severity", "warning", *scripts]
    return 1 if not scripts or subprocess.run(command, cwd=repository.ROOT, check=False).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
