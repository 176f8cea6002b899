# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Each rule of the layering check fails on a file that breaks it, and a file that keeps all of them passes."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import check_layering

HEADERS = (
    "common/base/units.hpp",
    "common/formats/plan/plan.hpp",
    "common/backend_kit/backend.hpp",
    "common/backends/mpi/calls.hpp",
    "common/bootstrap/mpi/mpi_bootstrap.hpp",
    "common/measure/runner.hpp",
    "common/formats/record/record.hpp",
    "common/base/command_line/subcommands.hpp",
    "common/memory/host_space.hpp",
    "common/tools/plan/trace.hpp",
    "common/tools/tune/export.hpp",
    "common/run/launch.hpp",
    "patterns/pattern.hpp",
    "patterns/moe/moe.hpp",
)


def include(header: str) -> str:
    return f'#include "{header}"\n'


MPI_BOOTSTRAP, OPTIONS, TUNE = include("common/bootstrap/mpi/mpi_bootstrap.hpp"), include("common/base/command_line/subcommands.hpp"), include("common/tools/tune/export.hpp")
BACKEND = include("common/backend_kit/backend.hpp")

ALLOWED = (
    ("common/formats/plan/a.cpp", include("common/base/units.hpp") + "#include <vector>\n"),
    ("common/run/a.cpp", include("common/formats/record/record.hpp") + include("patterns/pattern.hpp") + "#include <CLI/CLI.hpp>\n"),  # the top: all below it
    ("common/tools/tune/a.cpp", include("common/formats/record/record.hpp")),
    ("common/tools/tune/a.cpp", OPTIONS),
    ("common/run/a.cpp", MPI_BOOTSTRAP),
    ("common/backends/mpi/a.cpp", MPI_BOOTSTRAP),  # that of its own library
    ("common/backends/mpi/a.cpp", "#include <mpi.h>\n"),
    ("common/base/idle.hpp", "#pragma once\n#if defined(__x86_64__)\n#endif\n"),
    ("common/bootstrap/launch_guard.cpp", 'char* a = getenv("A");\n'),
    ("common/formats/plan/a.cpp", '// getenv, std::format\n/*\n#if 0\n*/ char const* a = "getenv";\n'),
    ("common/run/a.cpp", "print_error(STDERR_FILENO_text);\n"),
)
REFUSED = (
    ("common/formats/plan/a.cpp", BACKEND, "must not include"),
    ("common/measure/a.cpp", include("common/run/launch.hpp"), "must not include"),
    ("patterns/x/a.cpp", BACKEND, "must not include"),
    ("patterns/x/a.cpp", include("patterns/moe/moe.hpp"), "another pattern"),
    ("common/backends/ucx/a.cpp", include("common/backends/mpi/calls.hpp"), "must not include"),
    ("common/measure/a.cpp", MPI_BOOTSTRAP, "must not include"),
    ("common/backends/ucx/a.cpp", MPI_BOOTSTRAP, "must not include"),
    *(("common/tools/tune/a.cpp", include(header), "must not include") for header in (
        "common/bootstrap/mpi/mpi_bootstrap.hpp", "common/memory/host_space.hpp", "common/backend_kit/backend.hpp", "common/backends/mpi/calls.hpp",
        "common/measure/runner.hpp", "common/run/launch.hpp", "patterns/pattern.hpp", "common/tools/plan/trace.hpp")),
    *((f"{path}/a.cpp", TUNE, "must not include common/tools/tune") for path in (
        "common/memory", "common/bootstrap", "common/backend_kit", "common/backends/ucx", "common/measure", "common/run", "patterns/x")),
    *(("common/formats/record/a.cpp", include(header), "must not include") for header in (
        "common/memory/host_space.hpp", "common/measure/runner.hpp", "common/tools/plan/trace.hpp", "common/base/command_line/subcommands.hpp")),
    *((f"{path}/a.cpp", OPTIONS, "must not include") for path in ("common/base", "common/backend_kit", "common/measure", "patterns/x")),
    ("common/backends/ucx/a.cpp", "#include <mpi.h>\n", "belongs to"),
    ("common/measure/a.cpp", "#include <ucp/api/ucp.h>\n", "belongs to"),
    ("common/base/a.cpp", "#include <gtest/gtest.h>\n", "belongs to tests"),
    ("common/formats/plan/a.cpp", "int a;\n#ifdef HAVE_MPI\n#endif\n", "a.cpp:2: conditional"),
    ("common/run/a.cpp", 'char* a = std::getenv("A");\n', "environment"),
    ("common/run/a.cpp", 'fmt::print(stderr, "{}", 1);\n', "print_error()"),
    ("common/run/a.cpp", "auto* const to = stderr;\n", "print_error()"),
    ("common/formats/plan/a.cpp", "#include <format>\n", "not in the compilers"),
    ("common/formats/plan/a.cpp", "auto a = std::views::iota(1);\n", "not in the compilers"),
    ("common/formats/plan/a.cpp", '#include "plan.hpp"\n', "repository root"),
    ("common/formats/plan/a.cpp", include("common/base/gone.hpp"), "does not exist"),
    ("common/formats/plan/a.hpp", "int a();\n", "pragma once"),
)


class LayeringTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for header in HEADERS:
            self.write(header, "#pragma once\n")

    def write(self, path: str, code: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)

    def findings(self, path: str, code: str) -> list[str]:
        self.write(path, code)
        return check_layering.check_tree(self.root)[1]

    def test_what_keeps_the_rules_passes(self) -> None:
        for path, code in ALLOWED:
            with self.subTest(path, code=code):
                self.assertEqual(self.findings(path, code), [])
                (self.root / path).unlink()

    def test_what_breaks_one_is_refused_with_its_line_and_rule(self) -> None:
        for path, code, message in REFUSED:
            with self.subTest(path, code=code):
                findings = self.findings(path, code)
                self.assertEqual(len(findings), 1, findings)
                self.assertTrue(findings[0].startswith(path + ":"), findings)
                self.assertIn(message, findings[0])
                (self.root / path).unlink()

    def test_an_empty_tree_is_no_success(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(check_layering.main([empty]), 1)


if __name__ == "__main__":
    unittest.main()
