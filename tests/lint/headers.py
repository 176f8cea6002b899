# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every header compiles alone, and includes what declares the names of the standard library that it uses.

The standard library and fmt are parsed once, as a precompiled header: they are nine tenths of a header's own compilation. This
hides a header that misses one of them, so the second check reads the text: a name of `DECLARED_IN` needs its header among what
the header includes, directly or through headers of the project. A header that another one includes first has nothing before it
there, so the other one's compilation is its own.

usage: headers.py BUILD_FOLDER     exit 0: clean, 1: findings, 64: no compilation database with header sets
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERIFIED = re.compile(r"_verify_interface_header_sets/(\S+\.hpp)\.cxx$")
# Each name with the headers of which one has to be included.
DECLARED_IN = {
    **{f"std::{name}": (name,) for name in ("array", "bitset", "deque", "map", "optional", "set", "span", "tuple", "variant", "vector")},
    **{f"std::{name}": (name,) for name in ("function", "unordered_map", "unordered_set", "queue", "list", "atomic", "thread", "mutex")},
    "std::function": ("functional",),
    "std::string": ("string",),
    "std::string_view": ("string_view", "string"),
    "std::unique_ptr": ("memory",),
    "std::shared_ptr": ("memory",),
    "std::make_unique": ("memory",),
    "std::pair": ("utility", "map", "unordered_map"),
    "std::filesystem": ("filesystem",),
    "std::chrono": ("chrono",),
    "std::byte": ("cstddef",),
    "std::uint64_t": ("cstdint",),
    "std::int64_t": ("cstdint",),
    "std::uint32_t": ("cstdint",),
    "std::uint8_t": ("cstdint",),
    "std::numeric_limits": ("limits",),
    "std::sort": ("algorithm",),
    "std::min": ("algorithm",),
    "std::max": ("algorithm",),
    "std::accumulate": ("numeric",),
    "std::exception_ptr": ("exception",),
    "std::runtime_error": ("stdexcept",),
    "std::ostream": ("iosfwd", "ostream", "iostream", "sstream", "fstream"),
    "std::istream": ("iosfwd", "istream", "iostream", "sstream", "fstream"),
    "std::ofstream": ("fstream",),
    "std::ostringstream": ("sstream",),
    "fmt::format": ("fmt/core.h", "fmt/format.h", "fmt/ranges.h"),
}
PRECOMPILED = sorted({headers[0] for headers in DECLARED_IN.values() if headers[0] != "iosfwd"} | {"fmt/format.h", "fmt/ranges.h"})
USED = re.compile(r"\b(?:std|fmt)::\w+")
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"//[^\n]*")


def commands_by_header(build: Path) -> dict[str, list[str]]:
    """The compiler's words for each header of the project, without the compiler's cache and without an output."""
    commands: dict[str, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        header = VERIFIED.search(entry["file"])
        if not header or header.group(1) in commands:
            continue
        words = shlex.split(entry["command"])
        compiler = next(k for k, word in enumerate(words) if "++" in Path(word).name and Path(word).suffix == "")
        output = words.index("-o")
        commands[header.group(1)] = [word for k, word in enumerate(words) if k >= compiler and k not in (output, output + 1)]
    return commands


def precompile(words: list[str], folder: Path) -> Path:
    """The precompiled header for a command's options, to be included by its name without the suffix .gch."""
    header = folder / "standard_headers.hpp"
    header.write_text("".join(f"#include <{name}>\n" for name in PRECOMPILED))
    options = words[1 : words.index("-c")]
    language = options.index("-x") + 1
    options[language] = "c++-header"
    subprocess.run([words[0], *options, "-c", str(header), "-o", f"{header}.gch"], cwd=folder, check=True)
    return header


def compile_alone(header: str, words: list[str], build: Path, precompiled: Path) -> str:
    """The compiler's messages, empty when the header compiles."""
    command = [words[0], "-include", str(precompiled), "-fsyntax-only", *words[1:]]
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    return f"{header} does not compile alone:\n{done.stderr}" if done.returncode else ""


def included_by(header: str, known: dict[str, set[str]]) -> set[str]:
    """Everything that a header of the project includes, directly or through others of the project."""
    if header not in known:
        known[header] = set()
        for name in INCLUDE.findall((ROOT / header).read_text()):
            known[header] |= {name} | (included_by(name, known) if (ROOT / name).is_file() else set())
    return known[header]


def undeclared_names(header: str, known: dict[str, set[str]]) -> str:
    """A line of names whose header is not included, empty when there is none."""
    used = set(USED.findall(COMMENT.sub("", (ROOT / header).read_text())))
    included = included_by(header, known)
    missing = sorted(name for name in used if name in DECLARED_IN and included.isdisjoint(DECLARED_IN[name]))
    return "".join(f"{header} uses {name} without <{DECLARED_IN[name][0]}>\n" for name in missing)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not (Path(arguments[0]) / "compile_commands.json").is_file():
        print("headers: error: give a configured build folder with a compile_commands.json", file=sys.stderr)
        return 64
    build = Path(arguments[0]).resolve()
    commands = commands_by_header(build)
    if not commands:
        print(f"headers: error: {build} has no target that verifies its headers", file=sys.stderr)
        return 64
    precompiled = precompile(next(iter(commands.values())), build)
    begun_by = {names[0] for header in commands if (names := INCLUDE.findall((ROOT / header).read_text()))}
    compiled = {header: words for header, words in commands.items() if header not in begun_by}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = list(pool.map(lambda item: compile_alone(*item, build, precompiled), compiled.items()))
    known: dict[str, set[str]] = {}
    findings += [undeclared_names(header, known) for header in commands]
    print("".join(findings), end="")
    print(f"{len(commands)} headers, {len(compiled)} compilations, {sum(map(bool, findings))} findings")
    return int(any(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
