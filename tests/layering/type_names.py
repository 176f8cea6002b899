# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the types that a reader meets. Prints two numbers and their names:

  the product's types that are named in the files of docs/design.md from main() to a result line, with the headers of these files;
  the type names that the product defines more than once.

usage: type_names.py [--names]
"""

from __future__ import annotations

import collections
import re
import sys
from pathlib import Path

from test_reading_path import ROOT, code_of, entries_of

DEFINITION = re.compile(r"^[ \t]*(?:template <[^>]*>\s*)?(?:struct|class|enum class|enum)\s+(?:\[\[\w+\]\]\s*)?([A-Z]\w+)\b(?:\s+final)?\s*(?::(?!:)|\{|$)|^[ \t]*using\s+([A-Z]\w+)\s*=", re.MULTILINE)


def definitions() -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for top in ("common", "patterns", "benchmarks"):
        for path in sorted((ROOT / top).rglob("*.?pp")):
            found.update({one or other for one, other in DEFINITION.findall(code_of(path))})
    return found


def main() -> int:
    defined = definitions()
    way: set[str] = set()
    for entry in entries_of((ROOT / "docs/design.md").read_text(encoding="utf-8")):
        for path in (ROOT / entry.path, (ROOT / entry.path).with_suffix(".hpp")):
            if path.is_file():
                way |= set(re.findall(r"\b[A-Z]\w+\b", code_of(path))) & set(defined)
    several = {name: count for name, count in defined.items() if count > 1}
    print(f"types named on the way from main() to a result line: {len(way)}")
    print(f"type names with more than one definition: {len(several)}")
    if "--names" in sys.argv:
        print(*sorted(way), sep=" ")
        print(*(f"{name} {count}" for name, count in sorted(several.items(), key=lambda each: (-each[1], each[0]))), sep=", ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
