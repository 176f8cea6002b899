# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One trial: a launch, a strike at a random moment, its end, what is in its files, and the launch that completes them."""

import collections
import contextlib
import dataclasses
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import time

from launches import TRAFFIC, Workload
from processes import end_all

HANG_SECONDS = 120  # from the strike, or from the last cell that was reported, until everything has ended
LOOK_SECONDS = 2  # between two counts of reports
ALONE_SECONDS = 20  # a launcher that is told of a failed rank ends the others long before that
WATCHDOG_SECONDS = 2
TRIES = 20  # to strike before the launch is over
LENGTH_SECONDS = {"ranks": 1.5, "threads": 0.4, "sweep": 4.0}  # of a launch, until one was seen
JITTER_SECONDS = 0.03  # of a moment that is counted from the report of a cell
EX_IOERR = 74
KIB = 1024
NAMED = re.compile(r"rank \d+.*: .*no progress for \d+ s")


@dataclasses.dataclass(frozen=True)
class Kind:
    workload: str  # of launches.Workload
    victim: str  # "rank", "launcher", "driver", "disk"
    signal: int = 0

    @property
    def name(self):
        if self.victim == "disk":
            return "full disk" if self.full_by_mount else "full disk (limit on file size)"
        of = {"launcher": "the launcher", "driver": "dlmb_sweep", "rank": "a rank"}[self.victim]
        if self.workload == "threads":
            of = "thread ranks"
        elif self.workload == "sweep" and self.victim != "driver":
            of += " of a sweep"
        return f"{signal.Signals(self.signal).name} to {of}"

    @property
    def row(self):
        """Of the table of counts."""
        if self.victim == "disk":
            return "disk full"
        if self.signal == signal.SIGSTOP:
            return "a rank stopped"
        if self.workload == "threads":
            return "thread ranks killed"
        return {"launcher": "the launcher killed", "driver": "dlmb_sweep killed", "rank": "a rank killed"}[self.victim]

    @property
    def full_by_mount(self):
        return self.workload == "ranks" and can_mount()


# A short run takes the first ones.
KINDS = (
    Kind("ranks", "rank", signal.SIGKILL),
    Kind("ranks", "launcher", signal.SIGTERM),
    Kind("ranks", "rank", signal.SIGSTOP),
    Kind("ranks", "disk"),
    Kind("sweep", "driver", signal.SIGKILL),
    Kind("ranks", "launcher", signal.SIGKILL),
    Kind("ranks", "rank", signal.SIGTERM),
    Kind("threads", "rank", signal.SIGKILL),
    Kind("ranks", "launcher", signal.SIGINT),
    Kind("sweep", "driver", signal.SIGINT),
    Kind("ranks", "rank", signal.SIGINT),
    Kind("threads", "rank", signal.SIGTERM),
    Kind("threads", "disk"),
    Kind("sweep", "driver", signal.SIGTERM),
    Kind("sweep", "launcher", signal.SIGKILL),
    Kind("sweep", "rank", signal.SIGKILL),
    Kind("threads", "rank", signal.SIGINT),
)


@dataclasses.dataclass
class Outcome:
    story: str = ""
    finished: int = 0  # cells that were reported before the strike, or that the full disk took
    lost: list = dataclasses.field(default_factory=list)
    twice: list = dataclasses.field(default_factory=list)
    hung: bool = False
    incomplete: list = dataclasses.field(default_factory=list)
    unexpected: list = dataclasses.field(default_factory=list)

    def problems(self):
        named = {"lost": self.lost, "twice": self.twice, "incomplete": self.incomplete, "unexpected": self.unexpected}
        return [*(f"{name}: {what}" for name, found in named.items() for what in found), *(["hang"] if self.hung else [])]


# A file system of its own, which goes with its last process; what is on it is copied at the end.
NAMESPACE = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
ON_SMALL_DISK = 'disk=$1; copy=$2; mount -t tmpfs -o "size=$0" disk "$disk" || exit; shift 2; "$@"; code=$?; cp "$disk"/* "$copy"; exit $code'

# Standard output is a file as well, unless it is a pipe.
WITH_LIMIT = ["bash", "-c", 'set -o pipefail; (ulimit -f "$0"; exec "$@") | cat']


