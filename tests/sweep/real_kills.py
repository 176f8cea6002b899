# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of the driver, of mpirun and of a rank at random moments of a real sweep, which is started again each time.

Usage: real_kills.py BIN [KILLS [SEED]]. In the end every launch's file must hold every cell exactly once, ok, in whole
lines. The moments are random in the length of a sweep that is left alone.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MACHINE = "oversubscribe = true\n"
SWEEP = """
launches = {launches}
launch-timeout = 120
[options]
backend = "mpi"
iterations = 200
warmup = 2
[[world]]
ranks = 2
[[program]]
program = "collective"
operation = "sendrecv"
message-size = "1K:128K"
"""
CELLS = 8  # 1 K to 128 K
SECONDS_PER_KILL = 2  # the latest moment of a kill
SECONDS_TO_SEE_IT = 1  # that the driver goes on after a kill of another process


def processes():
    """pid -> (parent, command line) of everything that runs."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(entry.name)] = (parent, (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                pass
    return found


def victims(driver, kind):
    if kind == "driver":
        return [driver]
    running = processes()
    launchers = [pid for pid, (parent, _) in running.items() if parent == driver]
    if kind == "mpirun":
        return launchers
    return [pid for pid, (parent, line) in running.items() if parent in launchers and "dlmb_collective" in line]


def sweep_command(folder, bin_folder):
    tool = [sys.executable, "-m", "dlmb_launch.sweep", str(folder / "kills.toml"), "-o", str(folder / "out")]
    return [*tool, "--build", bin_folder, "--machine", str(folder / "machine.toml")]


def run_with_kill(command, kind, delay):
    """True if something was killed."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        end = time.monotonic() + delay
        while time.monotonic() < end and driver.poll() is None:
            time.sleep(0.01)
        hit = kill_one(victims(driver.pid, kind)) if driver.poll() is None else False
        try:
            driver.wait(SECONDS_TO_SEE_IT)
        except subprocess.TimeoutExpired:
            driver.terminate()  # the next kill needs work that is left
    return hit


def kill_one(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        return True
    return False


def problems(folder, launches):
    found = []
    files = sorted((folder / "out" / "results").glob("*.jsonl"))
    if len(files) != launches:
        found.append(f"{len(files)} result files instead of {launches}")
    for file in files:
        text = file.read_text(encoding="utf-8")
        if not text.endswith("\n"):
            found.append(f"{file.name}: a broken last line")
        cells = []
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                found.append(f"{file.name}: a broken line: {line[:60]}")
                continue
            if entry["kind"] == "cell":
                cells.append(entry["cell_id"])
                if entry["status"] != "ok":
                    found.append(f"{file.name}: {entry['cell_id']} is {entry['status']}")
        if len(cells) != CELLS or len(set(cells)) != CELLS:
            found.append(f"{file.name}: {len(cells)} cells, {len(set(cells))} different, instead of {CELLS}")
    return found


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)
    print(f"{kills} kills, seed {seed}")
    chance = random.Random(seed)
    launches = 2 * kills  # more than what is done between kills, so that there is always something left to meet
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "kills.toml").write_text(SWEEP.format(launches=launches), encoding="utf-8")
        (folder / "machine.toml").write_text(MACHINE, encoding="utf-8")
        command = sweep_command(folder, sys.argv[1])
        hits = tries = 0
        while hits < kills and tries < 4 * kills:
            kind = ("driver", "mpirun", "rank")[hits % 3]
            hits += run_with_kill(command, kind, chance.uniform(0.2, SECONDS_PER_KILL))
            tries += 1
        for _ in range(3):  # a rank of a killed mpirun may still hold its result file for a moment
            last = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            if last.returncode == 0:
                break
        print(f"{hits} kills in {tries} tries; the last run ended with {last.returncode}")
        found = problems(folder, launches)
    for problem in found:
        print(problem)
    return 0 if hits == kills and last.returncode == 0 and not found else 1


if __name__ == "__main__":
    sys.exit(main())
