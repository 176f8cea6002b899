# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged outputs of other programs are refused in one line, or converted without what was damaged; there is no traceback."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import unittest
from pathlib import Path

import outputs

from dlmb_launch.convert import command

DAMAGES = 700
INSERTED = (b"", b"\xff", b"\n", b'"', b"[" * 3000, b"{", b"9" * 400, b"-", b"null", b"nan", b"1e999", b"\t")
TEXTS = [text.encode() for name, text in vars(outputs).items() if name.isupper() and isinstance(text, str) and "\n" in text]


class DamagedTest(unittest.TestCase):
    def test_changed_bytes(self) -> None:
        self.assertGreater(len(TEXTS), 5)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "output.txt"
            for seed in range(DAMAGES):
                chance = random.Random(seed)
                content = bytearray(chance.choice(TEXTS))
                for _ in range(chance.choice((1, 3, 20))):
                    at = chance.randrange(len(content) + 1)
                    content[at : at + chance.choice((0, 1, 1, 50))] = chance.choice(INSERTED)
                path.write_bytes(content)
                errors = io.StringIO()
                with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
                    code = command.main([str(path), "--ranks", "4", "-o", f"{folder}/results.jsonl"])
                self.assertIn((code, errors.getvalue().count("\n")), ((0, 0), (64, 1)), f"{seed}: {errors.getvalue()}")


if __name__ == "__main__":
    unittest.main()
