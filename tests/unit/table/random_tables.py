# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Random tables whose rules are disjoint because each is a leaf of repeated splits, and questions at their edges."""

from __future__ import annotations

import random
from typing import Any

LARGEST = 2**64 - 1
BASIS = {"allreduce": "buffer", "reduce_scatter": "total", "allgather": "total", "broadcast": "buffer"}
BASIS |= {"exchange": "rank_send", "sendrecv": "message"}
WORDS = {
    "memory": ["host", "cuda", "managed"],
    "dtype": ["fp32", "bf16", "byte"],
}
FLAGS = ["in_place"]
COUNTS = ["ranks", "nodes"]
EXTRA = {
    "allreduce": {"reduction": ["sum", "max"]},
    "exchange": {"uniform": [True, False]},
}
CUTS = {"bytes": [1, 1000, 65536, 2**31, 2**32, 2**63, LARGEST], "ranks": [2, 3, 8, 64, 2**31], "imbalance": [1.5, 2.0, 3.25]}


def keys_of(operation: str) -> dict[str, Any]:
    """The values, or None for an interval, of each condition."""
    keys: dict[str, Any] = dict(WORDS) | {name: [True, False] for name in FLAGS} | {name: None for name in ["bytes", *COUNTS]}
    keys |= EXTRA.get(operation, {})
    return keys | ({"imbalance": None} if operation == "exchange" else {})


def pieces(name: str, values: Any, rng: random.Random) -> list[Any]:
    if values is not None:
        return values
    cuts = sorted(rng.sample(CUTS.get(name, CUTS["ranks"]), 2))
    if name == "imbalance":
        return [(1.0, cuts[0] - 0.01), (cuts[0], cuts[1])]
    first = 0 if name == "bytes" else 1
    return [(first, cuts[0] - 1), (cuts[0], cuts[1] - 1), (cuts[1], LARGEST)][: rng.randint(2, 3)]


def leaves(operation: str, rng: random.Random) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{}]
    for name in rng.sample(sorted(keys_of(operation)), 4):
        split = pieces(name, keys_of(operation)[name], rng)
        found = [{**leaf, name: piece} for leaf in found for piece in split] if len(found) < 20 else found
    return [leaf for leaf in found if rng.random() < 0.6 and is_possible(leaf)]


def is_possible(leaf: dict[str, Any]) -> bool:
    ranks_fill_nodes = leaf.get("nodes", (1,))[0] <= leaf.get("ranks", (1, LARGEST))[1]
    return ranks_fill_nodes and all(not isinstance(piece, tuple) or piece[0] <= piece[1] for piece in leaf.values())


def when_of(operation: str, leaf: dict[str, Any]) -> dict[str, Any]:
    when: dict[str, Any] = {"operation": operation}
    for name, piece in leaf.items():
        value = {"min": piece[0], "max": piece[1]} if isinstance(piece, tuple) else piece
        if name == "bytes":
            value = {"basis": BASIS[operation], **value, "max": None if piece[1] == LARGEST else piece[1]}
        when[name] = value
    return when


def choice_of(scope: str, rng: random.Random) -> dict[str, Any]:
    choose: dict[str, Any] = {"backend": scope if scope != "select" else rng.choice(["mpi", "ucx"]), "method": rng.choice(["default", "ring:radix=4"])}
    if rng.random() < 0.5:
        choose["algorithm"] = {"family": "f", "name": "ring", **({"id": rng.randint(0, 9)} if rng.random() < 0.5 else {})}
        choose["params"] = {"segment_bytes": rng.randint(0, 2**40), "knobs": {"A": "b", "UCX_X": "ä\"\\"}}
    return choose


def evidence_of(when: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """None, measured, foreign or predicted; only a rule with an end can have been measured."""
    if when.get("bytes", {}).get("max") is None or rng.random() < 0.3:
        return {}
    evidence = {"sizes": [when["bytes"]["max"]], "samples": 9, "launches": 1, "confirmed": 1, "median_ns": {"choice": 1.5, "default": 2}, "gain": 0.25}
    predicted = {"launches": 0, "confirmed": 0, "predicted": {"fitted_nodes": 64, "held_out_error": 0.2}, "ci": [0.2, 0.3]}
    kind = rng.choice([{"confirmed": 0, "foreign": {"suite": "pico", "statistic": "median"}}, {"ci": [0.2, 0.3]}, predicted])
    return {"evidence": evidence | kind}


def standing_of(scope: str, rng: random.Random) -> dict[str, Any]:
    """A choice that holds, or the default beside something that looks better."""
    if rng.random() < 0.8:
        return {"choose": choice_of(scope, rng), "status": "chosen"}
    backend = "mpi" if scope == "select" else scope
    candidate = {"choose": {"backend": backend, "method": "ring:radix=4"}, "gain": 0.25, "ci": [0.2, 0.3]}
    return {"choose": {"backend": backend, "method": "default"}, "status": rng.choice(["undecided", "unconfirmed"]), "candidate": candidate}


def random_rules(rng: random.Random) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = []
    for scope in ("select", "mpi", "ucx"):
        for operation in BASIS:
            for leaf in leaves(operation, rng):
                rule = {"id": f"r{len(rules)}", "scope": scope, "when": when_of(operation, leaf)}
                rules.append({**rule, **standing_of(scope, rng), **evidence_of(rule["when"], rng)})
    rng.shuffle(rules)
    return rules


def edges_of(rules: list[dict[str, Any]], name: str) -> list[Any]:
    edges: set[Any] = set()
    for rule in rules:
        value = rule["when"].get(name)
        if isinstance(value, dict):
            most = LARGEST if value["max"] is None else value["max"]
            step = 0.01 if name == "imbalance" else 1
            edges |= {value["min"] - step, value["min"], most, most + step}
    least, most = (0.0, 1e9) if name == "imbalance" else (0, LARGEST if name == "bytes" else 2**63 - 1)
    return [edge for edge in sorted(edges) if least <= edge <= most] or [4]


def random_question(rules: list[dict[str, Any]], rng: random.Random) -> dict[str, Any]:
    """Mostly one that some rule answers, moved to an edge or left unknown in some keys."""
    rule = rng.choice(rules)
    operation = rule["when"]["operation"]
    question: dict[str, Any] = {"operation": operation, "bytes": rng.choice([0, 1, 2**31, 2**32, 2**63, LARGEST])}
    if rule["scope"] != "select" or rng.random() < 0.2:
        question["backend"] = rng.choice(["mpi", "ucx", "nccl"]) if rng.random() < 0.2 else rule["scope"].replace("select", "mpi")
    for name, values in keys_of(operation).items():
        if rng.random() < 0.1:
            continue
        condition = rule["when"].get(name)
        if values is None:
            edges = edges_of([rule] if rng.random() < 0.8 else rules, name)
            question[name] = rng.choice(edges)
        else:
            question[name] = condition if condition is not None and rng.random() < 0.9 else rng.choice(values)
    return question
