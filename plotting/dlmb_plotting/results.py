# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of result files as plots need them: each once, without what no plot shows (a file may hold 100,000); which stand side by side,
because they are the same traffic on the same ranks by different methods; and short names of cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dlmb_results.cells import (
    DIFFERS_ALWAYS, LEAST_SAMPLES, Launch, Line, bus_bandwidth, by_key, contradictions, each_kind_once, interval_of, is_throttled, launch_of, mean_of,
    statistic_of, suite_of,
)
from dlmb_results.lines import read_cells, read_in_processes
from dlmb_results.names import WINDOWED

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
    statistics: Mapping[str, float] = {}  # of the pattern, and what other cells tell of it
    latencies_ns: Mapping[str, float] = {}  # of requests: figures such as request_latency_p50
    beside: str = "none"  # load on each rank: none, compute, memory
    environment: str = ""  # settings of its launches, where others had the same cell with other ones

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


@dataclass
class Results:
    cells: list[Cell] = field(default_factory=list)
    launches: dict[str, Launch] = field(default_factory=dict)
    visits: dict[str, list[tuple[str, float]]] = field(default_factory=dict)  # cell id -> launch id, median in ns
    remarks: list[str] = field(default_factory=list)

    def patterns(self) -> dict[str, list[Cell]]:
        return by_key(self.cells, lambda cell: cell.pattern)

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
        self.cells: dict[tuple[str, str], Cell] = {}  # by id and settings_key of the launch
        self.visits: dict[tuple[str, str], list[tuple[str, float]]] = {}
        self.shared = Shared()  # equal parameters and texts of many cells are kept once

    def read(self, path: Path) -> None:
        read_cells(path, self.results.remarks, self.launch, self.cell)

    def launch(self, line: Line) -> None:
        self.results.launches[line["launch_id"]] = launch_of(line)

    def cell(self, line: Line) -> None:
        """A cell that was measured again, in a resumed or later launch, counts once: the last ok one."""
        cell = self.made(line)
        key = self.shared[cell.id, self.results.launches[line["launch_id"]].settings_key]
        self.take(key, cell)
        # Nothing says in what order, and on what, those of other programs ran. A time of zero has no ratio to another.
        if cell.ok and not cell.suite and cell.median_ns > 0:
            self.visits.setdefault(key, []).append((self.shared[line["launch_id"]], cell.median_ns))

    def take(self, key: tuple[str, str], cell: Cell) -> None:
        known = self.cells.get(key)
        if known is None or cell.ok or not known.ok:
            self.cells[key] = cell

    def absorb(self, other: Reader) -> None:
        """Adds what `other` read, as if this reader had read it after its own files."""
        mine, its = self.results, other.results
        for key, cell in other.cells.items():
            self.take(key, cell)
        for key, visits in other.visits.items():
            self.visits.setdefault(key, []).extend(visits)
        mine.launches |= its.launches
        mine.remarks += its.remarks

    def finish(self) -> Results:
        """Where launches with other settings have cells of the same id, these are others: their ids and settings say so."""
        shared = {keys[0][0]: keys for keys in by_key(self.cells, lambda key: key[0]).values() if len(keys) > 1}
        settings = {launch.settings_key: launch.settings for launch in self.results.launches.values()}
        names: dict[tuple[str, str], str] = {}
        for keys in shared.values():
            names |= {key: name for key, name in zip(keys, settings_apart([(each, settings[each]) for _, each in keys]))}
        for key, cell in self.cells.items():
            name = names.get(key, "")
            found = cell._replace(id=f"{cell.id}/environment={name}", environment=name) if name else cell
            self.results.cells.append(found)
            if key in self.visits:
                self.results.visits[found.id] = self.visits[key]
        return self.results

    def made(self, line: Line) -> Cell:
        traffic, once = line["traffic"], self.shared.__getitem__
        ok = line["status"] == "ok"
        statistic = statistic_of(line) if ok else ""
        median = float(line["time_ns"]["median"]) if statistic else 0.0
        interval = interval_of(line) if statistic else None
        low, high = interval or (median, median)
        own = ok and not suite_of(line)
        phases = tuple((once(label), float(phase["median"])) for label, phase in line["phases"].items() if "median" in phase) if ok else ()
        texts = {name: once(line[name]) for name in ("pattern", "preset", "backend", "method", "memory", "mode", "fill", "status", "reason")}
        return Cell(
            id=line["cell_id"], **texts, parameters=once(tuple(sorted(line["parameters"].items()))), seed=line["seed"], draws=line["draws"],
            cache=once(line["cache"]["mode"]), ranks=line["world"]["ranks"], ranks_per_node=line["world"]["ranks_per_node"], median_ns=median,
            low_ns=low, high_ns=high, interval=interval is not None, phases_ns=phases, bus_bandwidth=bus_bandwidth(line),
            payload_bytes=traffic["payload_bytes"], imbalance=float(max(traffic["imbalance_send"], traffic["imbalance_recv"])),
            doubts=once(doubts(line)) if ok else (), suite=once(suite_of(line)), statistic=once(statistic),
            mean_ns=(mean_of(line) or 0.0) if own else 0.0, statistics=line.get("statistics", {}) if ok else {},
            latencies_ns={figure["name"]: figure["value"] for figure in line.get("figures", []) if ok and "_latency_p" in figure["name"]},
            beside=once(line.get("beside", "none")))


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


