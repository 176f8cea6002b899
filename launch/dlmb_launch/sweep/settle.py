# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Before a launch is repeated: what its result file keeps.

Cells that are ok stay, and --resume skips them. A broken last line and cells that failed go to a file beside it: they
will be measured again, and a cell has one line in a launch's results. Nothing is lost.
"""

from __future__ import annotations

import json
from pathlib import Path

from dlmb_launch.sweep.faults import OutputError
from dlmb_launch.sweep.state import write_whole


def settle(results: Path) -> None:
    try:
        lines = results.read_bytes().decode("utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"{results}: {error.strerror}") from None
    kept = [line for line in lines if _stays(line)]
    aside = [line if line.endswith("\n") else line + "\n" for line in lines if not _stays(line)]
    if not aside:
        return
    superseded = results.with_name(results.name + ".superseded")
    try:
        with superseded.open("a", encoding="utf-8") as file:
            file.writelines(aside)
    except OSError as error:
        raise OutputError(f"{superseded}: {error.strerror}") from None
    write_whole(results, "".join(kept))


def _stays(line: str) -> bool:
    if not line.endswith("\n"):
        return False
    try:
        entry = json.loads(line)
    except ValueError:
        return False
    return not isinstance(entry, dict) or entry.get("kind") != "cell" or entry.get("status") in ("ok", "skipped")
