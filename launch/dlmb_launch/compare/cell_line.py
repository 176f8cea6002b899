# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The fields of a cell's line that a comparison looks at, results-schema/README.md says what they are."""

from __future__ import annotations

from typing import Optional, TypedDict


class Traffic(TypedDict, total=False):
    payload_bytes: int
    wire_bytes: int


class Time(TypedDict, total=False):
    median: float
    p99: Optional[float]
    max: float


class Rounds(TypedDict, total=False):
    medians_ns: list[float]
    median_of_rounds_ns: Optional[float]
    aa_ratio: Optional[float]


class Bandwidth(TypedDict, total=False):
    busbw_GBps: Optional[float]


class Validation(TypedDict, total=False):
    verdict: str


class Cache(TypedDict, total=False):
    slots: int


class CellLine(TypedDict, total=False):
    kind: str
    launch_id: str
    cell_id: str
    pattern: str
    backend: str
    memory: str
    mode: str
    definition: str
    status: str
    reason: str
    fill: str
    shared_gpu: bool
    below_floor: Optional[bool]
    iterations_per_sample: int
    traffic: Optional[Traffic]
    time_ns: Optional[Time]
    rounds: Optional[Rounds]
    bandwidth: Optional[Bandwidth]
    validation: Optional[Validation]
    cache: Cache
