# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What `cmake --install` gives: documents whose links lead somewhere, programs alone with manual pages and completions, and their removal.

usage: installed.py BUILD_FOLDER
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def call(*command: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installation(unittest.TestCase):
    COMPONENT = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = Path(folder.name) / "prefix"
        cls.said = call("cmake", "--install", BUILD, "--component", cls.COMPONENT, "--prefix", cls.prefix)

    def files(self) -> list[Path]:
        return [path for path in self.prefix.rglob("*") if path.is_symlink() or not path.is_dir()]


class Documents(Installation):
    COMPONENT = "documents"

    def test_every_link_leads_to_a_file_that_is_there(self) -> None:
        pages = [path for path in self.files() if path.suffix == ".md"]
        self.assertGreater(len(pages), 30)
        broken = [
            f"{page.relative_to(self.prefix)}: {target}"
            for page in pages
            for target in LINK.findall(page.read_text(encoding="utf-8"))
            if "://" not in target and not (page.parent / target).exists()
        ]
        self.assertEqual(broken, [])


class Programs(Installation):
    COMPONENT = "programs"

    def programs(self) -> list[Path]:
        return sorted(path for path in (self.prefix / "bin").iterdir() if path.name != "dlmb_plain_mpi")

    def test_are_there_without_libraries_and_headers_and_say_their_version(self) -> None:
        self.assertFalse((self.prefix / "include").exists())
        self.assertEqual([path for path in self.files() if path.suffix == ".a"], [])
        self.assertLessEqual({"dlmb_sweep", "dlmb_trace"}, {path.name for path in self.programs()})
        for program in self.programs():
            self.assertRegex(call(program, "--version"), rf"\A{program.resolve().name} [0-9.]+")

    def test_have_manual_pages_and_completions_of_all_their_options(self) -> None:
        self.assertNotIn("WARNING", self.said)
        for program in self.programs():
            with self.subTest(program.name):
                options = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", call(program, "--help").partition("\n")[2]))
                page = self.prefix / "share" / "man" / "man1" / f"{program.name}.1"
                manual = page.read_text(encoding="utf-8").replace("\\-", "-")
                completion = (self.prefix / "share" / "bash-completion" / "completions" / program.name).read_text(encoding="utf-8")
                # A text may name an option of another program.
                own = {option for option in options if re.search(rf"fB[^\n]*{option}\b", manual)}
                self.assertGreater(len(own), 1)
                self.assertIn("--version", own)
                self.assertEqual({option for option in own if option not in completion}, set())
                if shutil.which("man"):
                    warned = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", str(page)], capture_output=True, text=True, check=False)
                    self.assertEqual(warned.stderr, "")

    def complete(self, *words: str) -> list[str]:
        """What bash offers for the last word."""
        script = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; printf "%s\\n" "${COMPREPLY[@]}"'
        return call("bash", "-c", script, "bash", self.prefix / "share" / "bash-completion" / "completions" / words[0], *words).split()

    def test_completions_know_options_subcommands_and_values(self) -> None:
        self.assertEqual(self.complete("dlmb_collective", "--mess"), ["--message-size"])
        self.assertEqual(self.complete("dlmb_collective", "--layout", "os"), ["osu"])
        self.assertIn("deepseek-v3", self.complete("dlmb_moe_alltoall", "--preset", "deep"))
        self.assertEqual(self.complete("dlmb_tune", "loo"), ["lookup"])
        self.assertIn("--reduction", self.complete("dlmb_tune", "lookup", "table.json", "--red"))
        self.assertEqual(self.complete("dlmb_plot", "--format", "sv"), ["svg"])

    def test_uninstall_leaves_nothing(self) -> None:
        other = Path(self.enterContext(tempfile.TemporaryDirectory())) / "other"
        call("cmake", "--install", BUILD, "--component", "programs", "--prefix", other)
        (other / "bin" / "mine").write_text("kept", encoding="utf-8")
        call("cmake", f"-DBUILD={BUILD}", "-P", Path(__file__).resolve().parents[2] / "cmake" / "uninstall.cmake")
        self.assertEqual([path.name for path in other.rglob("*") if path.is_symlink() or path.is_file()], ["mine"])
        self.assertFalse((other / "share" / "dlmb").exists())


if __name__ == "__main__":
    del Installation  # it is no case of its own
    unittest.main(argv=sys.argv[:1])
