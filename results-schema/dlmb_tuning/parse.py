# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""JSON, strictly: what another reader could take for something else is refused."""

from __future__ import annotations

import json
import math
from typing import Any

from .errors import SYNTAX, TableError

DEEPEST = 17


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON leaves open what two fields of one name mean, and readers differ."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise TableError(SYNTAX, f"the field '{name}' is there twice")
    return dict(pairs)


def parse(content: bytes) -> Any:
    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text} is no JSON number of 64 bits")
        return value

    def whole(text: str) -> int:
        finite(text)
        return int(text)

    try:
        value = json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=without_repetition,
            parse_float=finite,
            parse_int=whole,
            parse_constant=finite,
        )
        check_nesting(value, 1)
        return value
    except TableError:
        raise
    except (ValueError, RecursionError) as error:
        raise TableError(SYNTAX, f"not JSON: {error}; write the table again or correct it by hand") from None


def check_nesting(value: Any, level: int) -> None:
    if isinstance(value, str):
        value.encode("utf-8")  # half a surrogate pair is no text
    inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    if level > DEEPEST and isinstance(value, (dict, list)):
        raise TableError(SYNTAX, f"nests deeper than {DEEPEST - 1}")
    for each in inner:
        check_nesting(each, level + 1)
