# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tools are linked from formats and base alone, and load no library of a transport; programs that only measure load none for archives.

usage: test_tools.py BUILD MEASURING TOOL...    BUILD: a build folder of ninja, MEASURING: a program that reads no plans
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

BUILD, MEASURING, PROGRAMS = sys.argv[1], sys.argv[2], [Path(path) for path in sys.argv[3:]]
CORE = re.compile(r"libdlmb_(memory|bootstrap\w*|backend(?!_names)\w*|block_codec|host_reduce|environment|measure|options|run|launcher|replayed|tuning_chooser|patterns?\w*|all_patterns)\.a")
TRANSPORT = re.compile(r"lib(mpi|open-rte|ucp|uct|ucs|ucc|nccl|cuda|cudart)[.\w-]*\.so")


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Tools(unittest.TestCase):
    def test_no_library_of_the_core_is_linked(self) -> None:
        if shutil.which("ninja") is None or not (Path(BUILD) / "build.ninja").is_file():
            self.skipTest("the build is not one of ninja")
        for program in PROGRAMS:
            command = output_of("ninja", "-C", BUILD, "-t", "commands", "-s", str(program.relative_to(BUILD)))
            self.assertIn("libdlmb_base.a", command, program)
            self.assertEqual(sorted({match.group() for match in CORE.finditer(command)}), [], program)

    def test_no_library_of_a_transport_is_loaded(self) -> None:
        for program in PROGRAMS:
            self.assertEqual(sorted({match.group() for match in TRANSPORT.finditer(output_of("ldd", str(program)))}), [], program)

    def test_a_program_that_reads_no_plans_does_not_load_what_unpacks_them(self) -> None:
        self.assertNotIn("libarchive", output_of("ldd", MEASURING))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
