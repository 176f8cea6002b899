# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of docs/tuning.md, launch/examples/tuned_allreduce.c among them, build against the installed package and do what
the page says.

usage: docs_test.py BUILD_FOLDER MPICC MPIEXEC
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD, MPICC, MPIEXEC = sys.argv[1:4]
PAGE = (ROOT / "docs" / "tuning.md").read_text(encoding="utf-8")
TABLE = ROOT / "results-schema" / "examples" / "tuning-table.json"


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def run(*command: object, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)


class Page(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def built_runtime(self) -> Path:
        done = run("cmake", "--install", BUILD, "--component", "tuning", "--prefix", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.library = next(self.folder.rglob("libdlmb_tuning.so")).parent
        source, program = ROOT / "launch" / "examples" / "tuned_allreduce.c", self.folder / "tuned_allreduce"
        self.flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{self.folder / 'include'}", f"-L{self.library}", "-ldlmb_tuning"]
        done = run(MPICC, source, "-o", program, *self.flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_runtime(self, ranks: int, table: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{self.library}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        return run(MPIEXEC, "-n", ranks, self.program, table, env=environment)

    def test_the_runtime_takes_the_ring_where_the_table_says_so(self) -> None:
        self.program = self.built_runtime()
        done = self.run_runtime(4, TABLE)
        self.assertEqual((done.returncode, done.stdout.split("\n")[:3]), (0, ["64 floats: default", "65536 floats: ring", "262144 floats: default"]), done.stderr)
        done = self.run_runtime(2, TABLE)
        self.assertEqual((done.returncode, done.stdout.count("default")), (0, 3), done.stderr)
        done = self.run_runtime(4, self.folder / "none.json")
        self.assertEqual((done.returncode, done.stdout.count("default"), "code -1" in done.stderr), (0, 3, True), done.stderr)

    def test_the_lines_of_c_print_the_method(self) -> None:
        self.built_runtime()
        source, program = self.folder / "lines.c", self.folder / "lines"
        source.write_text("#include <dlmb_tuning.h>\n#include <stdio.h>\nint main(int count, char** arguments) {\n"
                          "dlmb_tuning* table = NULL;\nif (count != 2 || dlmb_tuning_open(arguments[1], NULL, &table) != 0) return 1;\n"
                          f"{{ {block('c')} }}\ndlmb_tuning_close(table);\nreturn 0;\n}}\n", encoding="utf-8")
        done = run(MPICC, source, "-o", program, *self.flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(program, TABLE, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
        self.assertEqual(done.stdout, "blocking\n", done.stderr)

    def test_the_lines_of_python_print_the_ring(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "results-schema")}
        done = run(sys.executable, "-c", block("python"), cwd=ROOT, env=environment)
        self.assertEqual(done.stdout, "ring\n", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
