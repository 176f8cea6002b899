# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a file exported for Open MPI or MPICH gains a program of plain MPI, by fresh launches with it and without in turns.

Per round one launch of dlmb_plain_mpi for each side, in random order: `file`, `default`, and with --forced every algorithm
of the collective alone, for the regret: file / fastest of them, where each half of the rounds says for the other half which
that is (in the same rounds one of several equal ones would be the fastest by luck). A launch makes its calls back to back and comes by each
size several times; its time of a size is the median of these visits' means. Printed per size: default / file (above 1: the
file is faster), the 95 % interval of it, the regret; ratios are Hodges-Lehmann means over the rounds.

example: exported_gain build/release/bin export --launches 40 --launcher 'mpirun --bind-to core:overload-allowed'
exit 0: every round was made, 1: some were not, 64: bad usage
"""

import argparse
import os
import random
import shlex
import signal
import statistics
import subprocess
import sys
from pathlib import Path

from dlmb_launch.autotune.plain_program import DEFAULT, FILE, Visits, ratio, settings_of, times_in
from dlmb_results.program import UsageError
from dlmb_statistics.robust import geometric_mean

EXIT_USAGE = 64
BANDS = ((8, 2**20), (4 * 2**10, 256 * 2**10))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, metavar="FOLDER_OF_PROGRAMS", help="for example build/release/bin")
    parser.add_argument("exported", type=Path, metavar="EXPORT", help="folder that dlmb_tune export wrote")
    parser.add_argument("--collective", default="allreduce", help="as dlmb_plain_mpi names it (default: allreduce)")
    parser.add_argument("--smallest", type=int, default=12, metavar="BYTES", help="sizes double from here (default: 12)")
    parser.add_argument("--largest", type=int, default=768 * 2**10, metavar="BYTES", help="to here (default: 786432)")
    parser.add_argument("--launches", type=int, default=20, help="per side (default: 20)")
    parser.add_argument("--ranks", type=int, default=4, help="default: 4")
    parser.add_argument("--calls", type=int, default=200, help="per visit (default: 200)")
    parser.add_argument("--visits", type=int, default=3, help="of a size per launch (default: 3)")
    parser.add_argument("--forced", nargs="*", default=[], metavar="ALGORITHM", help="to launch alone: ids of Open MPI, names of MPICH")
    parser.add_argument("--launcher", type=shlex.split, default=["mpirun"], help="with its arguments (default: mpirun)")
    parser.error = usage_error
    options = parser.parse_args()
    for name in ("smallest", "largest", "launches", "ranks", "calls", "visits"):
        if getattr(options, name) < 1:
            usage_error(f"--{name} {getattr(options, name)}: a number from 1 up")
    if not options.launcher:
        usage_error("--launcher: is empty")
    return options


def usage_error(message):
    print(f"exported_gain: error: {message}; --help shows the usage", file=sys.stderr)
    sys.exit(EXIT_USAGE)


def forced(collective, algorithm, of_file):
    """The variables that have the library of the file use one algorithm alone."""
    if any(name.startswith("OMPI_MCA_") for name in of_file):
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", f"OMPI_MCA_coll_tuned_{collective}_algorithm": algorithm}
    return {f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": algorithm}


class LaunchFailed(Exception):
    """With the command and what it printed."""


def times_of(options, what, environment):
    """One launch: nanoseconds per call, by size."""
    command = [*options.launcher, "-np", str(options.ranks), options.programs / "dlmb_plain_mpi", *what.arguments()]
    try:
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=600)
    except OSError as error:
        usage_error(f"--launcher {options.launcher[0]}: {error.strerror}")
    except subprocess.TimeoutExpired as error:
        raise LaunchFailed(f"{' '.join(map(str, command))} did not end in {error.timeout:.0f} s") from error
    times = times_in(done.stdout, what.sizes)
    if done.returncode != 0 or not times:
        raise LaunchFailed(f"{' '.join(map(str, command))} returned {done.returncode}\n{done.stdout}{done.stderr}")
    return times


def regret_of(rounds, size, others):
    """And the fastest ones."""
    halves = (rounds[::2], rounds[1::2])
    found = {}
    regrets = []
    for finding, judging in (halves, halves[::-1]):
        fastest = max(others, key=lambda side: ratio(finding, FILE, side, size).value)
        found[fastest] = None
        regrets.append(ratio(judging, FILE, fastest, size).value)
    return geometric_mean(regrets), list(found)


def report(rounds, sizes, forced):
    gains, regrets = {}, {}
    for size in sizes:
        gain = ratio(rounds, DEFAULT, FILE, size)
        gains[size] = gain.value
        levels = [statistics.median(one[side][size] for one in rounds) / 1000 for side in (DEFAULT, FILE)]
        line = f"{size:>8} B  default {levels[0]:9.2f} us  file {levels[1]:9.2f} us  speed-up {gain.value:.3f}"
        line += f" [{gain.low:.3f}, {gain.high:.3f}]"
        if forced:
            regrets[size], fastest = regret_of(rounds, size, [DEFAULT, *forced])
            line += f"  regret {regrets[size]:.3f} (of {' and '.join(fastest)})"
        print(line)
    for low, high in BANDS:
        chosen = [gains[size] for size in sizes if low <= size <= high]
        if chosen:
            print(f"{low} B to {high} B: speed-up {geometric_mean(chosen):.3f} (least {min(chosen):.3f})")
    if regrets:
        print(f"regret {geometric_mean(list(regrets.values())):.3f} (most {max(regrets.values()):.3f})")


def main():
    options = parse()
    sizes = [options.smallest]
    while sizes[-1] * 2 <= options.largest:
        sizes.append(sizes[-1] * 2)
    what = Visits(options.collective, tuple(sizes), options.calls, options.visits)
    try:
        sides = {DEFAULT: {}, FILE: settings_of(options.exported)}
    except UsageError as error:
        usage_error(error)
    for algorithm in options.forced:
        sides[algorithm] = forced(options.collective, algorithm, sides[FILE])
    rounds = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for _ in range(options.launches):
            order = random.sample(list(sides), k=len(sides))
            rounds.append({side: times_of(options, what, sides[side]) for side in order})
    except KeyboardInterrupt:
        print(f"interrupted after {len(rounds)} of {options.launches} rounds")
    except LaunchFailed as failure:
        print(f"exported_gain: error: round {len(rounds) + 1}: {failure}", file=sys.stderr)
    if rounds:
        print(f"{options.collective}, {options.ranks} ranks, {len(rounds)} launches of each side")
        report(rounds, sizes, options.forced if len(rounds) > 1 else [])
    return 0 if len(rounds) == options.launches else 1


if __name__ == "__main__":
    sys.exit(main())
