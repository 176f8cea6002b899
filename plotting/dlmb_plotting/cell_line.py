# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The fields of a cell's line that plots look at, results-schema/README.md says what they are."""

from __future__ import annotations

from typing import Any, Optional, TypedDict


class World(TypedDict, total=False):
    ranks: int
    ranks_per_node: int


class Cache(TypedDict, total=False):
    mode: str


class Traffic(TypedDict, total=False):
    payload_bytes: int
    imbalance_send: float
    imbalance_recv: float


class Time(TypedDict, total=False):
    median: float
    median_low: float
    median_high: float


class Phase(TypedDict, total=False):
    median: float


class Bandwidth(TypedDict, total=False):
    busbw_GBps: Optional[float]


class CellLine(TypedDict, total=False):
    kind: str
    launch_id: str
    cell_id: str
    pattern: str
    preset: Optional[str]
    parameters: Optional[dict[str, Any]]
    backend: str
    method: str
    memory: str
    mode: str
    seed: int
    draws: int
    cache: Optional[Cache]
    fill: str
    world: Optional[World]
    status: str
    reason: Optional[str]
    traffic: Optional[Traffic]
    time_ns: Optional[Time]
    phases: Optional[dict[str, Phase]]
    bandwidth: Optional[Bandwidth]
