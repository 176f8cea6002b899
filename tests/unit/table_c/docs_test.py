# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of launch/examples, and those of its page, build against the installed package and do what the page says.

usage: docs_test.py BUILD_FOLDER MPICC MPIEXEC [PYTHON]     PYTHON: one that has mpi4py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD, MPICC, MPIEXEC = sys.argv[1:4]
PYTHON = sys.argv[4] if len(sys.argv) > 4 else ""
PAGE = (ROOT / "launch" / "examples" / "README.md").read_text(encoding="utf-8")
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

    def install(self) -> None:
        done = run("cmake", "--install", BUILD, "--component", "tuning", "--prefix", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.library = next(self.folder.rglob("libdlmb_tuning.so")).parent
        self.environment = {**os.environ, "LD_LIBRARY_PATH": f"{self.library}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                            "PKG_CONFIG_PATH": str(self.library / "pkgconfig"), "PYTHONPATH": str(ROOT / "results-schema")}

    def check_example(self, *program: object, whole: bool = True) -> None:
        """It takes the ring where the table says so, with right sums, and MPI without the table."""
        for ranks, table, used in ((4, TABLE, "ring"), (2, TABLE, "default"), (4, self.folder / "none.json", "default"))[: 3 if whole else 1]:
            with self.subTest(ranks=ranks, table=table.name):
                done = run(MPIEXEC, "-n", ranks, *program, table, env=self.environment)
                self.assertEqual((done.returncode, done.stdout), (0, f"64 floats: default\n65536 floats: {used}\n"), done.stderr)
                self.assertEqual("the table cannot be used" in done.stderr, not table.exists(), done.stderr)

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_the_example_in_c_runs_as_pkg_config_builds_it(self) -> None:
        self.install()
        flags = run("pkg-config", "--cflags", "--libs", "dlmb_tuning", env=self.environment).stdout.split()
        source, program = ROOT / "launch" / "examples" / "tuned_allreduce.c", self.folder / "tuned_allreduce"
        done = run(MPICC, "-std=c99", "-Wall", "-Wextra", "-Werror", source, "-o", program, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_example(program)

    def test_the_example_in_c_runs_as_cmake_builds_it(self) -> None:
        self.install()
        build = self.folder / "build"
        for command in (("-G", "Ninja", "-S", ROOT / "launch" / "examples", "-B", build, f"-DCMAKE_PREFIX_PATH={self.folder}", f"-DMPI_C_COMPILER={MPICC}"),
                        ("--build", build)):
            done = run("cmake", *command)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_example(build / "tuned_allreduce", whole=False)

    @unittest.skipUnless(PYTHON, "no python3 here has mpi4py")
    def test_the_example_in_python_does_the_same(self) -> None:
        self.install()
        self.check_example(PYTHON, ROOT / "launch" / "examples" / "tuned_allreduce.py")

    def test_the_lines_of_c_print_the_method(self) -> None:
        self.install()
        source, program = self.folder / "lines.c", self.folder / "lines"
        source.write_text("#include <dlmb_tuning.h>\n#include <stdio.h>\nint main(int count, char** arguments) {\n"
                          "dlmb_tuning* table = NULL;\nif (count != 2 || dlmb_tuning_open(arguments[1], NULL, &table) != 0) return 1;\n"
                          f"{{ {block('c')} }}\ndlmb_tuning_close(table);\nreturn 0;\n}}\n", encoding="utf-8")
        done = run(MPICC, source, "-o", program, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{self.folder / 'include'}", f"-L{self.library}",
                   "-ldlmb_tuning")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(program, TABLE, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
        self.assertEqual(done.stdout, "blocking\n", done.stderr)

    def test_the_lines_of_python_print_the_ring(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "results-schema")}
        done = run(sys.executable, "-c", block("python"), cwd=ROOT, env=environment)
        self.assertEqual(done.stdout, "ring\n", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
