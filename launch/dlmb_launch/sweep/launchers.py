# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How to launch here: the machine file (without one everything is found out), the command lines of mpirun (Open MPI), mpiexec (MPICH)
and srun, and which of them starts the programs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dlmb_launch.sweep import sweep_file
from dlmb_launch.sweep.sweep_file import Table, World
from dlmb_results.program import UnavailableError, UsageError

LAUNCHERS = ("auto", "mpirun", "mpiexec", "srun")
BINDINGS = ("core", "numa", "none")

_QUESTION_SECONDS = 60


@dataclass(frozen=True)
class Machine:
    launcher: str = "auto"
    arguments: tuple[str, ...] = ()  # of the launcher
    bind: str = "core"
    oversubscribe: bool = False  # more ranks than cores on a node: for trying things out, never for numbers
    build: str = ""  # folder of the programs
    variables: tuple[tuple[str, str], ...] = ()


def read_machine(path: Path | None) -> Machine:
    if path is None:
        return Machine()
    table = Table(sweep_file.read_toml(path), str(path))
    oversubscribe = table.take("oversubscribe", bool, False)
    launcher, arguments = _one_of(table, "launcher", LAUNCHERS, "auto"), tuple(map(str, table.take("arguments", list, [])))
    bind = _one_of(table, "bind", BINDINGS, "none" if oversubscribe else "core")
    machine = Machine(launcher, arguments, bind, oversubscribe, table.take("build", str, ""), table.variables())
    table.done()
    return machine


def _one_of(table: Table, key: str, values: tuple[str, ...], default: str) -> str:
    value = table.take(key, str, default)
    if value not in values:
        raise UsageError(f"{table.place}: {key} is one of {', '.join(values)}, not '{value}'")
    return value


@dataclass(frozen=True)
class Launcher:
    kind: str  # mpirun, mpiexec or srun
    path: str
    pmi: str  # of srun: pmix, pmi2
    variables: tuple[tuple[str, str], ...]  # what the launcher itself needs

    def command(self, machine: Machine, world: World) -> list[str]:
        """Everything before the program."""
        return [self.path, *_MAKERS[self.kind](self, machine, world), *machine.arguments]

    def without_world(self, machine: Machine) -> list[str]:
        """Launcher and options for a program that adds -n RANKS itself: no placement, no binding."""
        own = [f"--mpi={self.pmi}", "--kill-on-bad-exit=1", "--overcommit", "--cpu-bind=none"] if self.kind == "srun" else []
        return [self.path, *own, *machine.arguments]


@lru_cache(maxsize=None)  # it starts programs
def find(machine: Machine, build: Path) -> Launcher:
    """For the programs in `build`. Inside a Slurm job srun, elsewhere what belongs to their MPI library."""
    library = mpi_library(build)
    kind = machine.launcher
    if kind == "auto":
        in_job = "SLURM_JOB_ID" in os.environ and shutil.which("srun")
        kind = "srun" if in_job else "mpirun" if "Open MPI" in library else "mpiexec"
    if kind == "srun":
        path = _require("srun", ["srun"], "")
        return Launcher(kind, path, _pmi(path, library), ())
    if kind == "mpirun":
        names = [*_beside_library(build, kind), "mpirun.openmpi", "mpirun"]
        return Launcher(kind, _require("Open MPI's mpirun", names, "Open MPI"), "", _open_mpi_needs(machine))
    names = [*_beside_library(build, kind), "mpiexec.mpich", "mpiexec.hydra", "mpiexec"]
    return Launcher(kind, _require("MPICH's mpiexec", names, "HYDRA"), "", ())


def _beside_library(build: Path, name: str) -> list[str]:
    """The launcher that is installed with the MPI library of the programs: where they run with another library than they were built
    with, the launcher in PATH starts each rank as a world of its own."""
    program = build / "dlmb_plain_mpi"
    lines = _ask([str(program)]).splitlines() if program.is_file() else []
    libraries = [Path(line) for line in lines if line.startswith("/") and ".so" in line]
    return [str(path.parent.parent / "bin" / name) for path in libraries]


def default_build() -> Path:
    """Where the programs are in PATH, else where the preset `release` builds them."""
    program = shutil.which("dlmb_info")
    return Path(program).parent if program else Path("build/release/bin")


