# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""docs/design.md leads a newcomer from main() to a line of the result file through at most 15 files. This keeps the list true.

An entry is "N. `path`, `function`: sentence". The test accepts a list where each file exists once and defines its
function, and where each function but the first is called in the file of the entry before it, or of an entry that led to
that one: the list is a walk through the call tree, callers before callees. The first function is a main() in benchmarks/,
the last one writes to the result file in common/formats/record/.
"""

from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HEADING = "## From main() to a result line"
MOST_FILES = 15


class Entry(NamedTuple):
    number: int
    path: str
    function: str


def entries_of(page: str) -> list[Entry]:
    if HEADING not in page:
        return []
    section = page.split(HEADING, 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^(\d+)\. `([^`]+)`, `([\w:]+)`: \S", section, re.MULTILINE)
    return [Entry(int(number), path, function) for number, path, function in found]


def code_of(path: Path) -> str:
    """Without comments and texts."""
    code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)


def defines(code: str, function: str) -> bool:
    """A declarator that begins in the first column, as of what stands in no class, and goes on to a body."""
    return re.search(rf"^\w[^;={{}}\n]*\b{re.escape(function)}\([^;{{}}]*\)[^;{{}}]*\{{", code, re.MULTILINE) is not None


def calls(code: str, function: str) -> bool:
    """Inside a function, so in an indented line; a member is called on an object."""
    name = function.split("::")[-1]
    before = r"(?:\.|->)" if "::" in function else r"(?<![\w.>])"
    return re.search(rf"^[ \t]+\S?.*{before}{re.escape(name)}\(", code, re.MULTILINE) is not None


def problems(root: Path, page: str) -> list[str]:
    entries = entries_of(page)
    found = []
    if [entry.number for entry in entries] != list(range(1, len(entries) + 1)) or not entries:
        found.append(f"the entries below '{HEADING}' are not numbered from 1 on")
    if len(entries) > MOST_FILES or len({entry.path for entry in entries}) != len(entries):
        found.append(f"{len(entries)} entries, not all of different files or more than {MOST_FILES}")
    callers: list[Entry] = []
    for entry in entries:
        if not (root / entry.path).is_file():
            found.append(f"{entry.path} does not exist")
            continue
        if not defines(code_of(root / entry.path), entry.function):
            found.append(f"{entry.path} does not define {entry.function}")
        while callers and not calls(code_of(root / callers[-1].path), entry.function):
            callers.pop()
        if not callers and entry.number > 1:
            found.append(f"no file on the way to {entry.path} calls {entry.function}")
        callers.append(entry)
    if entries and not (entries[0].path.startswith("benchmarks/") and entries[0].function == "main"):
        found.append("the list does not begin with main() of a benchmark")
    if entries and not entries[-1].path.startswith("common/formats/record/"):
        found.append("the list does not end in common/formats/record")
    return found


class ReadingPathTest(unittest.TestCase):
    def setUp(self) -> None:
        self.page = (ROOT / "docs/design.md").read_text(encoding="utf-8")
        self.entries = entries_of(self.page)

    def assert_refused(self, entries: list[Entry], what: str) -> None:
        lines = [f"{number}. `{entry.path}`, `{entry.function}`: word" for number, entry in enumerate(entries, 1)]
        found = problems(ROOT, "\n".join([HEADING, "", *lines]))
        self.assertTrue(any(what in problem for problem in found), found)

    def test_the_list_is_true(self) -> None:
        self.assertEqual(problems(ROOT, self.page), [])

    def test_a_page_without_the_list_is_refused(self) -> None:
        self.assertNotEqual(problems(ROOT, "# Design\n"), [])

    def test_a_file_that_was_moved_is_refused(self) -> None:
        moved = self.entries[5]._replace(path="common/run/gone.cpp")
        self.assert_refused([*self.entries[:5], moved, *self.entries[6:]], "does not exist")

    def test_a_function_of_another_file_is_refused(self) -> None:
        wrong = self.entries[4]._replace(function="run_benchmark")
        self.assert_refused([*self.entries[:4], wrong, *self.entries[5:]], "does not define")

    def test_a_step_that_was_left_out_is_refused(self) -> None:
        self.assert_refused([*self.entries[:3], *self.entries[4:]], "calls expand_sweep")

    def test_callees_before_callers_are_refused(self) -> None:
        self.assert_refused([self.entries[0], *reversed(self.entries[1:4]), *self.entries[4:]], "no file on the way")

    def test_too_many_files_are_refused(self) -> None:
        self.assert_refused([*self.entries, *self.entries[1:]], "entries")


if __name__ == "__main__":
    unittest.main()
