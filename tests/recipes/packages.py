# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The recipes for Spack, Ramble and Apptainer agree with this project. The tools themselves are not needed. packages.py BIN"""

from __future__ import annotations

import contextlib
import re
import runpy
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any

import tools

LAUNCH = tools.ROOT / "launch"


class Stub(types.ModuleType):
    """A test double of ramble.appkit or spack.package: takes every directive and remembers it. It checks no argument."""

    def __init__(self, name: str, directives: tuple[str, ...], **others: Any):
        super().__init__(name)
        self.__dict__.update(others)
        self.taken: list[tuple[str, tuple, dict]] = []
        for directive in directives:
            self.__dict__[directive] = lambda *given, _name=directive, **named: self.taken.append((_name, given, named))

    def all(self, directive: str) -> list[tuple[tuple, dict]]:
        return [(given, named) for name, given, named in self.taken if name == directive]


class SpackBase:
    """A test double of CMakePackage."""

    run_tests = False
    spec = types.SimpleNamespace(satisfies=lambda text: text == "+mpi")

    def define(self, name: str, value: bool) -> str:
        return f"-D{name}={'ON' if value else 'OFF'}"


def load(recipe: Path, *stubs: types.ModuleType) -> dict[str, Any]:
    for stub in stubs:
        for end in range(1, stub.__name__.count(".") + 2):
            sys.modules.setdefault(".".join(stub.__name__.split(".")[:end]), types.ModuleType("package"))
        sys.modules[stub.__name__] = stub
    return runpy.run_path(str(recipe))


class SpackTest(unittest.TestCase):
    def setUp(self) -> None:
        self.stub = Stub("spack.package", ("license", "version", "variant", "depends_on", "conflicts", "generator"))
        cmake = Stub("spack_repo.builtin.build_systems.cmake", (), CMakePackage=SpackBase)
        self.package = load(LAUNCH / "spack" / "package.py", self.stub, cmake)

    def test_variants_are_the_optional_libraries_of_the_build(self) -> None:
        text = (tools.ROOT / "cmake" / "DlmbFeatures.cmake").read_text()
        features = {name.lower() for name in re.findall(r"dlmb_feature\((\w+) ", text)}
        self.assertEqual({given[0] for given, _ in self.stub.all("variant")} - {"tools"}, features)
        arguments = self.package["Dlmb"]().cmake_args()
        self.assertEqual({argument.split("=")[0] for argument in arguments[:-1]}, {f"-DDLMB_WITH_{name.upper()}" for name in features})
        self.assertIn("-DDLMB_WITH_MPI=ON", arguments)
        self.assertIn("-DDLMB_WITH_UCX=OFF", arguments)

    def test_the_version_is_that_of_the_project(self) -> None:
        version = re.search(r"VERSION (\d+\.\d+\.\d+)", (tools.ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(self.stub.all("version"), [((version and version[1],), {})])


class RambleTest(unittest.TestCase):
    def setUp(self) -> None:
        directives = ("tags", "software_spec", "required_package", "executable", "workload", "workload_variable")
        figures = ("figure_of_merit_context", "figure_of_merit", "success_criteria")
        application = types.new_class("ExecutableApplication")
        nothing = lambda _: contextlib.nullcontext()  # noqa: E731
        self.stub = Stub("ramble.appkit", directives + figures, ExecutableApplication=application, when=nothing)
        load(LAUNCH / "ramble" / "application.py", self.stub)

    def test_workloads_are_the_measuring_programs(self) -> None:
        measuring = {path.stem for path in (tools.ROOT / "benchmarks").glob("*.cpp")} - {"info", "plan", "predict", "replay", "tune"}
        self.assertEqual({given[0] for given, _ in self.stub.all("workload")}, measuring)

    def test_its_patterns_find_what_the_programs_print(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            options = ["--operation", "allreduce", "-m", "1K:2K", "--backend", "in_process", "--ranks", "2", "-i", "2"]
            command = [PROGRAMS / "dlmb_collective", *options, "--results", Path(folder) / "results.jsonl"]
            printed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()
        (_, figure), (_, criteria) = self.stub.all("figure_of_merit")[0], self.stub.all("success_criteria")[0]
        found = [match for line in printed if (match := re.match(figure["fom_regex"], line))]
        self.assertEqual([re.findall(r"message-size=(\d+)", match["cell"]) for match in found], [["1024"], ["2048"]])
        self.assertTrue(all(float(match[figure["group_name"]]) > 0 for match in found))
        self.assertEqual(len([line for line in printed if re.match(criteria["match"], line)]), 1)


class ApptainerTest(unittest.TestCase):
    def test_its_sections_are_shell_and_call_what_is_there(self) -> None:
        text = (LAUNCH / "apptainer" / "dlmb.def").read_text()
        sections = dict(re.findall(r"^%(\w+)\n((?:    .*\n)+)", text, re.MULTILINE))
        self.assertEqual(set(sections), {"files", "post", "environment", "test", "runscript"})
        for name in set(sections) - {"files"}:
            self.assertEqual(subprocess.run(["bash", "-n"], input=sections[name], text=True, check=False).returncode, 0, name)
        for command in re.findall(r"^    (launch/\S+)", sections["post"], re.MULTILINE):
            self.assertTrue((tools.ROOT / command).exists(), command)
        subprocess.run(["bash", "-e"], input=f"PATH={PROGRAMS}:$PATH\n{sections['test']}", text=True, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    PROGRAMS = Path(sys.argv.pop(1)).resolve()
    unittest.main()
