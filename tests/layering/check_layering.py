# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks every C++ file of common/, patterns/ and benchmarks/ against rules.py.

usage: check_layering.py ROOT      exit 0: all rules hold, 1: some do not; one line per finding: file:line: message
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import rules

SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else)\b")
ENVIRONMENT = re.compile(r"\b(getenv|secure_getenv|environ)\b")
ERROR_STREAM = re.compile(r"\bstderr\b|\bstd::cerr\b")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def without_comments_and_text(code: str) -> str:
    """The code with comments and string contents blanked, line numbers kept. Includes are read from the original."""
    return TOKEN.sub(lambda match: "\n" * match.group().count("\n"), code)


def layer_of(path: str) -> str:
    """The layer of a file or of an include: the longest known folder above it."""
    if path.startswith("common/backends/"):
        return "/".join(path.split("/")[:3])
    above = [layer for layer in rules.LAYERS if path.startswith(layer + "/")]
    return max(above, key=len, default=path.rsplit("/", 1)[0])


def allowed_layers(layer: str) -> set[str]:
    if layer.startswith("common/backends/"):
        return {layer, *rules.LAYERS["common/backends"], rules.BACKEND_ALSO.get(layer, layer)}
    return {layer, *rules.LAYERS.get(layer, ())}


def check_project_include(path: str, include: str, root: Path) -> str:
    if not include.startswith(("common/", "patterns/", "benchmarks/")):
        return f'"{include}": write the path from the repository root'
    if not (root / include).is_file():
        return f'"{include}" does not exist'
    mine, other = layer_of(path), layer_of(include)
    if other not in allowed_layers(mine):
        return f'{mine} must not include {other} ("{include}")'
    if mine == "patterns" and path.count("/") == 2 and include.count("/") == 2 and include.startswith("patterns/"):
        if path.split("/")[1] != include.split("/")[1]:
            return f'a pattern must not include another pattern ("{include}")'
    return ""


def check_system_include(path: str, include: str) -> str:
    if include in rules.UNAVAILABLE_HEADERS:
        return f"<{include}> is not in the compilers this project supports"
    if include.startswith(("common/", "patterns/", "benchmarks/")):
        return f"<{include}>: our own headers are included with quotes"
    places = rules.THIRD_PARTY.get(include.split("/")[0])
    if places is not None and not path.startswith(places):
        return f"<{include}> belongs to {' and '.join(places) or 'tests'} only"
    return ""


def check_file(root: Path, path: str) -> list[str]:
    original = (root / path).read_text(encoding="utf-8")
    findings = []
    for number, line in enumerate(original.splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            quoted = include.group(1) == '"'
            name = include.group(2)
            message = check_project_include(path, name, root) if quoted else check_system_include(path, name)
            if message:
                findings.append(f"{path}:{number}: {message}")
    for number, line in enumerate(without_comments_and_text(original).splitlines(), 1):
        if CONDITIONAL.match(line) and path not in rules.CONDITIONAL_COMPILATION:
            findings.append(f"{path}:{number}: conditional compilation; pick a file in CMake instead")
        if ENVIRONMENT.search(line) and not path.startswith(rules.READS_ENVIRONMENT):
            findings.append(f"{path}:{number}: reads the environment; options come from the command line and files")
        if ERROR_STREAM.search(line) and not path.endswith(".c"):
            findings.append(f"{path}:{number}: throws where standard error cannot be written; call print_error() of common/base/output_file.hpp")
        for name in rules.UNAVAILABLE_NAMES:
            if re.search(name, line):
                findings.append(f"{path}:{number}: {name[2:-2]} is not in the compilers this project supports")
    if path.endswith(".hpp") and "#pragma once" not in original:
        findings.append(f"{path}:1: a header starts with #pragma once")
    return findings


def check_tree(root: Path) -> tuple[int, list[str]]:
    """Number of files looked at, and what is wrong in them."""
    files = sorted(
        file.relative_to(root).as_posix()
        for top in ("common", "patterns", "benchmarks")
        for file in (root / top).rglob("*")
        if file.suffix in SUFFIXES
    )
    return len(files), [finding for file in files for finding in check_file(root, file)]


def main(arguments: list[str]) -> int:
    count, findings = check_tree(Path(arguments[0]))
    print(*findings, sep="\n")
    print(f"layering: {count} files, {len(findings)} findings")
    return 1 if findings or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