@functools.cache
def can_mount():
    try:
        return subprocess.run([*NAMESPACE, "mount -t tmpfs disk /tmp"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def run(kind, chance, folder):
    """The outcome of one trial; every process that it started has ended."""
    outcome = Outcome()
    workload = "threads" if kind.victim == "disk" and not kind.full_by_mount else kind.workload
    traffic = chance.choice(sorted(TRAFFIC))
    launch = Workload(workload, folder, chance.choice((2, 2, 3, 4)), chance.choice(("off", "off", "off", "short")), TRAFFIC[traffic])
    try:
        if kind.victim == "disk":
            fill_disk(kind, chance, launch, outcome)
        else:
            strike(kind, chance, launch, outcome)
        if not outcome.hung:
            complete(launch, outcome)
        outcome.story = f"{traffic}, {outcome.story}"
    finally:
        end_all(launch.mark)
    return outcome


def strike(kind, chance, launch, outcome):
    stops = kind.signal == signal.SIGSTOP
    for _ in range(TRIES):
        clear(launch)
        job = launch.start(*(["--timeout", WATCHDOG_SECONDS] if stops else []))
        moment = wait_for_moment(launch, job, chance)
        victim = find_victim(kind, launch, job, chance)
        before = ok_cells(launch)
        if victim is not None and hit(victim, kind.signal):
            break
        ended(launch, job)
    else:
        outcome.unexpected.append(f"never struck in {TRIES} tries")
        return
    outcome.finished = len(before)
    began = time.monotonic()
    outcome.hung = not ended(launch, job, victim if stops else None)
    output, errors = launch.printed()
    outcome.story = (f"{launch.ranks} ranks, {moment}, {len(before)} cells finished; "
                     f"exit {job.returncode} after {time.monotonic() - began:.1f} s"
                     + ("; every rank had ended, and the launcher had to be killed" if launch.launcher_stayed else ""))
    compare_with_files(launch, before, outcome)
    if job.returncode == 0 and len(ok_cells(launch)) != launch.cells:
        outcome.unexpected.append("exit code 0")
    if stops and job.returncode != 0 and not NAMED.search(errors + output):
        outcome.unexpected.append("nobody said which rank stood still")
    note_tracebacks(output, errors, outcome)


def compare_with_files(launch, before, outcome):
    """before: the finished cells that the files have held already."""
    after = ok_cells(launch)
    outcome.lost += sorted(set(before) - set(after))
    outcome.lost += ["a row without its line"] * (rows_in(launch.tables()) - len(after))
    outcome.twice += ended_twice(lines_of(launch))


def wait_for_moment(launch, job, chance):
    """What it is, in words. Half of the moments are counted from the start, half from the line or row of a cell, where files and tables
    are being written."""
    if chance.random() < 0.5:
        seconds = chance.uniform(0, LENGTH_SECONDS[launch.kind])
        sleep_while_running(job, seconds)
        return f"{seconds:.2f} s after the start"
    cells, seconds = chance.randint(1, launch.cells), chance.choice((0, chance.uniform(0, JITTER_SECONDS)))
    while job.poll() is None and count_of_reports(launch) < cells:
        time.sleep(0.002)
    sleep_while_running(job, seconds)
    return f"{1000 * seconds:.0f} ms after cell {cells}"


def sleep_while_running(job, seconds):
    if seconds > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(seconds)


def find_victim(kind, launch, job, chance):
    """A process id; waits for one that has yet to be started."""
    while job.poll() is None:
        if kind.victim == "driver" or launch.kind == "threads" or (kind.victim == "launcher" and launch.kind == "ranks"):
            return job.pid
        found = launch.rank_processes() if kind.victim == "rank" else launch.launcher_processes()
        if found:
            return chance.choice(found)
        time.sleep(0.005)
    return None


def hit(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def ended(launch, job, stopped=None):
    """Waits until no process of the launch is left; False: one is. Once every other rank has ended well, only the user can let a
    stopped one go on. Once no rank and no driver is left, a launcher that stays is not held by us: it is killed and noted."""
    looked = reported = time.monotonic()
    reports = count_of_reports(launch)
    alone_since = None
    left_since = None
    while time.monotonic() < reported + HANG_SECONDS:
        if job.poll() is not None and not launch.running():
            return True
        if time.monotonic() > looked + LOOK_SECONDS:
            looked, before, reports = time.monotonic(), reports, count_of_reports(launch)
            reported = looked if reports > before else reported
        if stopped is not None:
            alone = launch.rank_processes() == [stopped]
            alone_since = (alone_since or time.monotonic()) if alone else None
            if alone and time.monotonic() > alone_since + ALONE_SECONDS:
                hit(stopped, signal.SIGCONT)
        running = launch.running()
        left = bool(running) and sorted(running) == launch.launcher_processes()
        left_since = (left_since or time.monotonic()) if left else None
        if left and time.monotonic() > left_since + ALONE_SECONDS:
            launch.launcher_stayed = True
            for launcher in launch.launcher_processes():
                hit(launcher, signal.SIGKILL)
        time.sleep(0.05)
    return False


def fill_disk(kind, chance, launch, outcome):
    for _ in range(TRIES):
        clear(launch)
        size = chance.randrange(1, 9) * 4 * KIB  # a tmpfs has pages
        if kind.full_by_mount:
            copy = launch.folder / "copy"
            copy.mkdir(exist_ok=True)
            job = launch.start(before=[*NAMESPACE, ON_SMALL_DISK, str(size), str(launch.results_folder), str(copy)])
        else:
            job = launch.start(before=[*WITH_LIMIT, str(size // KIB)])
        outcome.hung = not ended(launch, job)
        if kind.full_by_mount:
            for file in copy.iterdir():
                file.replace(launch.results_folder / file.name)
        if outcome.hung or job.returncode != 0:
            break
    output, errors = launch.printed()
    unsaved = [json.loads(text) for text in re.findall(r"^DLMB-UNSAVED (.*)$", output, re.MULTILINE)]
    saved = ok_cells(launch)
    outcome.finished = len(saved)
    outcome.story = f"{launch.ranks} ranks, full at {size // KIB} KiB: {len(saved)} cells in the file, exit {job.returncode}"
    printed = [line["cell_id"] for line in unsaved if line["kind"] == "cell"]
    outcome.lost += ["a row with neither line nor DLMB-UNSAVED"] * (rows_in(launch.tables()) - len(saved) - len(printed))
    outcome.twice += ended_twice([*lines_of(launch), *unsaved])
    if job.returncode != EX_IOERR:
        outcome.unexpected.append(f"exit code {job.returncode}")
    note_tracebacks(output, errors, outcome)


def complete(launch, outcome):
    before = ok_cells(launch)
    began = time.monotonic()
    job = launch.start(*([] if launch.kind == "sweep" else ["--resume"]))
    outcome.hung = not ended(launch, job)
    LENGTH_SECONDS[launch.kind] = time.monotonic() - began
    if job.returncode != 0:
        outcome.incomplete.append(f"exit code {job.returncode}")
    after = collections.Counter(ok_cells(launch))
    outcome.lost += sorted(set(before) - set(after))
    outcome.incomplete += [f"{count} times {cell}" for cell, count in after.items() if count != 1]
    if len(after) != launch.cells:
        outcome.incomplete.append(f"{len(after)} cells of {launch.cells}")
    outcome.incomplete += [f"{cell} has no {launch.traffic.figure}" for cell in without_figure(launch)]
    outcome.incomplete += [f"{file.name} ends in a broken line" for file in launch.files() if not file.read_bytes().endswith(b"\n")]
    outcome.twice += [found for found in ended_twice(lines_of(launch)) if found not in outcome.twice]
    note_tracebacks(*launch.printed(), outcome)


def clear(launch):
    shutil.rmtree(launch.results_folder)
    launch.results_folder.mkdir()


def lines_of_file(file):
    """Without a last one that is broken."""
    return [json.loads(line) for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def lines_of(launch):
    return [line for file in launch.files() for line in lines_of_file(file)]


def ok_cells(launch):
    """(file, cell) of what is finished, as often as it is there."""
    return [(file.name, line["cell_id"]) for file in launch.files() for line in lines_of_file(file) if line["kind"] == "cell" and line["status"] == "ok"]


def without_figure(launch):
    """Finished cells of which no other cell has told what it should."""
    traffic = launch.traffic
    missing = []
    for file in launch.files() if traffic.figure else ():
        lines = [line for line in lines_of_file(file) if line.get("cell_id") and traffic.of_cells in line["cell_id"] + "/"]
        told = {line["cell_id"] for line in lines if traffic.figure in (line.get("statistics") or {})}
        missing += sorted({line["cell_id"] for line in lines if line.get("status") == "ok"} - told)
    return missing


def count_of_reports(launch):
    return max(sum(file.read_bytes().count(b'"kind":"cell"') for file in launch.files()), rows_in(launch.tables()))


def ended_twice(lines):
    """Cells that one launch ended more than once."""
    ends = collections.Counter((line["launch_id"], line["cell_id"]) for line in lines if line["kind"] == "cell")
    return [f"{cell} in launch {launch}" for (launch, cell), count in ends.items() if count > 1]


def rows_in(output):
    """Of the table: one per finished cell."""
    return len(re.findall(r"^[^#\n]* all .* ok$", output, re.MULTILINE))


def note_tracebacks(output, errors, outcome):
    found = re.search(r"Traceback|internal error|terminate called|Segmentation", output + errors)
    if found:
        outcome.unexpected.append(f"it said {found[0]}")
