# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""`pip install .` of a checkout that nobody may write into makes commands that work far away from it, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tools

EXAMPLES = tools.ROOT / "results-schema" / "examples"
COMMANDS = ("dlmb_autotune", "dlmb_compare", "dlmb_convert", "dlmb_guidelines", "dlmb_plot", "dlmb_sweep")
MODULES = ("venv", "ensurepip", "setuptools", "wheel", "numpy", "scipy", "matplotlib")  # to install, and to run what was installed


def what_is_missing(python: str) -> list[str]:
    find = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))"
    return subprocess.run([python, "-c", find, *MODULES], capture_output=True, text=True, check=True).stdout.split()


def everything_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


class PipInstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        source = cls.folder / "source"
        for name in ("launch", "plotting", "results-schema"):
            shutil.copytree(tools.ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        shutil.copytree(tools.ROOT / "cmake" / "pip", source / "cmake" / "pip", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(tools.ROOT / "pyproject.toml", source)
        before = everything_in(source)
        for path in (source, *source.rglob("*")):  # root may write all the same, so what is there is compared afterwards
            path.chmod(path.stat().st_mode & ~0o222)
        cls.environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        cls.environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        cls.call(PYTHON, "-m", "venv", "--system-site-packages", cls.folder / "venv")
        cls.bin = cls.folder / "venv" / "bin"
        cls.call(cls.bin / "python", "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", "--no-deps", source)
        cls.written = sorted(everything_in(source) - before)
        for path in (source, *source.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)
        shutil.rmtree(source)

    @classmethod
    def call(cls, *command: object) -> str:
        done = subprocess.run(list(map(str, command)), env=cls.environment, cwd=cls.folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_every_command_of_the_checkout_is_there_and_helps(self) -> None:
        self.assertEqual({path.name for path in (tools.ROOT / "launch").glob("dlmb_*") if path.is_file()}, set(COMMANDS))
        for command in COMMANDS:
            self.assertIn(f"usage: {command}", self.call(self.bin / command, "--help"))

    def test_nothing_is_written_into_the_checkout(self) -> None:
        self.assertEqual(self.written, [])

    def test_every_command_says_the_version(self) -> None:
        for command in COMMANDS:
            self.assertRegex(self.call(self.bin / command, "--version"), rf"\A{command} [0-9.]+\n\Z")

    def test_the_report_finds_its_scripts(self) -> None:
        self.call(self.bin / "dlmb_plot", "report", EXAMPLES / "results.jsonl", "-o", "report.html")
        self.assertIn("<svg", (self.folder / "report.html").read_text(encoding="utf-8"))

    def test_the_reader_of_tuning_tables_can_be_imported(self) -> None:
        self.call(self.bin / "python", "-c", f"import dlmb_tuning; dlmb_tuning.open_table({str(EXAMPLES / 'tuning-table.json')!r})")


def python_to_try() -> str:
    missing = {python: what_is_missing(python) for python in (sys.executable, "/usr/bin/python3") if os.path.exists(python)}
    for python, modules in missing.items():
        if not modules:
            return python
    print("skipped:", "; ".join(f"{python} has no {', '.join(modules)}" for python, modules in missing.items()))
    sys.exit(tools.SKIPPED)


if __name__ == "__main__":
    PYTHON = python_to_try()
    unittest.main()
