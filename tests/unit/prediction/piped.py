# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_PATTERN [its options] --plan json | dlmb_predict time - [the others]"""

from __future__ import annotations

import subprocess
from pathlib import Path

FLAGS = {"--json", "--bound", "--force"}
OPTIONS = {"--machine", "--latency", "--overhead", "--gap-per-byte", "--algorithm", "--topology", "--path", "--hop", "--rate-tolerance",
           "--placement-seed", "--eager-limit"}


def time_of(predict: Path, pattern: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """What the first program of the pipe says where it fails, else what the second says."""
    asked, planned = [], []
    left = iter(arguments)
    for word in left:
        if word in FLAGS:
            asked.append(word)
        elif word in OPTIONS:
            asked += [word, next(left)]
        else:
            planned.append(word)
    plans = run([str(predict.parent / f"dlmb_{pattern}"), *planned, "--plan", "jsonl"])
    return plans if plans.returncode else run([str(predict), "time", "-", *asked], plans.stdout)


def run(command: list[str], given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=300)
