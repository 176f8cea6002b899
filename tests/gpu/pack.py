# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Packs what a GPU machine needs to run what was built elsewhere: the programs of the stages, and of the prepared folder what they load.

usage: pack.py KIT BUILD FOLDER ARCHITECTURE"""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import stages
from kit import ARCHITECTURE_FILE, PROGRAMS, Kit
from machine import Driver

# The dictionary spans all programs, so that what they have in common is there once.
COMPRESSION = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 64 << 20}]

# Of the prepared folder: what only a compiler or CMake reads.
FOR_BUILDS = ("include", "cmake", "pkgconfig", "src", "eigen3", "*.a", "*.h", "*.pc", "*.cmake", "pkgconf", "*wrapper*", "opal*c*", "orte*c*",
              "mpi*cc*", "mpi*CC*", "mpi*++*", "mpicxx*", "aggregate_profile", "profile2mat", "libfmt.so", "libpkgconf*")


def programs(kit: Kit, build: Path) -> list[Path]:
    """What the commands of the stages name of the build's bin/."""
    commands = " ".join(" ".join(stage.command) for stage in stages.every_stage(kit, build, build / "results", nccl_tests=build))
    return [build / "bin" / name for name in sorted(set(re.findall(rf"{re.escape(str(build / 'bin'))}/(\w+)", commands)))]


def pack(kit: Kit, build: Path, folder: Path, architecture: str) -> list[str]:
    """What is missing."""
    for part in ("root", "ucx", "fallback"):
        shutil.copytree(kit.folder / part, folder / part, symlinks=True, ignore=shutil.ignore_patterns(*FOR_BUILDS))
    missing = []
    with tempfile.TemporaryDirectory() as scratch, lzma.open(folder / PROGRAMS, "wb", filters=COMPRESSION) as file, \
            tarfile.open(fileobj=file, mode="w") as archive:
        for built in [*programs(kit, build), stages.tuner_plugin(build)]:
            if not built.is_file():
                missing.append(built.name)
                continue
            stripped = Path(scratch) / built.name
            subprocess.run(["strip", "--strip-unneeded", "-o", str(stripped), str(built)], check=True)
            archive.add(stripped, str(built.relative_to(build)))
    (folder / ARCHITECTURE_FILE).write_text(f"{architecture}\n", encoding="utf-8")
    return missing


if __name__ == "__main__":
    kit_folder, build_folder, to = (Path(text).resolve() for text in sys.argv[1:4])
    lacking = pack(Kit(kit_folder, Driver()), build_folder, to, sys.argv[4])
    if lacking:
        sys.exit(f"pack: was not built: {', '.join(lacking)}")
