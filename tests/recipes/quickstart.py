# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What launch/quickstart measures is small enough for an interval. Argument: the folder of the programs.

Six samples are the least, in 3 s; four ranks of a machine with two busy cores move a few hundred megabytes per second each way together.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from dlmb_results.plans import one_plan

QUICKSTART = Path(__file__).resolve().parents[2] / "launch" / "quickstart"
MOST_BYTES_OF_A_RANK = 32 << 20  # of an iteration


def busiest_rank(plans: list[dict[str, Any]]) -> int:
    """Bytes of one iteration, those to the rank itself left out; of collectives the whole vector."""

    def sent(rank: int, step: dict[str, Any]) -> int:
        return sum(block["bytes"] for block in step["send"] if block["peer"] != rank) if "send" in step else step.get("bytes", 0)

    return max(sum(sent(plan["rank"], step) for step in plan["steps"]) for plan in plans)


class Quickstart(unittest.TestCase):
    def test_an_iteration_of_every_pattern_leaves_time_for_many_samples(self) -> None:
        text = QUICKSTART.read_text(encoding="utf-8")
        (ranks,) = re.findall(r"^readonly RANKS=(\d+)$", text, re.MULTILINE)
        lines = re.findall(r"^    measure (\w+) (.+)$", text, re.MULTILINE)
        self.assertGreaterEqual(len(lines), 4)
        for pattern, options in lines:
            words = shlex.split(options)
            presets = words[words.index("--preset") + 1]
            for preset in presets.split(","):
                one = [preset if word == presets else word for word in words]
                command = [PROGRAMS / f"dlmb_{pattern}", *one, "--ranks", ranks, "--plan", "jsonl"]
                document = one_plan(subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout)
                self.assertLess(busiest_rank(document["plans"]), MOST_BYTES_OF_A_RANK, f"{pattern} {preset}")


if __name__ == "__main__":
    PROGRAMS = Path(sys.argv.pop(1))
    unittest.main()
