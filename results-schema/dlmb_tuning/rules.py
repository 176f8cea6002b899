# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One rule: its conditions, as a mapping from name to an interval (a pair) or a value, and its choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .fields import LARGEST, Fields, as_number, as_whole

BASIS = {
    "allreduce": "buffer",
    "reduce_scatter": "total",
    "allgather": "total",
    "broadcast": "buffer",
    "exchange": "rank_send",
    "sendrecv": "message",
}
OPERATIONS = tuple(BASIS)
COUNTS = ("ranks", "nodes", "ppn")
YES_NO = ("commutative", "registered", "in_place", "uniform", "overlap")
PARAMS = ("channels", "chunk_bytes", "segment_bytes", "fanout", "max_requests", "radix", "max_outstanding")


@dataclass(frozen=True)
class Evidence:
    sizes: list[int]
    times_ns: list[float]
    gain: list[float]  # low, high, stated


@dataclass(frozen=True)
class Rule:
    id: str
    scope: str
    operation: str
    conditions: dict[str, Any]
    backend: str
    method: str
    algorithm: Optional[dict[str, Any]]
    params: dict[str, Any]
    status: str
    evidence: Optional[Evidence]

    def matches(self, operation: str, known: dict[str, Any]) -> bool:
        return operation == self.operation and all(
            name in known and holds(condition, known[name]) for name, condition in self.conditions.items()
        )


def holds(condition: Any, value: Any) -> bool:
    if isinstance(condition, tuple):
        return condition[0] <= value <= condition[1]
    return condition == value


def interval_if(object_: Fields, name: str, number: Any) -> Optional[tuple[Any, Any]]:
    inner = object_.object_if(name)
    if inner is None:
        return None
    interval = (number(inner, "min"), number(inner, "max"))
    inner.close()
    return interval


def bytes_if(when: Fields, operation: str) -> Optional[tuple[int, int]]:
    inner = when.object_if("bytes")
    if inner is None:
        return None
    basis = inner.text("basis")
    if basis != BASIS[operation]:
        raise inner.refuse("basis", f"'{basis}' is not the basis of {operation}; give its sizes as '{BASIS[operation]}'")
    least, most = inner.whole("min"), inner.whole_if("max")
    inner.close()
    return least, LARGEST if most is None else most


def conditions_from(when: Fields, operation: str) -> dict[str, Any]:
    found: dict[str, Any] = {"bytes": bytes_if(when, operation)}
    for name in COUNTS:
        found[name] = interval_if(when, name, Fields.whole)
    if when.has("distribution"):
        found["distribution"] = when.word("distribution", ("one_per_node", "single_node"))
    for name in ("dtype", "reduction", "memory"):
        found[name] = when.text_or_empty(name) or None
    for name in YES_NO:
        found[name] = when.yes_no_if(name)
    found["imbalance"] = interval_if(when, "imbalance", Fields.number)
    group = when.object_if("group")
    if group is not None:
        found["group_ops"] = interval_if(group, "ops", Fields.whole)
        found["group_pipe_ops"] = interval_if(group, "pipe_ops", Fields.whole)
        group.close()
    if when.has("link"):
        found["link"] = when.word("link", ("intra", "inter"))
    when.close()
    return {name: condition for name, condition in found.items() if condition is not None}


def algorithm_if(choose: Fields) -> Optional[dict[str, Any]]:
    inner = choose.object_if("algorithm")
    if inner is None:
        return None
    algorithm = {"family": inner.text("family"), "name": inner.text("name"), "id": inner.whole_if("id")}
    if algorithm["id"] is not None and algorithm["id"] > 2**63 - 1:
        raise inner.refuse("id", "is above 2^63 - 1")
    versions = inner.object_if("versions")
    if versions is not None:
        versions.text_or_empty("min"), versions.text_or_empty("max")
        versions.close()
    inner.close()
    return algorithm


def params_from(choose: Fields) -> dict[str, Any]:
    inner = choose.object_if("params")
    if inner is None:
        return {}
    found: dict[str, Any] = {"protocol": inner.text_or_empty("protocol") or None}
    found |= {name: inner.whole_if(name) for name in PARAMS}
    found |= {"knobs": inner.text_map("knobs") or None, "score": inner.whole_if("score")}
    inner.close()
    return {name: value for name, value in found.items() if value is not None}


def evidence_from(evidence: Fields) -> Evidence:
    sizes = evidence.elements("sizes", as_whole)
    for name in ("samples", "launches", "confirmed"):
        evidence.whole(name)
    times = evidence.object("median_ns")
    times_ns = [times.number("choice"), times.number("default")]
    times_ns += [times.number("runner_up")] if times.has("runner_up") else []
    times.close()
    gain = evidence.number("gain")
    interval = evidence.elements("ci", as_number)
    if len(interval) != 2:
        raise evidence.refuse("ci", "must be [low, high]")
    evidence.close()
    return Evidence(sizes, times_ns, [*interval, gain])


def rule_from(value: Any, path: str) -> Rule:
    fields = Fields(value, path)
    fields.text_or_empty("pattern")
    when, choose = fields.object("when"), fields.object("choose")
    operation = when.word("operation", OPERATIONS)
    rule = Rule(
        id=fields.text("id"),
        scope=fields.text("scope"),
        operation=operation,
        conditions=conditions_from(when, operation),
        backend=choose.text("backend"),
        method=choose.text("method"),
        algorithm=algorithm_if(choose),
        params=params_from(choose),
        status=fields.word("status", ("chosen", "tie", "no_gain")),
        evidence=evidence_from(fields.object("evidence")) if fields.has("evidence") else None,
    )
    choose.close()
    fields.close()
    return rule
