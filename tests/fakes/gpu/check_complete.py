# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""check_complete.py NM DOUBLE PROGRAM: what the program calls of the CUDA runtime and NCCL, the double has; and its kernels.

A function that it lacks would be the real library's, which knows nothing of the double's handles."""

import pathlib
import re
import subprocess
import sys

OURS = re.compile(r"(__)?cuda[A-Z]|nccl[A-Z]")
LAUNCHER_OF_KERNEL = re.compile(r"__device_stub__\w*?\d(dlmb_[a-z_]+)E")  # what nvcc generates for each


def symbols(nm, path, *options):
    """Names without their versions ("cudaMalloc@libcudart.so.13")."""
    listing = subprocess.run([nm, *options, path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip()}


def main(nm, double, program):
    called = {name for name in symbols(nm, program, "-D", "--undefined-only") if OURS.match(name)}
    kernels = {found.group(1) for name in symbols(nm, program) if (found := LAUNCHER_OF_KERNEL.search(name))}
    text = pathlib.Path(double).read_bytes()
    missing = called - symbols(nm, double, "-D", "--defined-only")
    missing |= {name for name in kernels if name.encode() + b"\0" not in text}
    print(f"{program} calls {len(called)} functions of the CUDA runtime and NCCL and has {len(kernels)} kernels; "
          f"the test double lacks {sorted(missing) or 'none'}")
    return 1 if missing or not called or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
