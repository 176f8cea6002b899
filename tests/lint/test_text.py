# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The text rules notice what they are for. Paths are put together here so that this file itself keeps the rules."""

from __future__ import annotations

import unittest
from pathlib import Path

import text

LICENCE = f"// {text.SPDX}\n"


class TextTest(unittest.TestCase):
    def count(self, name: str, content: str) -> int:
        return len(text.check(Path(name), content))

    def test_a_clean_source_passes(self) -> None:
        self.assertEqual(self.count("a.cpp", LICENCE + "int a;\n"), 0)

    def test_a_machine_path_is_found(self) -> None:
        for folder in ("work", "home", "tmp"):
            self.assertEqual(self.count("a.md", f"see /{folder}/someone\n"), 1, folder)

    def test_system_folders_and_relative_paths_are_no_machine_paths(self) -> None:
        self.assertEqual(self.count("a.md", "/proc/self/status, build/tmp/x, a/home/b, https://x.org/home/y\n"), 0)

    def test_a_source_without_licence_line_is_found(self) -> None:
        self.assertEqual(self.count("a.cpp", "int a;\n"), 1)
        self.assertEqual(self.count("run", "#!/bin/sh\n"), 1)

    def test_untidy_line_ends_are_found(self) -> None:
        self.assertEqual(self.count("a.cpp", LICENCE + "int a; \n"), 1)
        self.assertEqual(self.count("a.cpp", LICENCE + "int a;"), 1)

    def test_a_program_that_opens_its_own_output_is_found(self) -> None:
        self.assertEqual(self.count("common/a.cpp", LICENCE + f"std::{'ofstream'} file(path);\n"), 1)
        self.assertEqual(self.count("launch/dlmb_launch/a.py", f"# {text.SPDX}\npath.{'write_text'}(x)\n"), 1)
        self.assertEqual(self.count("tests/a.cpp", LICENCE + f"std::{'ofstream'} file(path);\n"), 0)

    def test_programs_are_executable_and_nothing_else_is(self) -> None:
        for start, executable, findings in (("#!/bin/sh\n", True, 0), ("#!/bin/sh\n", False, 1), ("import os\n", True, 1), ("import os\n", False, 0)):
            self.assertEqual(len(text.check_mode(Path("a"), start, executable)), findings, (start, executable))

    def test_edits_of_the_module_path_are_found(self) -> None:
        for edit in (".insert(0, x)", "[:0] = x", ".append(x)", " += x"):
            self.assertEqual(self.count("a.md", f"sys.{'path'}{edit}\n"), 1, edit)
        self.assertEqual(self.count("a.md", "never by `sys.path`.\n"), 0)


if __name__ == "__main__":
    unittest.main()
