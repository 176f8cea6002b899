# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of result files as plots need them: each once, without what no plot shows (a file may hold 100,000).

The classes at the top are the fields of a cell's line that plots look at; results-schema/README.md says what they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Optional, TypedDict, Union

from dlmb_results.converted import statistic_of, suite_of
from dlmb_results.lines import ResultError, each_kind_once, read_lines, warnings_of
from dlmb_results.parallel import read_in_processes



class World(TypedDict):
    ranks: int
    ranks_per_node: int


class Cache(TypedDict):
    mode: str


class Traffic(TypedDict):
    payload_bytes: int
    imbalance_send: float
    imbalance_recv: float


class TimeAlways(TypedDict):
    median: float
    median_low: Optional[float]
    median_high: Optional[float]


class Time(TimeAlways, total=False):
    samples: int


class Phase(TypedDict, total=False):
    median: float  # if ok


class Bandwidth(TypedDict):
    busbw_GBps: Optional[float]


class Validation(TypedDict):
    verdict: str


class CellFields(TypedDict):
    kind: str
    launch_id: str
    cell_id: str
    pattern: str
    preset: str
    parameters: dict[str, Union[str, int, float]]
    backend: str
    method: str
    memory: str
    mode: str
    seed: int
    draws: int
    cache: Cache
    fill: str
    world: World
    status: str
    reason: str
    traffic: Traffic
    time_ns: Optional[Time]
    phases: dict[str, Phase]
    bandwidth: Optional[Bandwidth]
    below_floor: Optional[bool]
    flags: list[str]
    validation: Validation
    shared_gpu: bool


class Means(TypedDict):
    mean: float


class CellLine(CellFields, total=False):
    throttled: bool
    rank_means_ns: Means


LEAST_SAMPLES = 6  # for a 95 % interval of their median

# What makes the time of a cell that ran less than it could be.
DOUBTS = {
    "few samples": f"fewer than {LEAST_SAMPLES} samples: no interval, and no method is called faster",
    "too short": "too short for the clock",
    "drift": "drift: the median follows the length of the run",
    "step": "a step: the machine changed while it was measured",
    "bimodal": "two levels: the median may be on either",
    "throttled": "a GPU's clocks were held down, or a quota of processor time was used up",
    "assumed_nodes": "planned for nodes that the launch did not have",
    "shared GPU": "ranks took turns on a GPU: no measurement",
    "unchecked": "the received bytes were not checked",
}


OWN = "DLMB"  # names its cells beside those of other programs


class Cell(NamedTuple):
    """One cell line. Times are zero where the cell is not timed; look at timed first."""

    id: str
    pattern: str
    preset: str
    parameters: tuple[tuple[str, Any], ...]  # sorted by name
    backend: str
    method: str
    memory: str
    mode: str
    seed: int
    draws: int
    cache: str  # in what state of the caches samples begin
    fill: str  # what is moved: random, zeros
    ranks: int
    ranks_per_node: int
    status: str
    reason: str
    median_ns: float
    low_ns: float  # 95 % interval of the median; the median itself where there is none
    high_ns: float
    interval: bool  # whether the result line has one
    phases_ns: tuple[tuple[str, float], ...]  # median per phase, in plan order; empty where a method cannot time phases
    bus_bandwidth: float | None  # 10^9 bytes per second
    payload_bytes: int  # sum over ranks, self included
    imbalance: float  # the larger of send and receive, max over mean of ranks
    doubts: tuple[str, ...]  # names in DOUBTS
    suite: str  # of the other program whose result dlmb_convert read; empty: DLMB's own
    statistic: str  # what median_ns is: of a converted cell it may be a mean; empty: the cell has no time
    mean_ns: float = 0.0  # over calls and ranks, as the definitions osu and nccl have it; zero: of another definition

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def timed(self) -> bool:
        """A converted cell may have a bandwidth only."""
        return self.ok and self.statistic != ""

    @property
    def has_interval(self) -> bool:
        return self.interval and (not self.suite or (self.suite == OWN and self.statistic == "median"))

    @property
    def method_name(self) -> str:
        """Backend and method, and of a converted cell whose number it is."""
        whose = " ".join(filter(None, (self.suite, self.statistic)))
        return f"{self.backend} {self.method} ({whose})" if self.suite else f"{self.backend} {self.method}"


@dataclass(frozen=True)
class Launch:
    id: str
    campaign: str
    time: str  # UTC, ISO 8601
    world: dict[str, Any]
    environment: dict[str, Any]
    test_double: bool
    warnings: list[str]

    @property
    def revision(self) -> str:
        return self.environment["informational"].get("git_revision", "")


@dataclass
class Results:
    cells: list[Cell] = field(default_factory=list)
    launches: dict[str, Launch] = field(default_factory=dict)
    visits: dict[str, list[tuple[str, float]]] = field(default_factory=dict)  # cell id -> launch id, median in ns
    remarks: list[str] = field(default_factory=list)

    def patterns(self) -> dict[str, list[Cell]]:
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.pattern, []).append(cell)
        return found

    def launches_of(self, cells: Iterable[Cell]) -> frozenset[str]:
        """The launches whose times these cells have."""
        return frozenset(self.visits[cell.id][-1][0] for cell in cells if cell.id in self.visits)

    def warnings(self, of: Collection[str] | None = None) -> list[tuple[str, int]]:
        """What launches warn of, each kind once, and how many launches do. of: only these launches."""
        return each_kind_once((launch.id, text) for launch in self.launches.values() if of is None or launch.id in of for text in launch.warnings)


class Shared(dict[Any, Any]):
    """Maps each value to the first equal one, so that equal values are kept once."""

    def __missing__(self, value: Any) -> Any:
        return self.setdefault(value, value)


