# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One rule: its conditions, as a mapping from name to an interval (a pair) or a value, and its choice. And what is wrong
with rules although they can be read: contradictions, rules that never match, claims beyond what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterator, Optional

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
COUNTS = ("ranks", "nodes")
HOST_MEMORY = ("host", "ucx")  # of no GPU
YES_NO = ("in_place", "uniform")
PARAMS = ("channels", "segment_bytes", "fanout", "max_requests", "radix", "max_outstanding")

WORDS = {
    "dtype": ("byte", "int8", "int32", "int64", "fp8", "fp16", "bf16", "fp32", "fp64"),
    "reduction": ("sum", "prod", "min", "max", "user"),
    "memory": ("host", "pinned", "cuda", "managed", "nccl", "ucx", "rocm"),
}
#: The key of a table, beside operation and bytes: what a rule may ask for and a question may tell; the struct Key of C++, dlmb_tuning_query of C.
KEY = (*COUNTS, *WORDS, *YES_NO, "imbalance")
BACKENDS = ("mpi", "ucx", "nccl", "ucc", "in_process")  # a table may have scopes beyond them
ROUNDING, ALLOWANCE = 1e-3, 0.05  # of a gain
LEAST = {"bytes": 0, "ranks": 1, "nodes": 1, "imbalance": 1}
STATUSES = ("chosen", "tie", "no_gain", "undecided", "unconfirmed")
OPEN = ("undecided", "unconfirmed")  # the default stays, and a candidate looks better
REDUCING = ("allreduce", "reduce_scatter")
ONLY_FOR = {
    "reduction": REDUCING,
    "uniform": ("exchange",),
    "imbalance": ("exchange",),
}


@dataclass(frozen=True)
class Chosen:
    backend: str
    method: str
    algorithm: Optional[dict[str, Any]]
    params: dict[str, Any]

    @property
    def is_default(self) -> bool:
        return self.method == "default" and self.algorithm is None and not self.params


@dataclass(frozen=True)
class Evidence:
    sizes: list[int]
    times_ns: list[float]
    gain: list[float]  # low, high, stated; of foreign evidence the stated one thrice
    kind: str  # measured, foreign, predicted
    confirmed: int
    fits: bool  # what is predicted has no launches, and an error that is a share


@dataclass(frozen=True)
class Candidate:
    is_default: bool
    gain: list[float]  # low, high, stated


@dataclass(frozen=True)
class Rule:
    id: str
    scope: str
    operation: str
    conditions: dict[str, Any]
    choose: Chosen
    status: str
    evidence: Optional[Evidence]
    candidate: Optional[Candidate]

    def matches(self, operation: str, known: dict[str, Any]) -> bool:
        return operation == self.operation and all(
            name in known and holds(condition, known[name]) for name, condition in self.conditions.items()
        )


def holds(condition: Any, value: Any) -> bool:
    if isinstance(condition, tuple):
        return condition[0] <= value <= condition[1]
    return condition == value


def interval_from(fields: Fields, number: Any) -> tuple[Any, Any]:
    return number(fields, "min"), number(fields, "max")


def bytes_from(fields: Fields, operation: str) -> tuple[int, int]:
    basis = fields.text("basis")
    if basis != BASIS[operation]:
        raise fields.refuse("basis", f"'{basis}' is not the basis of {operation}; give its sizes as '{BASIS[operation]}'")
    least, most = fields.whole("min"), fields.whole_if("max")
    return least, LARGEST if most is None else most


def when_from(when: Fields) -> tuple[str, dict[str, Any]]:
    """The operation and the conditions."""
    operation = when.word("operation", OPERATIONS)
    found: dict[str, Any] = {"bytes": when.part_if("bytes", lambda fields: bytes_from(fields, operation))}
    for name in COUNTS:
        found[name] = when.part_if(name, lambda fields: interval_from(fields, Fields.whole))
    for name in WORDS:
        found[name] = when.text_or_empty(name) or None
    for name in YES_NO:
        found[name] = when.yes_no_if(name)
    found["imbalance"] = when.part_if("imbalance", lambda fields: interval_from(fields, Fields.number))
    return operation, {name: condition for name, condition in found.items() if condition is not None}


