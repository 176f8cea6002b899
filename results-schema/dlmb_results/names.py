# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of cells for people and for other tools.

A cell_id holds the parameters that are not the default, so that a new parameter leaves old ids as they are. A reader has to know the
operation also where it is the default, and of windows of messages their length and how many pairs send them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATTERN = "collective"
WINDOWED = ("bandwidth", "message_rate", "bibandwidth")


def plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def parts_of(cell_id: str) -> dict[str, str]:
    """key=value parts of a cell id. Of one that was cut, those behind its end are missing."""
    return dict(part.split("=", 1) for part in cell_id.split("/") if "=" in part)


def named(cell_id: str, pattern: str, parameters: Mapping[str, Any]) -> str:
    """The cell_id with these parameters in it, in its order."""
    operation = parameters.get("operation")
    if pattern != PATTERN or operation is None:
        return cell_id
    wanted = ("operation", "window", "pairs") if operation in WINDOWED else ("operation",)
    parts = cell_id.split("/")
    held = {part.partition("=")[0] for part in parts}
    added = [f"p.{name}={parameters[name]}" for name in wanted if name in parameters and f"p.{name}" not in held]
    return "/".join(sorted([*parts, *added], key=lambda part: part.partition("=")[0])) if added else cell_id


def environment_part(file: Path, folder: Path) -> str:
    """What tells cells of a sweep's environments apart in a folder that holds several: behind the cell_id. Empty: the file is of none."""
    name = file.relative_to(folder).parent.name
    return f"/environment={name}" if name and re.search(rf"\.[0-9]+r([0-9]+n)?\.{re.escape(name)}\.[0-9]+$", file.stem) else ""
