# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of an operation, counted as the programs of DLMB count them (common/formats/plan/traffic.cpp): they follow from operation, size
and ranks, so they are known although the origin does not print them. Other operations have no traffic here.
"""

from __future__ import annotations

from typing import Any

from dlmb_launch.convert.measured import Number

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
        return summary(payload=total * ranks, wire=wire, own=0, busiest=wire / ranks, largest=total)
    if plain == "alltoall":
        moved = total * (ranks - 1) // ranks
        return summary(payload=total * ranks, wire=moved * ranks, own=(total - moved) * ranks, busiest=moved, largest=total)
    if plain == "sendrecv":
        moved = total if ranks > 1 else 0
        return summary(payload=total * ranks, wire=moved * ranks, own=(total - moved) * ranks, busiest=moved, largest=total)
    if plain in ("broadcast", "reduce"):  # passed on along a chain: a broadcast counts at the root, a reduction at all others
        moved = total if ranks > 1 else 0
        counted = 1 if plain == "broadcast" else ranks - 1
        found = summary(payload=total if plain == "broadcast" else total * ranks, wire=moved * counted, own=0, busiest=moved, largest=total)
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
    return {
        "payload_bytes": payload,
        "wire_bytes": wire,
        "self_bytes": own,
        "busiest_rank_bytes": busiest,
        "largest_total_bytes": largest,
        "balanced_rank_bytes": float(busiest),
        "imbalance_send": 1.0,
        "imbalance_recv": 1.0,
    }


def bandwidth(traffic: dict[str, Any], time_ns: float) -> dict[str, float] | None:
    """One byte per nanosecond is 10^9 bytes per second."""
    if not time_ns > 0 or not traffic["wire_bytes"]:
        return None
    parts = {"algbw_GBps": "largest_total_bytes", "busbw_GBps": "busiest_rank_bytes", "aggregate_GBps": "wire_bytes"}
    return {name: traffic[of] / time_ns for name, of in parts.items()}