def doubts(line: Line) -> tuple[str, ...]:
    """The names in DOUBTS that hold for a cell that ran."""
    found = {*line["flags"], *(["too short"] if line["below_floor"] else []), *(["throttled"] if is_throttled(line) else []),
             *(["few samples"] if not suite_of(line) and not interval_of(line) else []),
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
    return reader.finish()


def settings_apart(launches: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """For each launch, given as its settings_key and its settings: the settings in which it differs from the others."""
    names = sorted({name for _, each in launches for name in each} - DIFFERS_ALWAYS)
    differing = [name for name in names if len({each.get(name) for _, each in launches}) > 1]
    return [" ".join(f"{name}={each.get(name, 'unset')}" for name in differing) or key for key, each in launches]


@dataclass
class Group:
    """Cells that differ only in backend, method and the parameters in `without`."""

    title: str
    cells: list[Cell]


Setting = tuple[tuple[str, Any], ...]
NAMED = ("operation", "window", "pairs")  # parameters without which nobody knows what traffic it is
NOT_SAID = ("seed", "draws", "cache", "fill")  # by results of other programs


def setting(cell: Cell, without: Collection[str] = ()) -> Setting:
    """Everything but backend and method, flat: what a group has in common."""
    pairs = (  # a pattern has a parameter mode, so that of the time is called timing
        ("preset", cell.preset), ("memory", cell.memory), ("ranks", cell.ranks), ("ranks per node", cell.ranks_per_node), ("timing", cell.mode),
        ("seed", cell.seed), ("draws", cell.draws), ("cache", cell.cache), ("fill", cell.fill), ("beside", cell.beside), ("environment", cell.environment),
        *(pair for pair in cell.parameters if pair[0] not in without),
    )
    return tuple(pair for pair in pairs if pair[0] not in NOT_SAID and pair != ("environment", "")) if cell.suite else pairs


def home(own: Setting, measured: dict[Setting, dict[str, Any]]) -> Setting:
    """The one measured setting of which nothing is against what a result of another program says, else the one that differs in its element
    alone, else its own."""
    said = {name: value for name, value in own if (name, value) != ("ranks per node", 0)}
    against = {other: contradictions(said, values) for other, values in measured.items()}
    for unlike in ([], ["element"]):
        agreeing = [other for other, names in against.items() if names == unlike]
        if agreeing:
            return agreeing[0] if len(agreeing) == 1 else own
    return own


def beside_others(group: Group) -> Group:
    """Where cells of other programs are in it, with DLMB's own named as such, and by the mean where their definition has one: that is what the
    others print. Elements are named where they differ."""
    if not any(cell.suite for cell in group.cells):
        return group
    elements = {dict(cell.parameters).get("element") for cell in group.cells}
    found = []
    for cell in group.cells:
        element = dict(cell.parameters).get("element") if len(elements) > 1 else None
        named = cell._replace(method=f"{cell.method} {element}") if element else cell
        found.append(named if cell.suite else of_dlmb(named))
    return Group(group.title, found)


def of_dlmb(cell: Cell) -> Cell:
    if not cell.mean_ns:
        return cell._replace(suite=OWN)
    rate = None if cell.bus_bandwidth is None else cell.bus_bandwidth * cell.median_ns / cell.mean_ns
    return cell._replace(suite=OWN, statistic="mean", median_ns=cell.mean_ns, low_ns=cell.mean_ns, high_ns=cell.mean_ns, phases_ns=(), bus_bandwidth=rate)


def grouped(cells: list[Cell], without: Collection[str] = ()) -> list[Group]:
    """Groups of one pattern in file order; inside a group methods are sorted, because the order of measuring is random. A title
    names the preset, the ranks, and what else differs between groups of that preset. What another program timed stands beside what was
    measured here where nothing that it says is against it."""
    groups: dict[Setting, list[Cell]] = {}
    settings = [setting(cell, without) for cell in cells]
    measured = {own: dict(own) for cell, own in zip(cells, settings) if not cell.suite}
    homes = {own: home(own, measured) for cell, own in zip(cells, settings) if cell.suite and cell.timed}
    for cell, own in zip(cells, settings):
        groups.setdefault(homes.get(own, own) if cell.suite and cell.timed else own, []).append(cell)
    values: dict[str, dict[str, set[Any]]] = {}  # of every name, by preset
    for key in groups:
        of_preset = values.setdefault(str(key[0][1]), {})
        for name, value in key:
            of_preset.setdefault(name, set()).add(value)
    return [Group(title(dict(key), values[str(key[0][1])]), sorted(each, key=lambda cell: cell.method_name)) for key, each in groups.items()]


def title(values: dict[str, Any], of_preset: dict[str, set[Any]]) -> str:
    """Names the traffic, and of other parameters those that differ between the groups of a preset."""
    always = ("preset", "memory", "ranks", "ranks per node", *NAMED)
    extra = [f"{name} {value}" for name, value in values.items() if name not in always and len(of_preset[name]) > 1]
    ranks = f"{values['ranks']} ranks"
    if values["ranks per node"] not in (0, values["ranks"]):
        ranks += f", {values['ranks per node']} per node"
    return ", ".join([*filter(None, [values["preset"], traffic(values)]), ranks, f"{values['memory']} memory", *extra])


def traffic(parameters: Mapping[str, Any]) -> str:
    """Which operation, and of one with windows how they are: "allreduce", "bandwidth window 64 pairs all". Empty: the pattern says it."""
    operation = str(parameters.get("operation", ""))
    windows = [f"{name} {parameters[name]}" for name in NAMED[1:] if operation in WINDOWED and name in parameters]
    return " ".join(filter(None, (operation, *windows)))


def short_names(names: Mapping[str, str]) -> dict[str, str]:
    """By the same keys. A name is sorted key=value parts joined by '/', as a cell id is; parts that all share are left out, but not the
    operation."""
    parts = {key: name.split("/") for key, name in names.items()}
    shared = set.intersection(*(set(each) for each in parts.values())) if len(parts) > 1 else set()
    kept = {part for each in parts.values() for part in each if part not in shared or name_of(part) in NAMED}
    return {key: " ".join(shown(part) for part in each if part in kept) or names[key] for key, each in parts.items()}


def name_of(part: str) -> str:
    return part.partition("=")[0].removeprefix("p.")


def shown(part: str) -> str:
    name, value = name_of(part), part.partition("=")[2]
    return value if name in ("backend", "method", "pattern", "preset", "operation") else f"{name}={value}"
