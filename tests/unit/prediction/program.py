# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict as a person or a script runs it: what its tests share.

usage: TEST.py DLMB_PREDICT
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.argv[1])
VALIDATE = Path(__file__).resolve().parents[3] / "results-schema" / "validate.py"
FLAGS = {"--json", "--bound", "--force"}
OPTIONS = {"--machine", "--latency", "--overhead", "--gap-per-byte", "--algorithm", "--topology", "--path", "--hop", "--rate-tolerance",
           "--placement-seed", "--eager-limit"}


def run(command: list[object], given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), input=given, capture_output=True, text=True, check=False, timeout=300)


class Program(unittest.TestCase):
    command: tuple[str, ...] = ()  # that every call begins with

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, content: list[str]) -> Path:
        path = self.folder / name
        path.write_text("\n".join(content) + "\n", encoding="utf-8")
        return path

    def call(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        words = [*self.command, *arguments]
        return self.time_of(*words[1:]) if words[1] in ("collective", "pipeline_p2p") else run([PROGRAM, *words])

    def time_of(self, pattern: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """dlmb_PATTERN [its options] --plan jsonl | dlmb_predict time - [the others]: what the first program says where it fails."""
        asked, planned = [], []
        left = iter(arguments)
        for word in left:
            if word in FLAGS:
                asked.append(word)
            elif word in OPTIONS:
                asked += [word, next(left)]
            else:
                planned.append(word)
        plans = run([PROGRAM.parent / f"dlmb_{pattern}", *planned, "--plan", "jsonl"])
        return plans if plans.returncode else run([PROGRAM, "time", "-", *asked], plans.stdout)

    def answer(self, *arguments: object) -> dict[str, Any]:
        done = self.call(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, code: int, part: str, *arguments: object) -> None:
        done = self.call(*arguments)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (code, 1), done.stderr)
        self.assertIn(part, done.stderr)

    def follows_its_schema(self, *documents: Path) -> None:
        if importlib.util.find_spec("jsonschema") is None:
            self.skipTest("no python3-jsonschema")
        done = run([sys.executable, VALIDATE, "--strict", *documents])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def main() -> None:
    unittest.main(argv=sys.argv[:1])
