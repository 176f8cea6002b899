# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From tables of other programs to the lines of result files (`converted_launch` and `converted` in results-schema/), and the bytes of an
operation, counted as the programs of DLMB count them (common/formats/plan/traffic.cpp): they follow from operation, size and ranks, so they are
known although the origin does not print them. Other operations have no traffic.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dlmb_launch.convert.measured import Given, Number, Row, Table
from dlmb_results.cells import Line
from dlmb_results.variables import recorded, stable_hash

TIMES_OWN_SHARE = {"allreduce": 2, "reduce_scatter_block": 1, "reduce_scatter": 1, "allgather": 1}  # of the buffer, less the share that stays
MAY_BE_UNEVEN = ("allgatherv", "alltoallv", "gatherv", "scatterv")
PER_RANK = ("allgather", "allgatherv", "alltoall", "alltoallv", "gather", "gatherv", "scatter", "scatterv")  # size is a block of one rank


def block_of(operation: str, total: Number, ranks: int) -> Number:
    """The size as dlmb_collective counts it, of a total that the origin counts. A fraction where ranks do not divide the total."""
    if operation not in PER_RANK:
        return total
    return total // ranks if total % ranks == 0 else total / ranks


def of_operation(operation: str, size: Number | None, ranks: int, equal: bool) -> dict[str, Any] | None:
    """equal: all parts of a vector form have this size."""
    if size is None or (operation in MAY_BE_UNEVEN and not equal):
        return None
    plain = operation.removesuffix("v") if operation in MAY_BE_UNEVEN else operation
    total = round(size * ranks) if operation in PER_RANK else round(size)
    if plain in TIMES_OWN_SHARE:
        wire = TIMES_OWN_SHARE[plain] * total * (ranks - 1)
        own = 0 if plain == "allreduce" else total
        return summary(payload=total * ranks, wire=wire, own=own, busiest=wire / ranks, largest=total)
    if plain in ("alltoall", "sendrecv"):
        moved = total * (ranks - 1) // ranks if plain == "alltoall" else total if ranks > 1 else 0
        return summary(payload=total * ranks, wire=moved * ranks, own=(total - moved) * ranks, busiest=moved, largest=total)
    if plain in ("broadcast", "reduce"):  # each rank but one receives it, or sends one
        moved = total if ranks > 1 else 0
        found = summary(payload=total if plain == "broadcast" else total * ranks, wire=moved * (ranks - 1), own=0, busiest=moved, largest=total)
        return found | imbalances(plain == "broadcast", ranks, moved)
    if plain in ("gather", "scatter"):
        moved = total * (ranks - 1) // ranks
        found = summary(payload=total, wire=moved, own=total - moved, busiest=moved, largest=total)
        return found | {"balanced_rank_bytes": 2 * moved / ranks} | imbalances(plain == "scatter", ranks, moved)
    return None


def imbalances(root_sends: bool, ranks: int, moved: int) -> dict[str, float]:
    """Largest over mean of ranks, where one rank has one direction alone and all others have the other."""
    if not moved:
        return {}
    alone, others = float(ranks), ranks / (ranks - 1)
    return {"imbalance_send": alone if root_sends else others, "imbalance_recv": others if root_sends else alone}


def summary(payload: int, wire: int, own: int, busiest: float, largest: int) -> dict[str, Any]:
    """Of ranks that do the same."""
    return {"payload_bytes": payload, "wire_bytes": wire, "self_bytes": own, "busiest_rank_bytes": busiest, "largest_total_bytes": largest,
            "balanced_rank_bytes": float(busiest), "imbalance_send": 1.0, "imbalance_recv": 1.0}


def bandwidth(traffic: dict[str, Any], time_ns: float, divisor: int) -> dict[str, float] | None:
    """One byte per nanosecond is 10^9 bytes per second. divisor: of the time of all that goes over the wire."""
    if not time_ns > 0 or not traffic["wire_bytes"]:
        return None
    return {"algbw_GBps": traffic["largest_total_bytes"] / time_ns, "busbw_GBps": traffic["busiest_rank_bytes"] / time_ns,
            "aggregate_GBps": traffic["wire_bytes"] / (time_ns * divisor)}


SCHEMA = "dlmb.result/1.0"
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
LONGEST_ID = 1000


def escaped(value: str) -> str:
    """As common/formats/record/record.cpp does it."""
    return "".join(letter if letter in PLAIN else "".join(f"+{byte:02X}" for byte in letter.encode()) for letter in value)


