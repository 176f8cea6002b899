# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a tuning table gains a DDP step of PyTorch over the same MPI library, by fresh launches with it and without in turns.

Per round one launch of step.py for each side, in random order: `table` and `mpi` (process group dlmb with the table and without),
`control` (as `mpi`: the A/A control) and `gloo`. A launch's time is the median of its steps. Printed: the median time of each side, and
the ratios to `mpi` (above 1: faster than `mpi`), Hodges-Lehmann means over the rounds with 95 % intervals. The losses of all launches are
compared with those of the first one with `mpi`.

models: ppo        policy and value network of PPO for MuJoCo's Humanoid, 16 samples per rank of 4: allreduces of 16 to 96 KiB
        layers:W   16 linear layers, W wide, and one sample: allreduces of 4 * W * W bytes

example: torch_step build/release/python table.json --model ppo --launches 8 --python /usr/bin/python3
exit 0: every launch ended well, with losses equal to 1e-4; 1: some did not; 64: bad usage
"""

import argparse
import json
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

from dlmb_launch.autotune.plain_program import ratio

SIDES = ("mpi", "control", "table", "gloo")
EXIT_USAGE = 64


def usage_error(message):
    print(f"torch_step: error: {message}; --help shows the usage", file=sys.stderr)
    sys.exit(EXIT_USAGE)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, metavar="FOLDER", help="that has dlmb_torch, for example build/release/python")
    parser.add_argument("table", type=Path, metavar="TABLE", help="tuning table")
    parser.add_argument("--launches", type=int, default=8, help="per side (default: 8)")
    parser.add_argument("--ranks", type=int, default=4, help="default: 4")
    parser.add_argument("--model", default="ppo", help="ppo or layers:W (default: ppo)")
    parser.add_argument("--python", default="python3", help="the one whose PyTorch dlmb_torch was built for (default: python3)")
    parser.add_argument("--launcher", type=shlex.split, default=["mpirun"], help="with its arguments (default: mpirun)")
    parser.add_argument("--without-gloo", action="store_true", help="its launches take most of the time")
    parser.error = usage_error
    options = parser.parse_args()
    options.sides = [side for side in SIDES if side != "gloo" or not options.without_gloo]
    for name in ("launches", "ranks"):
        if getattr(options, name) < 1:
            usage_error(f"--{name} {getattr(options, name)}: a number from 1 up")
    if not re.fullmatch(r"ppo|layers:[1-9]\d{0,4}", options.model):
        usage_error(f"--model {options.model}: is neither ppo nor layers:W")
    if not (options.package / "dlmb_torch" / "__init__.py").is_file():
        usage_error(f"{options.package}: has no dlmb_torch; build the target dlmb_torch (launch/torch/README.md)")
    if not options.table.is_file():
        usage_error(f"{options.table}: is no file")
    if not options.launcher:
        usage_error("--launcher: is empty")
    return options


def launch(side, options):
    """What rank 0 printed; None, with a word on standard error: it failed."""
    arguments = ["gloo" if side == "gloo" else "dlmb", options.model, *([options.table] if side == "table" else [])]
    command = [*options.launcher, "-n", options.ranks, options.python, Path(__file__).resolve().parent / "step.py", *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{options.package.resolve()}:{os.environ.get('PYTHONPATH', '')}", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else print(f"{side}: exit {done.returncode}\n{done.stderr}", file=sys.stderr)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return print(f"{side}: {error}", file=sys.stderr)


def print_ratio(side, rounds):
    times = [{each: {0: result["step_us"]} for each, result in results.items()} for results in rounds]
    found = ratio(times, "mpi", side, 0)
    print(f"mpi / {side:8s} {found.value:6.3f} [{found.low:.3f}, {found.high:.3f}] in {len(rounds)} rounds")


def main():
    options = parse()
    rounds, failed = [], 0
    for number in range(options.launches):
        results = {side: launch(side, options) for side in random.sample(options.sides, len(options.sides))}
        failed += sum(result is None for result in results.values())
        if None not in results.values():
            rounds.append(results)
            print(f"round {number + 1}: " + ", ".join(f"{side} {results[side]['step_us']:.0f} us" for side in options.sides), flush=True)
    if not rounds:
        return 1
    print(f"\n{options.model}, {options.ranks} ranks; median time of a step in us")
    for side in options.sides:
        print(f"{side:8s} {statistics.median(each[side]['step_us'] for each in rounds):8.0f}")
    for side in options.sides[1:]:
        print_ratio(side, rounds)
    for used in rounds[0]["table"]["used"]:
        print(f"by the table: {used['bytes']} bytes {used['method']} (rule {used['rule'] or 'none'}) {used['why_not']}, {used['calls']} calls")
    right = rounds[0]["mpi"]["losses"]
    difference = max(abs(one - other) / abs(other) for each in rounds for side in options.sides for one, other in zip(each[side]["losses"], right))
    print(f"losses: from {right[0]:.6g} to {right[-1]:.6g}; largest relative difference of any launch to the first {difference:.1e}")
    return int(failed > 0 or not difference <= 1e-4)


if __name__ == "__main__":
    sys.exit(main())
