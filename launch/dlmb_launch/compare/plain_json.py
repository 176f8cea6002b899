# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""JSON whose numbers are plain decimals: no exponent, no NaN or infinity, and what is absent is left out.

Several of the sites that read these files take numbers apart with a pattern that knows no exponent.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

DIGITS = 12  # after the point; p values are small
MARK = "\u0001"  # stands around a number while the rest is written; no text of a result holds it
MARKED = re.compile(r'"\\u0001([-0-9.]+)\\u0001"')


def decimal(value: float) -> str:
    text = f"{value:.{DIGITS}f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: marked(each) for key, each in value.items() if is_present(each)}
    if isinstance(value, (list, tuple)):
        return [marked(each) for each in value if is_present(each)]
    return f"{MARK}{decimal(value)}{MARK}" if isinstance(value, float) else value


def is_present(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def dumps(value: Any) -> str:
    return MARKED.sub(r"\1", json.dumps(marked(value), indent=1)) + "\n"
