# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tools of others that the recipes are tried with: those that `launch/install-dependencies tools` installed, or in PATH."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def find(name: str) -> str | None:
    return shutil.which(name, path=str(ROOT / "build" / "python" / "bin")) or shutil.which(name)


def require(name: str) -> str:
    """Ends the test as skipped where the tool is not installed."""
    tool = find(name)
    if tool is None:
        print(f"skipped: {name} is not installed: launch/install-dependencies tools")
        sys.exit(SKIPPED)
    return tool
