# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What to measure: a sweep file, which docs/sweeping.md describes key by key; and in which order its launches run.

Every replicate visits all jobs in an order of its own. The sides of a job follow each other directly, in half of the replicates the other way
round, so that drift of the machine hits both alike. In which half is random: in ABBA what comes back with every fourth launch is a difference of
the sides. Seed and number of launches decide, so a sweep that goes on keeps its order.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dlmb_results.files import MOST_SETTINGS_BYTES, read_document
from dlmb_results.program import UnavailableError, UsageError

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11: the package that became tomllib
    try:
        import tomli as tomllib
    except ModuleNotFoundError:
        tomllib = None

_NAMES = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}


def read_toml(path: Path) -> dict[str, Any]:
    if tomllib is None:
        raise UnavailableError("reading TOML needs Python 3.11, or the Python package tomli")
    try:
        values = tomllib.loads(read_document(path, MOST_SETTINGS_BYTES).decode("utf-8"))
        _require_usable(values)
        return values
    except (ValueError, RecursionError) as error:  # of tomllib, of an integer of thousands of digits, of deep brackets
        raise UsageError(f"{path}: not TOML: {error}") from None


def _require_usable(value: Any) -> None:
    """Python reads numbers of more bits than TOML has, in base 16, and then refuses to print them; and no command line holds a zero byte."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a whole number has more than 64 bits")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("a text holds a zero byte")
    if isinstance(value, (dict, list)):
        for each in (*value, *value.values()) if isinstance(value, dict) else value:
            _require_usable(each)


Entry = TypeVar("Entry")


class Table:
    """A table of a file, read key by key. What was not asked for when done() is called is an error."""

    def __init__(self, values: dict[str, Any], place: str):
        self._values = dict(values)
        self.place = place

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self._values:
            if default is None:
                raise UsageError(f"{self.place}: '{key}' is missing")
            return default
        value = self._values.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UsageError(f"{self.place}: {key} must be {_NAMES[kind]}, not {value!r}")
        return value

    def positive(self, key: str, default: int | None = None, most: int = 2**31 - 1) -> int:
        value = self.take(key, int, default)
        if value < 1:
            raise UsageError(f"{self.place}: {key} must be at least 1, not {value}")
        if value > most:
            raise UsageError(f"{self.place}: {key} must be at most {most}, not {value}")
        return value

    def variables(self) -> tuple[tuple[str, str], ...]:
        """Of the environment, as `set` has them."""
        found = self.take("set", dict, {})
        for name in found:
            if not name or "=" in name:
                raise UsageError(f"{self.place}: '{name}' in 'set' cannot be the name of a variable")
        words = {True: "y", False: "n"}  # UCX takes no true
        return tuple((name, words[value] if isinstance(value, bool) and name.startswith("UCX_") else self.text_of(name, value))
                     for name, value in found.items())

    def text_of(self, key: str, value: Any) -> str:
        """As programs and libraries read it: Open MPI takes True for no value and ignores it."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, (str, int, float)):
            raise UsageError(f"{self.place}: {key} must be text, a number, true or false, not {value!r}")
        return str(value)

    def tables(self, key: str, read: Callable[[Table], Entry]) -> tuple[Entry, ...]:
        """What `read` makes of each [[key]], all of whose keys it has to take."""
        found = []
        for number, entry in enumerate(self.take(key, list, []), 1):
            if not isinstance(entry, dict):
                raise UsageError(f"{self.place}: write [[{key}]] above each entry of '{key}'")
            table = Table(entry, f"{self.place}, {key} {number}")
            found.append(read(table))
            table.done()
        return tuple(found)

    def rest(self) -> dict[str, Any]:
        values, self._values = self._values, {}
        return values

    def done(self) -> None:
        if self._values:
            raise UsageError(f"{self.place}: unknown key '{next(iter(self._values))}'")


MOST_LAUNCHES = 100_000  # a week without pause at six seconds each
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
# What the sweep itself passes on; a file that set them would break resuming.
_OWN_OPTIONS = ("results", "resume", "campaign", "plan", "ranks")


@dataclass(frozen=True)
class Program:
    name: str  # in file names: "moe_alltoall", or what `name` says
    program: str  # "moe_alltoall": dlmb_moe_alltoall
    arguments: tuple[str, ...]

    def option(self, name: str, default: str = "") -> str:
        """Its value in the arguments."""
        return self.arguments[self.arguments.index(name) + 1] if name in self.arguments else default


@dataclass(frozen=True)
class World:
    ranks: int
    nodes: int

    @property
    def name(self) -> str:
        return f"{self.ranks}r" if self.nodes == 1 else f"{self.ranks}r{self.nodes}n"

    @property
    def ranks_per_node(self) -> int:
        return self.ranks // self.nodes