def algorithm_from(fields: Fields) -> dict[str, Any]:
    algorithm = {"family": fields.text("family"), "name": fields.text("name"), "id": fields.whole_if("id")}
    if algorithm["id"] is not None and algorithm["id"] > 2**63 - 1:
        raise fields.refuse("id", "is above 2^63 - 1")
    return algorithm


def params_from(fields: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {"protocol": fields.text_or_empty("protocol") or None}
    found |= {name: fields.whole_if(name) for name in PARAMS}
    found["knobs"] = fields.text_map("knobs") or None
    return {name: value for name, value in found.items() if value is not None}


def chosen_from(choose: Fields) -> Chosen:
    return Chosen(
        choose.text("backend"), choose.text("method"), choose.part_if("algorithm", algorithm_from), choose.part_if("params", params_from) or {})


def gain_from(fields: Fields, has_interval: bool) -> list[float]:
    """Low, high, stated."""
    gain = fields.number("gain")
    interval = fields.elements("ci", as_number) if has_interval else [gain, gain]
    if len(interval) != 2:
        raise fields.refuse("ci", "must be [low, high]")
    return [*interval, gain]


def times_from(times: Fields) -> list[float]:
    runner_up = times.number_if("runner_up")
    return [times.number("choice"), times.number("default"), *([] if runner_up is None else [runner_up])]


def held_out_error_from(predicted: Fields) -> float:
    predicted.whole("fitted_nodes")
    return predicted.number_if("held_out_error") or 0.0


def evidence_from(evidence: Fields) -> Evidence:
    is_foreign = evidence.part_if("foreign", lambda foreign: (foreign.text("suite"), foreign.text("statistic"))) is not None
    error = evidence.part_if("predicted", held_out_error_from)
    evidence.whole("samples")
    launches, confirmed = evidence.whole("launches"), evidence.whole("confirmed")
    return Evidence(
        sizes=evidence.elements("sizes", as_whole),
        times_ns=evidence.part("median_ns", times_from),
        gain=gain_from(evidence, not is_foreign),
        kind="foreign" if is_foreign else "measured" if error is None else "predicted",
        confirmed=confirmed,
        fits=error is None or (not is_foreign and launches == 0 and confirmed == 0 and error >= 0),
    )


def candidate_from(candidate: Fields) -> Candidate:
    return Candidate(candidate.part("choose", chosen_from).is_default, gain_from(candidate, True))


def rule_from(value: Any, path: str) -> Rule:
    fields = Fields(value, path)
    fields.text_or_empty("pattern")
    operation, conditions = fields.part("when", when_from)
    rule = Rule(
        id=fields.text("id"),
        scope=fields.text("scope"),
        operation=operation,
        conditions=conditions,
        choose=fields.part("choose", chosen_from),
        status=fields.word("status", STATUSES),
        evidence=fields.part_if("evidence", evidence_from),
        candidate=fields.part_if("candidate", candidate_from),
    )
    fields.close()
    return rule


def problems_of(rule: Rule, has_gpu: bool, confirms: bool) -> Iterator[str]:
    """confirms: whether the table's choices had to be confirmed."""
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
    if not has_gpu and rule.conditions.get("memory", "host") not in HOST_MEMORY:
        yield f"when.memory: is {rule.conditions['memory']}, but 'system' names no gpu that this was measured on"
    yield from contradictions(rule)
    yield from problems_of_choice(rule)
    yield from problems_of_candidate(rule)
    if rule.evidence is not None:
        yield from problems_of_evidence(rule, rule.evidence)
        yield from problems_of_what_is_chosen(rule.status, rule.evidence, confirms)


def contradictions(rule: Rule) -> Iterator[str]:
    most_ranks = rule.conditions.get("ranks", (1, LARGEST))[1]
    if rule.conditions.get("nodes", (1, 1))[0] > most_ranks:
        yield f"when: can never match: {most_ranks} ranks cannot fill the nodes"


def problems_of_choice(rule: Rule) -> Iterator[str]:
    for name in ("id", "scope"):
        if not getattr(rule, name):
            yield f"{name}: is empty"
    for name in ("backend", "method"):
        if not getattr(rule.choose, name):
            yield f"choose.{name}: is empty"
    if rule.scope not in ("select", rule.choose.backend):
        yield f"choose.backend: is '{rule.choose.backend}' in the scope of '{rule.scope}'; only scope 'select' chooses a backend"
    if rule.status != "chosen" and not rule.choose.is_default:
        yield f"choose: status {rule.status} keeps the default: method 'default', no algorithm, no params"


def problems_of_candidate(rule: Rule) -> Iterator[str]:
    if (rule.status in OPEN) != (rule.candidate is not None):
        yield f"candidate: does not fit status {rule.status}; undecided and unconfirmed have one, others have none"
    if rule.candidate is None:
        return
    if rule.candidate.is_default and rule.scope != "select":
        yield "candidate.choose: is the default, which is what stands"
    if is_no_interval(rule.candidate.gain):
        yield "candidate.ci: must be [low, high] around a finite gain"


def is_no_interval(gain: list[float]) -> bool:
    return not all(map(math.isfinite, gain)) or gain[0] > gain[1]


def problems_of_evidence(rule: Rule, evidence: Evidence) -> Iterator[str]:
    least, most = rule.conditions.get("bytes", (0, LARGEST))
    if most == LARGEST:
        yield "when.bytes: has no max, but nobody measured without an end; give the largest measured size"
    elif not all(least <= size <= most for size in evidence.sizes):
        yield "evidence.sizes: holds a size outside of when.bytes"
    if not evidence.sizes or evidence.sizes != sorted(evidence.sizes):
        yield "evidence.sizes: must hold the measured sizes in ascending order"
    if not evidence.fits:
        yield "evidence.predicted: is of times that nobody measured, but there are launches of them, or its error is below 0"
    if evidence.kind == "foreign" and evidence.confirmed > 0:
        yield "evidence.confirmed: is above 0, but no launch confirms foreign evidence"
    if not all(math.isfinite(time) and time > 0 for time in evidence.times_ns):
        yield "evidence.median_ns: holds a time that is not above 0"
    elif is_no_interval(evidence.gain):
        yield "evidence.ci: must be [low, high] around a finite gain"
    else:
        yield from problems_of_gain(evidence)


def problems_of_gain(evidence: Evidence) -> Iterator[str]:
    """A gain is of ratios in the same launch and is not exactly that of the medians: it may be above it by the width of the interval and a
    twentieth."""
    low, high, gain = evidence.gain
    of_times = 1 - evidence.times_ns[0] / evidence.times_ns[1]
    if not low - ROUNDING <= gain <= high + ROUNDING:
        yield f"evidence.gain: {gain} is outside of its interval, {low} to {high}"
    elif not gain - of_times <= ALLOWANCE + (high - low):
        yield f"evidence.gain: {gain} is more than the times say, {of_times:.3g}"


def problems_of_what_is_chosen(status: str, evidence: Evidence, confirms: bool) -> Iterator[str]:
    """It was faster than the default, and fresh launches confirmed what was measured."""
    if status != "chosen":
        return
    if confirms and evidence.kind == "measured" and evidence.confirmed == 0:
        yield "evidence.confirmed: is 0, but the policy has each choice confirmed by fresh launches"
    choice, default, gain = *evidence.times_ns[:2], evidence.gain[2]
    equal = choice == default and gain == 0  # a model may have the same algorithm for both
    if not (choice < default and gain > 0) and not (evidence.kind == "predicted" and equal):
        yield "evidence.median_ns: the choice is not faster than the default; keep the default, or correct it"


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
