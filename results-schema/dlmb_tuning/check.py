# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with rules although they can be read: contradictions, rules that never match, claims beyond what was
measured. The same checks as common/tuning/validate.cpp."""

from __future__ import annotations

import math
from typing import Any, Iterator

from .fields import LARGEST
from .rules import Rule

WORDS = {
    "dtype": ("byte", "int32", "int64", "fp8", "fp16", "bf16", "fp32", "fp64"),
    "reduction": ("sum", "prod", "min", "max", "user"),
    "memory": ("host", "pinned", "cuda", "managed", "nccl", "rocm"),
}
LEAST = {"bytes": 0, "ranks": 1, "nodes": 1, "ppn": 1, "imbalance": 1, "group_ops": 1, "group_pipe_ops": 1}
REDUCING = ("allreduce", "reduce_scatter")
ONLY_FOR = {
    "reduction": REDUCING,
    "commutative": REDUCING,
    "uniform": ("exchange",),
    "imbalance": ("exchange",),
    "link": ("sendrecv",),
}


def problems_of(rule: Rule, has_gpu: bool) -> Iterator[str]:
    for name, condition in rule.conditions.items():
        if isinstance(condition, tuple):
            if not condition[0] <= condition[1]:
                yield f"when.{name}: min {condition[0]} is above max {condition[1]}"
            elif condition[0] < LEAST[name]:
                yield f"when.{name}: min {condition[0]} is below {LEAST[name]}, the least there is"
        if name in WORDS and condition not in WORDS[name]:
            yield f"when.{name}: '{condition}' is none of {', '.join(WORDS[name])}"
        if rule.operation not in ONLY_FOR.get(name, (rule.operation,)):
            yield f"when.{name}: {rule.operation} has no such condition, so the rule would never match; leave it out"
    if not has_gpu and rule.conditions.get("memory", "host") != "host":
        yield f"when.memory: is {rule.conditions['memory']}, but 'system' names no gpu that this was measured on"
    yield from contradictions(rule)
    yield from problems_of_choice(rule)
    if rule.evidence is not None:
        yield from problems_of_evidence(rule)


def contradictions(rule: Rule) -> Iterator[str]:
    least_nodes = rule.conditions.get("nodes", (1, 1))[0]
    least_ppn = rule.conditions.get("ppn", (1, 1))[0]
    most_ranks = rule.conditions.get("ranks", (1, LARGEST))[1]
    if max(least_nodes, least_ppn) > most_ranks:
        yield f"when: can never match: {most_ranks} ranks cannot fill the nodes"
    distribution = rule.conditions.get("distribution")
    if distribution == "single_node" and least_nodes > 1:
        yield "when: can never match: single_node on several nodes"
    if distribution == "one_per_node" and least_ppn > 1:
        yield "when: can never match: one_per_node with several ranks on each"


def problems_of_choice(rule: Rule) -> Iterator[str]:
    for name in ("id", "scope"):
        if not getattr(rule, name):
            yield f"{name}: is empty"
    for name in ("backend", "method"):
        if not getattr(rule, name):
            yield f"choose.{name}: is empty"
    if rule.scope not in ("select", rule.backend):
        yield f"choose.backend: is '{rule.backend}' in the scope of '{rule.scope}'; only scope 'select' chooses a backend"
    if rule.status != "chosen" and (rule.method != "default" or rule.algorithm is not None or rule.params):
        yield f"choose: status {rule.status} keeps the default: method 'default', no algorithm, no params"


def problems_of_evidence(rule: Rule) -> Iterator[str]:
    evidence = rule.evidence
    least, most = rule.conditions.get("bytes", (0, LARGEST))
    if most == LARGEST:
        yield "when.bytes: has no max, but nobody measured without an end; give the largest measured size"
    elif not all(least <= size <= most for size in evidence.sizes):
        yield "evidence.sizes: holds a size outside of when.bytes"
    if not evidence.sizes or evidence.sizes != sorted(evidence.sizes):
        yield "evidence.sizes: must hold the measured sizes in ascending order"
    if not all(math.isfinite(time) and time > 0 for time in evidence.times_ns):
        yield "evidence.median_ns: holds a time that is not above 0"
    if not all(map(math.isfinite, evidence.gain)) or evidence.gain[0] > evidence.gain[1]:
        yield "evidence.ci: must be [low, high] around a finite gain"


def meet(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return one[0] <= other[1] and other[0] <= one[1]
    return one == other


def conflicts(rules: list[Rule]) -> Iterator[tuple[int, str]]:
    """Rules of one scope and operation that some operation matches both."""
    for later, rule in enumerate(rules):
        for other in rules[:later]:
            if other.id == rule.id:
                yield later, f"id: '{rule.id}' is there twice; ids are unique"
            if (other.scope, other.operation) == (rule.scope, rule.operation) and all(
                meet(condition, rule.conditions[name]) for name, condition in other.conditions.items() if name in rule.conditions
            ):
                yield later, f"'{rule.id}' overlaps '{other.id}'; split them so that no operation matches both"