@dataclass(frozen=True)
class Environment:
    name: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Side:
    """What is compared: a build, or an environment around the same build."""

    name: str
    build: str  # folder of the programs; empty: the one of the machine or of the command line
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sweep:
    name: str
    launches: int
    seed: int
    launch_timeout_s: int
    programs: tuple[Program, ...]
    worlds: tuple[World, ...]
    environments: tuple[Environment, ...]
    sides: tuple[Side, ...]


def read(path: Path) -> Sweep:
    top = Table(read_toml(path), str(path))
    common = top.take("options", dict, {})
    sweep = Sweep(
        name=_name(top, top.take("name", str, path.stem)),
        launches=top.positive("launches", 1, MOST_LAUNCHES),
        seed=top.take("seed", int, 1),
        launch_timeout_s=top.positive("launch-timeout", 1800),
        programs=top.tables("program", lambda table: _program(table, common)),
        worlds=top.tables("world", _world),
        environments=top.tables("environment", _environment) or (Environment("", ()),),
        sides=top.tables("side", _side) or (Side("results", "", ()),),
    )
    top.done()
    _require_whole(sweep, path)
    return sweep


def _require_whole(sweep: Sweep, path: Path) -> None:
    for entries, key in ((sweep.programs, "program"), (sweep.worlds, "world")):
        if not entries:
            raise UsageError(f"{path}: nothing to measure: there is no [[{key}]]")
    for named in (sweep.programs, sweep.worlds, sweep.environments, sweep.sides):
        names = [entry.name for entry in named]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"{path}: '{name}' occurs twice; give each entry a name of its own with name = \"...\"")
    total = sweep.launches * len(sweep.programs) * len(sweep.worlds) * len(sweep.environments) * len(sweep.sides)
    if total > MOST_LAUNCHES:
        raise UsageError(f"{path}: {total} launches in all, at most {MOST_LAUNCHES} can be made; use fewer, or several sweeps")


def _name(table: Table, text: str) -> str:
    if not _NAME.fullmatch(text):
        raise UsageError(f"{table.place}: the name '{text}' is used in file names: letters, digits and . _ + - only")
    return text


def _program(table: Table, common: dict[str, Any]) -> Program:
    program = table.take("program", str).removeprefix("dlmb_")
    name = _name(table, table.take("name", str, program))
    arguments: list[str] = []
    for key, value in {**common, **table.rest()}.items():
        if key in _OWN_OPTIONS:
            raise UsageError(f"{table.place}: '{key}' is set by the sweep itself")
        arguments += _argument(table, key, value)
    return Program(name, program, tuple(arguments))


def _argument(table: Table, key: str, value: Any) -> list[str]:
    """hidden = 7168 -> --hidden 7168; preset = ["a", "b"] -> --preset a,b; cells = true -> --cells."""
    if isinstance(value, bool):
        return [f"--{key}"] if value else []
    return [f"--{key}", ",".join(table.text_of(key, each) for each in (value if isinstance(value, list) else [value]))]


def _world(table: Table) -> World:
    world = World(table.positive("ranks"), table.positive("nodes", 1))
    if world.ranks % world.nodes != 0:
        raise UsageError(f"{table.place}: {world.ranks} ranks do not divide over {world.nodes} nodes")
    return world


def _environment(table: Table) -> Environment:
    return Environment(_name(table, table.take("name", str)), table.variables())


def _side(table: Table) -> Side:
    return Side(_name(table, table.take("name", str)), table.take("build", str, ""), table.variables())


@dataclass(frozen=True)
class Launch:
    program: Program
    world: World
    environment: Environment
    side: Side
    replicate: int  # from 1

    @property
    def job(self) -> str:
        """What is measured, without the side and the replicate."""
        return ".".join(filter(None, (self.program.name, self.world.name, self.environment.name)))

    @property
    def name(self) -> str:
        """Unique in a sweep; the path of its results below the sweep's folder, without the ending. Each environment has a folder of its own,
        because launches of several are no side of a comparison."""
        return "/".join(filter(None, (self.side.name, self.environment.name, f"{self.job}.{self.replicate:03d}")))


def launches(sweep: Sweep) -> list[Launch]:
    jobs = [(p, w, e) for p in sweep.programs for w in sweep.worlds for e in sweep.environments]
    shuffle = random.Random(sweep.seed).shuffle
    turns = {job: [sweep.sides[:: (1, -1)[replicate % 2]] for replicate in range(sweep.launches)] for job in jobs}
    for sides in turns.values():
        shuffle(sides)
    ordered = []
    for replicate in range(1, sweep.launches + 1):
        shuffle(jobs)
        ordered += [Launch(*job, side, replicate) for job in jobs for side in turns[job][replicate - 1]]
    return ordered
