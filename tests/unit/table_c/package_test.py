# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What libdlmb_tuning exports, and that its installed package builds a C program by pkg-config and by CMake.

usage: package_test.py BUILD_FOLDER LIBRARY PROGRAM.c TABLE
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

BUILD, LIBRARY, PROGRAM, TABLE = (Path(argument) for argument in sys.argv[1:5])
EXPORTED = {"dlmb_tuning_open", "dlmb_tuning_lookup", "dlmb_tuning_close", "dlmb_tuning_strerror"}
CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user C)
set(CMAKE_C_STANDARD 99)
find_package(dlmb_tuning REQUIRED)
add_executable(user {program})
target_link_libraries(user PRIVATE dlmb::tuning)
"""


def output_of(*command: object, **settings: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Library(unittest.TestCase):
    @unittest.skipUnless(shutil.which("nm"), "no nm")
    def test_exports_its_functions_and_nothing_else(self) -> None:
        lines = output_of("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
        symbols = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}
        self.assertEqual(symbols, EXPORTED)


    @unittest.skipUnless(shutil.which("readelf"), "no readelf")
    def test_needs_the_c_library_only(self) -> None:
        needed = re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", LIBRARY))
        # Without optimisation g++ calls ceil, which its header of unordered_map names and nothing uses.
        unoptimised = "CMAKE_BUILD_TYPE:STRING=Debug\n" in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        names = ("lib[cm]" if unoptimised else "libc") + r"\.so\.[0-9]+|ld-.*\.so\.[0-9]+"
        others = [name for name in needed if not re.fullmatch(names, name)]
        self.assertTrue(needed)
        self.assertEqual(others, [])


class Package(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.prefix = self.folder / "prefix"
        output_of("cmake", "--install", BUILD, "--component", "tuning", "--prefix", self.prefix)
        self.library_folder = next(self.prefix.rglob("libdlmb_tuning.so")).parent

    def run_user(self, program: Path) -> None:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.library_folder)}
        self.assertIn("ring", output_of(program, TABLE, env=environment))

    @unittest.skipUnless(shutil.which("pkg-config") and shutil.which("cc"), "no pkg-config or C compiler")
    def test_is_found_by_pkg_config(self) -> None:
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.library_folder / "pkgconfig")}
        flags = output_of("pkg-config", "--cflags", "--libs", "dlmb_tuning", env=environment).split()
        user = self.folder / "user"
        output_of("cc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", PROGRAM, "-o", user, *flags)
        self.run_user(user)

    def test_is_found_by_cmake(self) -> None:
        (self.folder / "CMakeLists.txt").write_text(CMAKE_PROJECT.format(program=PROGRAM), encoding="utf-8")
        build = self.folder / "build"
        output_of("cmake", "-G", "Ninja", "-S", self.folder, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        output_of("cmake", "--build", build)
        self.run_user(build / "user")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