class Reader:
    def __init__(self) -> None:
        self.results = Results()
        self.cells: dict[str, Cell] = {}
        self.shared = Shared()  # equal parameters and texts of many cells are kept once

    def read(self, path: Path) -> None:
        for number, line in read_lines(path, self.results.remarks, CellLine):
            try:
                if line["kind"] == "launch":
                    self.launch(line)
                elif line["kind"] == "cell":
                    self.cell(line)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ResultError(f"{path}:{number}: not as results-schema/ says: {type(error).__name__} {error}") from error

    def launch(self, line: dict[str, Any]) -> None:
        self.results.launches[line["launch_id"]] = Launch(
            line["launch_id"], line["campaign_id"], line["time"], line["world"], line["environment"], line["test_double"], warnings_of(line))

    def cell(self, line: dict[str, Any]) -> None:
        """A cell that was measured again, in a resumed or later launch, counts once: the last ok one."""
        cell = self.made(line)
        self.take(cell)
        # Nothing says in what order, and on what, those of other programs ran. A time of zero has no ratio to another.
        if cell.ok and not cell.suite and cell.median_ns > 0:
            self.results.visits.setdefault(cell.id, []).append((self.shared[line["launch_id"]], cell.median_ns))

    def take(self, cell: Cell) -> None:
        known = self.cells.get(cell.id)
        if known is None or cell.ok or not known.ok:
            self.cells[cell.id] = cell

    def absorb(self, other: Reader) -> None:
        """Adds what `other` read, as if this reader had read it after its own files."""
        mine, its = self.results, other.results
        for cell in other.cells.values():
            self.take(cell)
        for identifier, visits in its.visits.items():
            mine.visits.setdefault(identifier, []).extend(visits)
        mine.launches |= its.launches
        mine.remarks += its.remarks

    def made(self, line: dict[str, Any]) -> Cell:
        traffic, once = line["traffic"], self.shared.__getitem__
        ok = line["status"] == "ok"
        statistic = statistic_of(line) if ok else ""
        time = line["time_ns"] if statistic else {"median": 0, "median_low": None, "median_high": None}
        low, high = interval_of(time)
        bandwidth = line["bandwidth"]["busbw_GBps"] if line["bandwidth"] else None
        return Cell(
            id=line["cell_id"],
            pattern=once(line["pattern"]),
            preset=once(line["preset"]),
            parameters=once(tuple(sorted(line["parameters"].items()))),
            backend=once(line["backend"]),
            method=once(line["method"]),
            memory=once(line["memory"]),
            mode=once(line["mode"]),
            seed=line["seed"],
            draws=line["draws"],
            cache=once(line["cache"]["mode"]),
            fill=once(line["fill"]),
            ranks=line["world"]["ranks"],
            ranks_per_node=line["world"]["ranks_per_node"],
            status=once(line["status"]),
            reason=once(line["reason"]),
            median_ns=float(time["median"]),
            low_ns=low,
            high_ns=high,
            interval=has_interval(time),
            phases_ns=tuple((once(label), float(phase["median"])) for label, phase in line["phases"].items() if "median" in phase) if ok else (),
            bus_bandwidth=None if bandwidth is None else float(bandwidth),
            payload_bytes=traffic["payload_bytes"],
            imbalance=float(max(traffic["imbalance_send"], traffic["imbalance_recv"])),
            doubts=once(doubts(line)) if ok else (),
            suite=once(suite_of(line)),
            statistic=once(statistic),
            mean_ns=float(line["rank_means_ns"]["mean"]) if ok and "rank_means_ns" in line else 0.0,
        )


def has_interval(time: dict[str, Any]) -> bool:
    """Files of earlier versions have the extremes in place of an interval where samples were too few for one."""
    return time["median_low"] is not None and time["median_high"] is not None and time.get("samples", LEAST_SAMPLES) >= LEAST_SAMPLES


def interval_of(time: dict[str, Any]) -> tuple[float, float]:
    return (float(time["median_low"]), float(time["median_high"])) if has_interval(time) else (float(time["median"]),) * 2


def interval_caption(cells: Iterable[Cell], measured: str) -> str:
    """What a caption may say of intervals: `measured` where a cell has one, and that numbers of other programs have none."""
    ran = [cell for cell in cells if cell.ok]
    others = " and ".join(sorted({cell.suite for cell in ran} - {"", OWN}))
    means = any(cell.suite == OWN and cell.statistic == "mean" for cell in ran)
    few = any("few samples" in cell.doubts for cell in ran)
    return " ".join(filter(None, (
        measured if any(cell.has_interval for cell in ran) else "", f"Where no whisker is, there are fewer than {LEAST_SAMPLES} samples." if few else "",
        f"Numbers of {others} have no interval." if others else "",
        f"Those of {OWN} beside them are means, too, without one." if means else "")))


def doubts(line: dict[str, Any]) -> tuple[str, ...]:
    """The names in DOUBTS that hold for a cell that ran."""
    found = {*line["flags"], *(["too short"] if line["below_floor"] else []), *(["throttled"] if line.get("throttled") else []),
             *(["few samples"] if not suite_of(line) and not has_interval(line["time_ns"]) else []),
             *(["shared GPU"] if line["shared_gpu"] else []), *(["unchecked"] if line["validation"]["verdict"] == "off" else [])}
    return tuple(name for name in DOUBTS if name in found)


def read_files(paths: list[Path]) -> Reader:
    reader = Reader()
    for path in paths:
        reader.read(path)
    reader.shared.clear()
    return reader


def read(paths: Sequence[Path]) -> Results:
    if not paths:
        return Results()
    reader, *others = read_in_processes(read_files, paths)
    for other in others:
        reader.absorb(other)
    reader.results.cells = list(reader.cells.values())
    return reader.results
