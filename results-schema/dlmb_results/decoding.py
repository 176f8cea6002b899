# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From the bytes of a line to a dictionary. Millions of lines are read several times faster where msgspec is installed: of a cell it
builds only the fields that the caller wants and passes over all others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

try:
    import msgspec
except ModuleNotFoundError:
    msgspec = None

Line = dict[str, Any]
Decode = Callable[[bytes], "Line | None"]  # None: not a whole line of a result file

# Inside a JSON string the second quote would have a backslash before it, so this is always the field itself.
SAMPLES = re.compile(rb'"samples_ns":\s*\[[^\]]*\]')


def whole(line: bytes) -> Line | None:
    """Every field, and `samples_ns` empty."""
    try:
        value = json.loads(SAMPLES.sub(b'"samples_ns":[]', line).decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) and "kind" in value else None


def decoder(cell_fields: type | None) -> Decode:
    """cell_fields: a TypedDict with the fields of cells that the caller looks at; None: all. Other lines are always whole."""
    if msgspec is None or cell_fields is None:
        return whole
    narrow = msgspec.json.Decoder(cell_fields).decode
    fault = msgspec.MsgspecError

    def decode(line: bytes) -> Line | None:
        try:
            value = narrow(line)
            if value.get("kind") == "cell":
                return value
        except (fault, ValueError):
            pass
        return whole(line)

    return decode
