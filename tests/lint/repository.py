# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The project's own files, for the lint checks: what git tracks or would track, or, outside git, every file found."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = ("build", "results", ".git", ".cache", "shared")
CPP = {".hpp", ".cpp", ".h", ".c", ".cu"}
SKIPPED = 77


def files() -> list[Path]:
    """Paths relative to ROOT, sorted."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        found = [Path(name) for name in listed.stdout.splitlines()]
    else:
        found = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
    return sorted(path for path in found if path.parts[0] not in NOT_OURS and (ROOT / path).is_file())


def text_files() -> list[tuple[Path, str]]:
    """With their content; pictures, seeds and other binary files are left out."""
    texts = []
    for path in files():
        content = (ROOT / path).read_bytes()
        if "corpus" in path.parts:  # seeds of fuzz targets: any bytes
            continue
        if b"\0" not in content:
            texts.append((path, content.decode("utf-8")))
    return texts
