# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of an operation, counted as the programs of DLMB count them (common/plan/traffic.cpp): they follow from operation, size
and ranks, so they are known although the origin does not print them. Other operations have no traffic here.
"""

from __future__ import annotations

from typing import Any

from dlmb_launch.convert.measured import Number

TIMES_OWN_SHARE = {"allreduce": 2, "reduce_scatter_block": 1, "reduce_scatter": 1, "allgather": 1}  # of the buffer, less the share that stays
PER_RANK = ("allgather", "allgatherv", "alltoall", "alltoallv", "gather", "gatherv", "scatter", "scatterv")  # size is a block of one rank


def block_of(operation: str, total: Number, ranks: int) -> Number:
    """The size as dlmb_collective counts it, of a total that the origin counts. A fraction where ranks do not divide the total."""
    if operation not in PER_RANK:
        return total
    return total // ranks if total % ranks == 0 else total / ranks


def of_operation(operation: str, size: Number | None, ranks: int) -> dict[str, Any] | None:
    if size is None:
        return None
    total = round(size * ranks) if operation in PER_RANK else round(size)
    if operation in TIMES_OWN_SHARE:
        moved = TIMES_OWN_SHARE[operation] * total * (ranks - 1) // ranks
        return summary(payload=total * ranks, wire=moved * ranks, own=0, busiest=moved, largest=total)
    if operation == "alltoall":
        moved = total * (ranks - 1) // ranks
        return summary(payload=total * ranks, wire=moved * ranks, own=(total - moved) * ranks, busiest=moved, largest=total)
    if operation == "sendrecv":
        moved = total if ranks > 1 else 0
        return summary(payload=total * ranks, wire=moved * ranks, own=(total - moved) * ranks, busiest=moved, largest=total)
    if operation == "broadcast":
        moved = total if ranks > 1 else 0
        receivers = max(1, ranks - 1)
        found = summary(payload=total, wire=moved, own=0, busiest=moved, largest=total)
        return found | {"imbalance_send": float(ranks if moved else 1), "imbalance_recv": ranks / receivers if moved else 1.0}
    return None


def summary(payload: int, wire: int, own: int, busiest: int, largest: int) -> dict[str, Any]:
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
