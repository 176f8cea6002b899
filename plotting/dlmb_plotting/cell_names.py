# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Short names of cells: of their ids only what differs."""

from __future__ import annotations

from collections.abc import Iterable


def short_names(identifiers: Iterable[str]) -> dict[str, str]:
    """A cell id is sorted key=value parts joined by '/'; parts that all share are left out."""
    parts = {identifier: identifier.split("/") for identifier in identifiers}
    shared = set.intersection(*(set(each) for each in parts.values())) if len(parts) > 1 else set()
    return {identifier: " ".join(shown(part) for part in each if part not in shared) or identifier for identifier, each in parts.items()}


def shown(part: str) -> str:
    name, _, value = part.partition("=")
    return value if name in ("backend", "method", "pattern", "preset") else f"{name.removeprefix('p.')}={value}"
