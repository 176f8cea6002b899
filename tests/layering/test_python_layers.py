# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which package of Python may import which: results-schema/ is the lower floor, and has the one reader of result lines and the one statistics."""

from __future__ import annotations

import ast
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"dlmb_results": "results-schema", "dlmb_statistics": "results-schema", "dlmb_tuning": "results-schema", "dlmb_plotting": "plotting", "dlmb_launch": "launch"}
LOWER = {"dlmb_results": set(), "dlmb_statistics": set(), "dlmb_tuning": set(), "dlmb_plotting": {"dlmb_results", "dlmb_statistics", "dlmb_tuning"},
         "dlmb_launch": {"dlmb_results", "dlmb_statistics"}}
OTHERS = {"dlmb_results": {"msgspec"}, "dlmb_statistics": {"numpy", "scipy"}, "dlmb_tuning": set(), "dlmb_plotting": {"matplotlib"}, "dlmb_launch": {"numpy", "tomli"}}
# dlmb_autotune, dlmb_convert and dlmb_sweep run where there is nothing but Python.
PLAIN = ("dlmb_statistics/robust.py", "dlmb_statistics/margins.py", *(f"dlmb_launch/{name}" for name in ("autotune", "convert", "sweep")))


def imported(path: Path, package: str) -> Iterator[str]:
    """Names of packages."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield package if node.level else (node.module or "").partition(".")[0]


class PythonLayers(unittest.TestCase):
    def files(self) -> Iterator[tuple[str, str, Path]]:
        for package, folder in FOLDERS.items():
            found = sorted((ROOT / folder / package).rglob("*.py"))
            self.assertTrue(found, package)
            yield from ((package, str(path.relative_to(ROOT / folder)), path) for path in found)

    @unittest.skipUnless(hasattr(sys, "stdlib_module_names"), "Python before 3.10 does not list its modules")
    def test_packages_import_what_lies_below_them(self) -> None:
        for package, name, path in self.files():
            allowed = sys.stdlib_module_names | {package} | LOWER[package] | OTHERS[package]
            self.assertLessEqual(set(imported(path, package)), allowed, name)

    def test_what_runs_with_python_alone_imports_no_other_package(self) -> None:
        for package, name, path in self.files():
            if name.startswith(PLAIN):
                self.assertFalse(set(imported(path, package)) & {"numpy", "scipy", "matplotlib"}, name)

    def test_result_lines_have_one_decoder(self) -> None:
        parsing = [name for _, name, path in self.files() if "json.loads(" in path.read_text(encoding="utf-8")]
        self.assertEqual(parsing, ["dlmb_results/fields.py", "dlmb_tuning/fields.py", "dlmb_launch/sweep/state.py"])


if __name__ == "__main__":
    unittest.main()
