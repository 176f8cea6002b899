# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy over every source of a compilation database, remembering what passed.

A file, or a batch of files in a unity build, that passed is not looked at again until its preprocessed text, its flags
or .clang-tidy change, so a second run costs one preprocessor run per file. Not a CTest: it takes minutes; tests/run has
a stage for it.

usage: tidy.py BUILD_FOLDER [FOLDER...]     exit 0: clean, 1: findings, 64: no compilation database
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# clang-tidy looks for settings beside the file that is compiled, which for a batch is in the build folder.
# Doubles of other libraries have to use the names that those declare.
FOLDER_CHECKS = {"tests/fakes/": "-bugprone-reserved-identifier,-readability-inconsistent-declaration-parameter-name"}


def our_entries(build: Path, parts: list[str]) -> list[dict[str, str]]:
    """Entries of this repository's C++ sources, and of CMake's batches of them, whose path begins with one of `parts`."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["directory"], entry["file"]).resolve()
        if source.suffix == ".cu" or not source.is_file():  # nvcc's flags, which clang does not take
            continue
        if source.is_relative_to(build) and source.name.startswith("unity_"):
            name = str(source.relative_to(build))
        elif source.is_relative_to(ROOT) and not source.is_relative_to(ROOT / "build"):
            name = str(source.relative_to(ROOT))
        else:  # generated
            continue
        if not parts or name.startswith(tuple(parts)):
            entries[name] = entry
    return [entries[name] for name in sorted(entries)]


def fingerprint(entry: dict[str, str], settings: bytes) -> str:
    """Of everything that decides what clang-tidy sees; empty when the file does not even preprocess."""
    words = shlex.split(entry["command"])
    words[words.index("-c")] = "-E"
    output = words.index("-o")
    del words[output : output + 2]
    found = subprocess.run([*words, "-C"], cwd=entry["directory"], capture_output=True, check=False)
    if found.returncode != 0:
        return ""
    return hashlib.sha256(settings + "\0".join(words).encode() + found.stdout).hexdigest()


def check(entry: dict[str, str], build: Path, passed: Path, settings: bytes) -> str:
    """What clang-tidy found, empty when it found nothing."""
    stamp = passed / (fingerprint(entry, settings) or "unknown")
    if stamp.name != "unknown" and stamp.exists():
        return ""
    checks = next((checks for folder, checks in FOLDER_CHECKS.items() if f"/{folder}" in entry["file"]), "")
    command = ["clang-tidy", "--quiet", f"--checks={checks}", "-p", str(build), entry["file"]]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return found.stdout + found.stderr
    stamp.touch()
    return ""


def main(arguments: list[str]) -> int:
    if not arguments or not (Path(arguments[0]) / "compile_commands.json").is_file():
        print("tidy: error: give a configured build folder with a compile_commands.json", file=sys.stderr)
        return 64
    build = Path(arguments[0]).resolve()
    entries = our_entries(build, arguments[1:])
    settings = (ROOT / ".clang-tidy").read_bytes() + subprocess.check_output(["clang-tidy", "--version"])
    passed = build / "tidy-passed"
    passed.mkdir(exist_ok=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        reports = pool.map(lambda entry: check(entry, build, passed, settings), entries)
        for entry, report in zip(entries, reports):
            if report:
                bad += 1
                print(f"-- {os.path.relpath(entry['file'], ROOT)}\n{report}", flush=True)
    print(f"clang-tidy: {len(entries) - bad} of {len(entries)} files and batches clean")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