def info(build: Path) -> dict[str, Any]:
    """What `dlmb_info --json` says of the programs and of this machine."""
    program = build / "dlmb_info"
    if not program.is_file():
        raise UsageError(f"{build}: no DLMB programs here; name the folder of dlmb_info with --build or in a [[side]]")
    answer = _ask([str(program), "--json"])
    try:
        # Libraries print warnings before it (UCX of two installations).
        value = json.JSONDecoder().raw_decode(answer, answer.index("{"))[0]
        value["machine"].get("mpi_library", "")
        return value
    except (ValueError, KeyError, AttributeError):
        raise UnavailableError(f"{program} --json does not answer; run it by hand to see why") from None


def mpi_library(build: Path) -> str:
    """What the programs were built with: "Open MPI v4.1.4, ..." or "MPICH Version: 4.0.2 ..."."""
    library = info(build)["machine"].get("mpi_library", "")
    if not library:
        raise UsageError(f"{build}: built without MPI; configure with -DDLMB_WITH_MPI=ON to launch several ranks")
    return library


def require_room(machine: Machine, world: World, launcher: Launcher) -> None:
    """Refuses ranks that do not fit on the nodes and their cores, where these are known."""
    nodes = int(os.environ.get("SLURM_JOB_NUM_NODES", "0"))
    if launcher.kind == "srun" and 0 < nodes < world.nodes:
        raise UsageError(f"a world of {world.nodes} nodes in a Slurm job of {nodes}; ask for more nodes (sbatch -N {world.nodes})")
    cores = len(os.sched_getaffinity(0))
    if launcher.kind != "srun" and world.nodes == 1 and world.ranks > cores and not machine.oversubscribe:
        raise UsageError(
            f"{world.ranks} ranks on {cores} usable cores take turns, which measures the scheduler; use fewer ranks, or "
            "say oversubscribe = true in a machine file to try things out"
        )


def _ask(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_QUESTION_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _require(what: str, names: list[str], says: str) -> str:
    for name in names:
        path = shutil.which(name)
        if path and (not says or says in _ask([path, "--version"])):
            return path
    raise UnavailableError(f"{what} is not in PATH ({', '.join(names)}); the programs were built for it")


def _pmi(srun: str, library: str) -> str:
    """The process manager interface that this srun offers and the library supports. With a wrong one each rank is rank 0 of 1."""
    offered = set(re.findall(r"[a-z0-9_]+", _ask([srun, "--mpi=list"]).lower()))
    wanted = ["pmix"] if "Open MPI" in library else ["pmi2", "pmix"]
    for name in wanted:
        if name in offered:
            return name
    raise UnavailableError(
        f"{srun} --mpi=list offers none of {', '.join(wanted)}, which {library.split(',')[0]} needs; use launcher = "
        '"mpirun" in a machine file'
    )


def _open_mpi_needs(machine: Machine) -> tuple[tuple[str, str], ...]:
    needs = []
    if machine.oversubscribe:
        needs += [("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")]
    if os.getuid() == 0:  # in a container; Open MPI refuses root without both variables, PRTE_* from 5 on
        needs += [(f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}", "1") for prefix in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")]
    return tuple(needs)


def _mpirun(_: Launcher, machine: Machine, world: World) -> list[str]:
    shared = machine.oversubscribe and machine.bind != "none"
    bind = f"{machine.bind}:overload-allowed" if shared else machine.bind
    places = ["--map-by", f"ppr:{world.ranks_per_node}:node"] if world.nodes > 1 else []
    return ["-np", str(world.ranks), *places, "--bind-to", bind]


def _mpiexec(_: Launcher, machine: Machine, world: World) -> list[str]:
    places = ["-ppn", str(world.ranks_per_node)] if world.nodes > 1 else []
    bind = [] if machine.bind == "none" else ["-bind-to", machine.bind]
    return ["-n", str(world.ranks), *places, *bind]


def _srun(launcher: Launcher, machine: Machine, world: World) -> list[str]:
    bind = {"core": "cores", "numa": "ldoms", "none": "none"}[machine.bind]
    places = ["-n", str(world.ranks), "-N", str(world.nodes), f"--ntasks-per-node={world.ranks_per_node}"]
    return [f"--mpi={launcher.pmi}", *places, f"--cpu-bind={bind}", "--kill-on-bad-exit=1", *(["--overcommit"] if machine.oversubscribe else [])]


_MAKERS = {"mpirun": _mpirun, "mpiexec": _mpiexec, "srun": _srun}
