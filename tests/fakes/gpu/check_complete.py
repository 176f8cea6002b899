# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""check_complete.py NM DOUBLE PROGRAM: what the program calls of the CUDA runtime and NCCL, the double has.

A function that it lacks would be the real library's, which knows nothing of the double's handles."""

import re
import subprocess
import sys

OURS = re.compile(r"(__)?cuda[A-Z]|nccl[A-Z]")


def symbols(nm, which, path):
    """Names without their versions ("cudaMalloc@libcudart.so.13")."""
    listing = subprocess.run([nm, "-D", which, path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}


def main(nm, double, program):
    called = {name for name in symbols(nm, "--undefined-only", program) if OURS.match(name)}
    missing = sorted(called - symbols(nm, "--defined-only", double))
    print(f"{program} calls {len(called)} functions of the CUDA runtime and NCCL; the test double lacks {missing or 'none'}")
    return 1 if missing or not called else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
