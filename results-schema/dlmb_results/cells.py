# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the launches and cells of a result file say, for all tools alike. results-schema/README.md says what the fields are.

Lines that dlmb_convert made of the output of other programs come in the shape of DLMB's own. What such a line does not say gets the value
that shows nothing: no samples, no interval, no phases. `suite_of` says whose line it is and `statistic_of` what its time is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, Union

from dlmb_results.fields import shape
from dlmb_results.variables import stable_hash

Line = dict[str, Any]


Item = TypeVar("Item")
Key = TypeVar("Key")


def by_key(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items that have the same key, in the order in which they come."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


# All that any tool looks at, of the types that the schema says.
LaunchFields = shape("result", "$defs/launch", """schema launch_id campaign_id time world.ranks test_double calibration.timer.cost_ns calibration.timer.step_ns
    environment.env_key environment.identity environment.informational environment.variables environment.warnings""")
# With msgspec nothing else of a line is built. Its statistics are numbers, with those of `derived` lines once the whole file is read.
CellFields = shape("result", "$defs/cell", """kind launch_id cell_id pattern preset parameters backend method memory mode definition seed draws cache.mode cache.slots
    fill beside? world.ranks world.ranks_per_node status reason traffic.payload_bytes traffic.wire_bytes traffic.imbalance_send traffic.imbalance_recv
    time_ns.median time_ns.median_low time_ns.median_high time_ns.p99 time_ns.max time_ns.samples? rounds.median_of_rounds_ns rounds.aa_ratio
    phases.*.median? bandwidth.busbw_GBps below_floor rank_medians_ns iterations_per_sample flags validation.verdict shared_gpu is_default throttled?
    rank_means_ns?.mean statistics? figures?.*.name figures?.*.value""", kind=str, parameters=dict[str, Union[str, int, float]], statistics=dict[str, Any])
CellIdentity = shape("result", "$defs/cell", "launch_id cell_id status")  # what every line of a cell has: for whoever passes lines on as they are
DerivedFields = shape("result", "$defs/derived", "launch_id cell_id statistics")
EndFields = shape("result", "$defs/end", "launch_id")


# Lines of other programs

NOTHING_MOVED = {
    "payload_bytes": 0, "wire_bytes": 0, "self_bytes": 0, "busiest_rank_bytes": 0, "largest_total_bytes": 0, "balanced_rank_bytes": 0.0,
    "imbalance_send": 1.0, "imbalance_recv": 1.0,
}
NOT_SAID: Line = {
    "seed": 0, "draws": 0, "fill": "", "samples_ns": [], "rank_medians_ns": [], "phases": {}, "flags": [], "below_floor": False, "shared_gpu": False, "iterations_per_sample": 1,
    "rounds": {"medians_ns": [], "median_of_rounds_ns": None, "aa_ratio": None}, "cache": {"mode": "", "slots": 0},
}
NOT_DONE = {"compute": "none", "transform": "none", "beside": "none"}  # by the programs whose output is read


def suite_of(line: Line) -> str:
    """The suite of programs whose output the line was made of; empty: the line is DLMB's own."""
    origin = line.get("origin")
    return origin["suite"] if origin else ""


def statistic_of(line: Line) -> str:
    """What time_ns.median of a line is: median or mean; empty: the cell has no time."""
    return line.get("statistic", "median")


def contradictions(said: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """By name what a line of another program says, and what another cell says: the names of what both say, and not alike. None: they may
    be of the same thing. What programs of others do not do is taken as said."""
    return [name for name, value in {**NOT_DONE, **said}.items() if other.get(name, value) != value]


def for_readers(line: Line) -> Line:
    """A converted line with every field that readers of DLMB's own lines look at. A time that is not known is NaN."""
    if line["kind"] == "launch":
        return {**line, "time": line["time"] or ""}
    if line["kind"] != "cell":
        return line
    said = line["time_ns"] or {}
    filled = {**NOT_SAID, **line, "traffic": line["traffic"] or {**NOTHING_MOVED, "payload_bytes": payload_of(line)}}
    if line["status"] == "ok":
        filled["statistic"] = next((name for name in ("median", "mean") if name in said), "")
        typical = float(said.get(filled["statistic"], math.nan))
        filled["time_ns"] = {"median": typical, "median_low": None, "median_high": None, "p99": None, "max": typical}
    return filled


def payload_of(line: Line) -> int:
    """Of an operation whose traffic is not known, as far as the size says: each rank gives a message of this size."""
    return round(line["parameters"].get("message-size", 0) * line["world"]["ranks"])


# Figures of a cell that is ok

LEAST_SAMPLES = 6  # for a 95 % interval of their median
THROTTLED = "throttled"  # as a field: a GPU's clocks; as a flag: whatever else the machine holds down


def interval_of(line: Line) -> tuple[float, float] | None:
    """95 % interval of the median, in ns; None: there are too few samples for one. Files of earlier versions have the extremes in its place."""
    time = line["time_ns"]
    if time["median_low"] is None or time["median_high"] is None or time.get("samples", LEAST_SAMPLES) < LEAST_SAMPLES:
        return None
    return float(time["median_low"]), float(time["median_high"])


def median_of_rounds(line: Line) -> float:
    """In ns; the median of samples where a cell has no rounds."""
    value = line["rounds"]["median_of_rounds_ns"]
    return float(line["time_ns"]["median"] if value is None else value)


def odd_to_even(line: Line) -> float:
    """Median of the odd rounds over that of the even ones: how much a launch differs from itself. 1 below 2 rounds."""
    return line["rounds"]["aa_ratio"] or 1.0


def bus_bandwidth(line: Line) -> float | None:
    """10^9 bytes per second."""
    value = (line["bandwidth"] or {"busbw_GBps": None})["busbw_GBps"]
    return None if value is None else float(value)


def mean_of(line: Line) -> float | None:
    """In ns, over calls and ranks; None: its definition is no mean."""
    if "rank_means_ns" in line:
        return float(line["rank_means_ns"]["mean"])
    return float(line["time_ns"]["median"]) if statistic_of(line) == "mean" else None


def is_throttled(line: Line) -> bool:
    return bool(line.get(THROTTLED)) or THROTTLED in line["flags"]


# Launches

TEST_DOUBLE = "the GPUs are a test double of the CUDA runtime: no time of this launch is a measurement"
DIFFERS_ALWAYS = frozenset({"SLURM_JOB_ID"})  # variables that differ between any two launches and have no effect
USUAL_TIMER = {"cost_ns": 24.0, "step_ns": 20.0}  # CLOCK_MONOTONIC_RAW on x86-64 with Debian 12, where --calibration off measured none


@dataclass(frozen=True)
class Launch:
    id: str
    campaign: str
    time: str  # UTC, ISO 8601
    ranks: int = 0
    env_key: str = ""
    identity: Mapping[str, str] = field(default_factory=dict)  # of the environment
    variables: Mapping[str, str] = field(default_factory=dict)  # that steer libraries
    facts: Mapping[str, str] = field(default_factory=dict)  # informational
    test_double: bool = False
    warnings: Sequence[str] = ()
    clock_read_ns: float = USUAL_TIMER["cost_ns"]
    clock_step_ns: float = USUAL_TIMER["step_ns"]

    @property
    def settings(self) -> dict[str, str]:
        """What must agree between launches that are compared."""
        return {**self.identity, **self.variables}

    @cached_property
    def settings_key(self) -> str:
        """Numbers of launches with another one are never taken together. env_key knows the identity alone, and variables steer libraries."""
        steering = [f"{name}={value}" for name, value in sorted(self.variables.items()) if name not in DIFFERS_ALWAYS]
        return f"{self.env_key}-{stable_hash(chr(0).join(steering))[:8]}" if steering else self.env_key

    @property
    def revision(self) -> str:
        return self.facts.get("git_revision", "")


def launch_of(line: Line) -> Launch:
    environment = line["environment"]
    timer = (line["calibration"] or {"timer": USUAL_TIMER})["timer"]
    return Launch(
        line["launch_id"], line["campaign_id"], line["time"], line["world"]["ranks"], environment["env_key"], environment["identity"], environment["variables"],
        environment["informational"], line["test_double"], warnings_of(line), timer["cost_ns"], timer["step_ns"])


def warnings_of(launch: Line) -> list[str]:
    """What a launch line says makes its numbers less than they could be."""
    warnings = list(launch["environment"]["warnings"])
    if launch["test_double"] and TEST_DOUBLE not in warnings:
        warnings.append(TEST_DOUBLE)
    return warnings


NUMBER = re.compile(r"\d+(?:\.\d+)?")


def each_kind_once(said: Iterable[tuple[str, str]]) -> list[tuple[str, int]]:
    """said: who, and a text. Texts that differ only in numbers are of one kind; it has the range of each number: "a load of 4.4 to
    4.6". With each goes how many say it."""
    found = []
    for members in by_key(said, lambda each: NUMBER.sub("#", each[1])).values():
        numbers = zip(*(NUMBER.findall(text) for _, text in members))
        text = NUMBER.sub(lambda _: shown_range(next(numbers)), members[0][1])
        found.append((text, len({who for who, _ in members})))
    return found


def shown_range(numbers: Sequence[str]) -> str:
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if float(low) == float(high) else f"{low} to {high}"
