# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""No kernel holds a trap. nvcc 13 makes one, and says nothing, where a kernel calls a host function by reference to what only the
host has, as std::min of a class's constant. No kernel here traps on purpose."""

import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMANDS = Path(os.environ["DLMB_COMPILE_COMMANDS"])


def ptx_of(entry: dict, folder: Path) -> str:
    """What the entry's command makes of its file, as PTX, which is for one architecture."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if Path(word).name == "nvcc")  # not a compiler cache
    command, skip = [], False
    for word in words[start:]:
        if skip or word in ("-c", "-MD") or word.startswith("--generate-code"):
            skip = False
        elif word in ("-o", "-MT", "-MF"):
            skip = True
        else:
            command.append(word)
    to = folder / "kernel.ptx"
    subprocess.run([*command, "-arch=compute_90", "-ptx", "-o", str(to)], cwd=entry["directory"], check=True)
    return to.read_text(encoding="utf-8")


class Traps(unittest.TestCase):
    def test_there_is_none(self):
        kernels = [entry for entry in json.loads(COMMANDS.read_text(encoding="utf-8")) if entry["file"].endswith(".cu")]
        self.assertGreaterEqual(len(kernels), 6)
        with tempfile.TemporaryDirectory() as folder:
            for entry in kernels:
                ptx = ptx_of(entry, Path(folder))
                self.assertIn(".entry", ptx, entry["file"])
                self.assertEqual(re.findall(r"^\s*trap;", ptx, re.MULTILINE), [], entry["file"])


if __name__ == "__main__":
    unittest.main()