def cell_id(parts: Mapping[str, str]) -> str:
    text = "/".join(f"{key}={escaped(value)}" for key, value in sorted(parts.items()))
    if len(text) <= LONGEST_ID:
        return text
    ending = f"/hash={stable_hash(text)}"
    return text[: LONGEST_ID - len(ending)] + ending


def launch_id(content: bytes, place: int) -> str:
    """The same for the same table of the same file, so that nothing counts twice."""
    return hashlib.sha256(content + f"/{place}".encode()).hexdigest()[:16]


def origin_of(table: Table, file: str, line: int) -> Line:
    version = {"version": table.version} if table.version else {}
    return {"suite": table.suite, "program": table.program, **version, "file": file, **({"line": line} if line else {})}


def world_of(table: Table) -> Line:
    return {"ranks": table.ranks, "ranks_per_node": table.ranks_per_node}


def lines_of(table: Table, file: str, identifier: str, campaign: str, given: Given) -> Iterator[Line]:
    yield launch_line(table, file, identifier, campaign, given)
    states: Counter[str] = Counter()
    for row in table.rows:
        line = cell_line(table, row, file, identifier, given)
        states[line["status"]] += 1
        yield line
    failed = set(states) != {"ok"}
    yield {"kind": "end", "launch_id": identifier, "status": "failed" if failed else "ok", "cells": dict(sorted(states.items())), "self_comparison": None}


def launch_line(table: Table, file: str, identifier: str, campaign: str, given: Given) -> Line:
    identity = dict(table.identity) | {"ranks": str(table.ranks)}
    if given.system:
        identity["system"] = given.system
    origin = origin_of(table, file, table.line)
    if table.time:
        origin["time"] = table.time
    environment = {
        "env_key": stable_hash("\n".join(f"{key}={value}" for key, value in sorted(identity.items()))), "identity": dict(sorted(identity.items())),
        "informational": {}, "variables": recorded(table.variables), "ranks": [], "largest_cache_bytes": 0,
        "warnings": [f"converted from output of {table.suite}, not measured by DLMB: bytes were not checked, there is no interval"],
    }
    return {
        "kind": "launch", "schema": SCHEMA, "launch_id": identifier, "campaign_id": campaign or table.campaign or identifier, "time": None,
        "program": table.program, "command": table.command, "world": world_of(table), "test_double": False, "environment": environment,
        "calibration": None, "order_seed": None, "origin": origin,
    }


def cell_line(table: Table, row: Row, file: str, identifier: str, given: Given) -> Line:
    parameters: dict[str, str | Number] = {"operation": row.operation}
    if row.size is not None:
        parameters["message-size"] = row.size
    if given.system and "system" not in row.parameters:
        parameters["system"] = given.system
    parameters |= row.parameters
    moved = of_operation(row.operation, row.size, table.ranks or 1, equal=parameters.get("skew") == "balanced")
    identity = {
        "pattern": "collective", "backend": row.backend, "method": row.method, "memory": row.memory, "mode": table.mode, "origin": table.suite,
        "ranks": str(table.ranks), "ranks_per_node": str(table.ranks_per_node),
    } | {f"p.{name}": str(value) for name, value in parameters.items()}
    failed = row.validation == "failed"
    other_axis = table.percentile_axis and {"percentiles", "min", "max"} & set(row.time_ns or {})
    axis = table.axis + (f"; percentiles {table.percentile_axis}" if other_axis else "")
    return {
        "kind": "cell", "launch_id": identifier, "cell_id": cell_id(identity), "pattern": "collective", "preset": "",
        "parameters": dict(sorted(parameters.items())), "backend": row.backend, "method": row.method, "memory": row.memory, "mode": table.mode,
        "world": world_of(table), "status": "invalid" if failed else "ok", "reason": f"{table.program} found wrong bytes" if failed else "",
        "traffic": moved, "time_ns": None if failed or row.time_ns is None else {**row.time_ns, "axis": axis},
        "bandwidth": None if failed else bandwidth_of(row, moved), "definition": table.definition,
        "validation": {"verdict": "off", "of_origin": row.validation or "off"}, "statistics": row.statistics,
        "backend_facts": {**table.facts, **row.facts}, "is_default": row.is_default, "origin": origin_of(table, file, row.line),
    }


def bandwidth_of(row: Row, moved: Line | None) -> Line | None:
    """Of the origin where it prints one, else of its time and the bytes of the operation."""
    if row.bandwidth is not None:
        return dict(row.bandwidth)
    time = row.time_ns or {}
    typical = time.get("median", time.get("mean"))
    divisor = 2 if row.parameters.get("route") == "ping_pong" else 1  # a half of the way there and back
    return bandwidth(moved, float(typical), divisor) if moved and isinstance(typical, (int, float)) else None
