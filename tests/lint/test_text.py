# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The text rules notice what they are for. Paths are put together here so that this file itself keeps the rules."""

from __future__ import annotations

import unittest
from pathlib import Path

import text

LICENCE = f"// {text.SPDX}\n"


WRITES = f"std::{'ofstream'} file(path);\n"  # a program that opens its own output
FINDINGS = (
    ("a.cpp", LICENCE + "int a;\n", 0),
    *(("a.md", f"see /{folder}/someone\n", 1) for folder in ("work", "home", "tmp")),
    ("a.md", "/proc/self/status, build/tmp/x, a/home/b, https://x.org/home/y\n", 0),
    ("a.cpp", "int a;\n", 1),
    ("run", "#!/bin/sh\n", 1),
    ("a.cpp", LICENCE + "int a; \n", 1),
    ("a.cpp", LICENCE + "int a;", 1),
    ("common/a.cpp", LICENCE + WRITES, 1),
    ("launch/dlmb_launch/a.py", f"# {text.SPDX}\npath.{'write_text'}(x)\n", 1),
    ("tests/a.cpp", LICENCE + WRITES, 0),
    *(("a.md", f"sys.{'path'}{edit}\n", 1) for edit in (".insert(0, x)", "[:0] = x", ".append(x)", " += x")),
    ("a.md", "never by `sys.path`.\n", 0),
)


class TextTest(unittest.TestCase):
    def test_each_rule_finds_what_breaks_it_and_nothing_else(self) -> None:
        for name, content, findings in FINDINGS:
            self.assertEqual(len(text.check(Path(name), content)), findings, (name, content))

    def test_programs_are_executable_and_nothing_else_is(self) -> None:
        for start, executable, findings in (("#!/bin/sh\n", True, 0), ("#!/bin/sh\n", False, 1), ("import os\n", True, 1), ("import os\n", False, 0)):
            self.assertEqual(len(text.check_mode(Path("a"), start, executable)), findings, (start, executable))


if __name__ == "__main__":
    unittest.main()
