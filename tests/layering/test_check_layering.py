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
    "common/run/driver.hpp",
    "patterns/pattern.hpp",
    "patterns/moe/moe.hpp",
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

    def assert_refused(self, path: str, code: str, message: str) -> None:
        findings = self.findings(path, code)
        self.assertEqual(len(findings), 1, findings)
        self.assertTrue(findings[0].startswith(path + ":"), findings)
        self.assertIn(message, findings[0])

    def test_a_tree_that_keeps_the_rules_passes(self) -> None:
        self.assertEqual(self.findings("common/formats/plan/a.cpp", '#include "common/base/units.hpp"\n#include <vector>\n'), [])

    def test_the_top_may_include_everything_below(self) -> None:
        code = '#include "common/formats/record/record.hpp"\n#include "patterns/pattern.hpp"\n#include <CLI/CLI.hpp>\n'
        self.assertEqual(self.findings("common/run/a.cpp", code), [])

    def test_a_lower_layer_must_not_include_a_higher_one(self) -> None:
        self.assert_refused("common/formats/plan/a.cpp", '#include "common/backend_kit/backend.hpp"\n', "must not include")
        self.assertEqual(len(self.findings("common/measure/a.cpp", '#include "common/run/driver.hpp"\n')), 2)

    def test_a_pattern_knows_no_backend_and_no_other_pattern(self) -> None:
        self.assert_refused("patterns/x/a.cpp", '#include "common/backend_kit/backend.hpp"\n', "must not include")
        self.assert_refused("patterns/x/a.cpp", '#include "patterns/moe/moe.hpp"\n', "another pattern")

    def test_a_tool_includes_nothing_of_the_core_no_pattern_and_no_other_tool(self) -> None:
        self.assertEqual(self.findings("common/tools/tune/a.cpp", '#include "common/formats/record/record.hpp"\n'), [])
        for header in ("common/bootstrap/mpi/mpi_bootstrap.hpp", "common/memory/host_space.hpp", "common/backend_kit/backend.hpp", "common/backends/mpi/calls.hpp",
                       "common/measure/runner.hpp", "common/run/driver.hpp", "patterns/pattern.hpp", "common/tools/plan/trace.hpp"):
            self.assert_refused("common/tools/tune/a.cpp", f'#include "{header}"\n', "must not include")

    def test_neither_the_core_nor_a_pattern_includes_a_tool(self) -> None:
        for path in ("common/memory", "common/bootstrap", "common/backend_kit", "common/backends/ucx", "common/measure", "common/run", "patterns/x"):
            self.assert_refused(f"{path}/a.cpp", '#include "common/tools/tune/export.hpp"\n', "must not include common/tools/tune")
            (self.root / path / "a.cpp").unlink()

    def test_a_format_includes_base_and_formats_only(self) -> None:
        for header in ("common/memory/host_space.hpp", "common/measure/runner.hpp", "common/tools/plan/trace.hpp", "common/base/command_line/subcommands.hpp"):
            self.assert_refused("common/formats/record/a.cpp", f'#include "{header}"\n', "must not include")

    def test_options_are_read_by_programs_alone(self) -> None:
        include = '#include "common/base/command_line/subcommands.hpp"\n'
        self.assertEqual(self.findings("common/tools/tune/a.cpp", include), [])
        (self.root / "common/tools/tune/a.cpp").unlink()
        for path in ("common/base", "common/backend_kit", "common/measure", "patterns/x"):
            self.assert_refused(f"{path}/a.cpp", include, "must not include")
            (self.root / path / "a.cpp").unlink()

    def test_a_backend_must_not_include_another_backend(self) -> None:
        self.assert_refused("common/backends/ucx/a.cpp", '#include "common/backends/mpi/calls.hpp"\n', "must not include")

    def test_only_the_application_names_a_bootstrap(self) -> None:
        include = '#include "common/bootstrap/mpi/mpi_bootstrap.hpp"\n'
        self.assertEqual(self.findings("common/run/a.cpp", include), [])
        self.assert_refused("common/measure/a.cpp", include, "must not include")

    def test_a_backend_knows_the_bootstrap_of_its_own_library_only(self) -> None:
        include = '#include "common/bootstrap/mpi/mpi_bootstrap.hpp"\n'
        self.assertEqual(self.findings("common/backends/mpi/a.cpp", include), [])
        self.assert_refused("common/backends/ucx/a.cpp", include, "must not include")

    def test_a_third_party_header_stays_in_its_folder(self) -> None:
        self.assertEqual(self.findings("common/backends/mpi/a.cpp", "#include <mpi.h>\n"), [])
        self.assert_refused("common/backends/ucx/a.cpp", "#include <mpi.h>\n", "belongs to")

    def test_ucp_headers_stay_in_the_ucx_backend(self) -> None:
        self.assert_refused("common/measure/a.cpp", "#include <ucp/api/ucp.h>\n", "belongs to")

    def test_a_test_framework_stays_in_tests(self) -> None:
        self.assert_refused("common/base/a.cpp", "#include <gtest/gtest.h>\n", "belongs to tests")

    def test_conditional_compilation_is_refused(self) -> None:
        self.assert_refused("common/formats/plan/a.cpp", "int a;\n#ifdef HAVE_MPI\n#endif\n", "a.cpp:2: conditional")

    def test_the_processor_hint_may_be_conditional(self) -> None:
        code = "#pragma once\n#if defined(__x86_64__)\n#endif\n"
        self.assertEqual(self.findings("common/base/idle.hpp", code), [])

    def test_reading_the_environment_is_refused(self) -> None:
        self.assert_refused("common/run/a.cpp", 'char* a = std::getenv("A");\n', "environment")

    def test_the_recorder_reads_the_environment(self) -> None:
        self.assertEqual(self.findings("common/bootstrap/launch_guard.cpp", 'char* a = getenv("A");\n'), [])

    def test_a_word_in_a_comment_or_a_string_is_no_use_of_it(self) -> None:
        code = '// getenv, std::format\n/*\n#if 0\n*/ char const* a = "getenv";\n'
        self.assertEqual(self.findings("common/formats/plan/a.cpp", code), [])

    def test_printing_on_standard_error_so_that_it_may_throw_is_refused(self) -> None:
        self.assert_refused("common/run/a.cpp", 'fmt::print(stderr, "{}", 1);\n', "print_error()")
        self.assert_refused("common/run/a.cpp", "auto* const to = stderr;\n", "print_error()")
        self.assertEqual(self.findings("common/run/a.cpp", "print_error(STDERR_FILENO_text);\n"), [])

    def test_what_the_compilers_lack_is_refused(self) -> None:
        self.assert_refused("common/formats/plan/a.cpp", "#include <format>\n", "not in the compilers")
        self.assert_refused("common/formats/plan/a.cpp", "auto a = std::views::iota(1);\n", "not in the compilers")

    def test_an_include_is_written_from_the_root(self) -> None:
        self.assert_refused("common/formats/plan/a.cpp", '#include "plan.hpp"\n', "repository root")

    def test_an_include_must_exist(self) -> None:
        self.assert_refused("common/formats/plan/a.cpp", '#include "common/base/gone.hpp"\n', "does not exist")

    def test_a_header_needs_pragma_once(self) -> None:
        self.assert_refused("common/formats/plan/a.hpp", "int a();\n", "pragma once")

    def test_an_empty_tree_is_no_success(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(check_layering.main([empty]), 1)


if __name__ == "__main__":
    unittest.main()
