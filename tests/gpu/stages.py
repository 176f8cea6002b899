# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/gpu/run does, in order. Limits are several times what a stage should take."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from machine import Kit
from stage import Stage

SOURCE = Path(__file__).resolve().parents[2]
TARGETS = ["conformance_mpi", "gpu_kernels_test", "gpu_kernel_rates", "gpu_plan_overhead", "dlmb_info"]
BACKENDS = ("nccl", "mpi", "ucx")
RANKS = (1, 2, 4)
LARGE = "64M"


def programs() -> dict[str, list[str]]:
    """The small traffic of every program, as the end-to-end tests know it."""
    os.environ.setdefault("DLMB_BIN", ".")
    os.environ.setdefault("DLMB_SOURCE", str(SOURCE))
    sys.path.insert(0, str(SOURCE / "tests" / "e2e"))
    from every_program import PROGRAMS

    return PROGRAMS


def build_stages(kit: Kit, build: Path) -> list[Stage]:
    configure = ["cmake", "-S", str(SOURCE), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CUDA_ARCHITECTURES=90-real"]
    configure += [f"-DDLMB_WITH_{name}=ON" for name in ("CUDA", "NCCL", "MPI", "UCX")] + kit.cmake_options()
    targets = [*TARGETS, *(f"dlmb_{name}" for name in programs())]
    return [Stage("configure", configure, 90), Stage("build", ["cmake", "--build", str(build), "--target", *targets], 300)]


def starts_without_gpu(build: Path) -> list[Stage]:
    """What a build can show where there is no GPU."""
    return [Stage("dlmb_info starts", [str(build / "bin" / "dlmb_info")], 60, figures=True)]


def nothing_skipped(output: str) -> str:
    skipped = re.search(r"^\[  SKIPPED \].*|.*\bskipped\b.*", output, re.MULTILINE)
    return f"skipped: {skipped.group(0).strip()}" if skipped else ""


def no_memory_errors(output: str) -> str:
    return "" if "ERROR SUMMARY: 0 errors" in output else "compute-sanitizer reports errors, or did not run"


def kernel_stages(build: Path) -> list[Stage]:
    kernels = str(build / "bin" / "gpu_kernels_test")
    few = "--gtest_filter=PayloadKernels.CheckNames*:Elements/*TakesOperandsAtAnyAddress*:Elements/DeviceReductionCheckOf.*"
    return [
        Stage("kernels", [kernels], 90, nothing_skipped),
        Stage("kernels under memcheck", ["compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "9", kernels, few], 120, no_memory_errors),
    ]


def conformance_stages(kit: Kit, build: Path) -> list[Stage]:
    program = str(build / "bin" / "conformance_mpi")
    return [
        Stage(f"conformance {backend}, {ranks} ranks",
              [kit.mpirun, "-np", str(ranks), program, f"--gtest_filter=*/{backend}_*"], 60, nothing_skipped)
        for backend in BACKENDS for ranks in RANKS
    ]


def program_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    return [
        Stage(f"{name}, {ranks} ranks",
              [kit.mpirun, "-np", str(ranks), str(build / "bin" / f"dlmb_{name}"), *options, "--backend", ",".join(BACKENDS),
               "--memory", "cuda", "--shared-gpu", "--timeout", "20", "--results", str(results)], 45, nothing_skipped, may_not_fit=True)
        for name, options in programs().items() for ranks in RANKS
    ]


def benchmark_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    overhead = str(build / "bin" / "gpu_plan_overhead")
    ping_pong = ["--operation", "sendrecv", "--route", "ping_pong", "--message-size", f"8:{LARGE}", "--element", "byte", "--time-limit", "1"]
    perftest = str(kit.ucx / "bin" / "ucx_perftest")
    options = f"-p 13470 -t tag_bw -m cuda -s {64 << 20} -n 200"
    return [
        Stage("rates of the kernels", [str(build / "bin" / "gpu_kernel_rates")], 30, nothing_skipped, figures=True),
        Stage("plan against bare NCCL, 1 rank", [kit.mpirun, "-np", "1", overhead], 40, nothing_skipped, figures=True),
        Stage("plan against bare NCCL, 2 ranks on one GPU", [kit.mpirun, "-np", "2", overhead, "--shared-gpu"], 60, nothing_skipped, figures=True),
        Stage("ping-pong over ucx, 2 processes",
              [kit.mpirun, "-np", "2", str(build / "bin" / "dlmb_collective"), *ping_pong, "--backend", "ucx", "--memory", "cuda",
               "--results", str(results)], 60, nothing_skipped, figures=True),
        Stage(f"ucx_perftest, {LARGE}B, 2 processes", ["sh", "-c", f"{perftest} {options} & sleep 2; {perftest} localhost {options}; wait"], 30, figures=True),
    ]
