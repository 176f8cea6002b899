# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom, as tables. The meaning is in docs/design.md; check_layering.py applies them.

A layer is a folder. The longest matching prefix of a file's path decides which layer it is in.
"""

from __future__ import annotations

# Layer -> layers whose headers it may include besides its own.
LAYERS: dict[str, tuple[str, ...]] = {
    "common/base": (),
    "common/json": ("common/base",),
    "common/plan": ("common/base",),
    "common/sizes": ("common/base",),
    "common/memory": ("common/base",),
    "common/bootstrap": ("common/base",),
    "common/bootstrap/in_process": ("common/bootstrap", "common/base"),
    "common/bootstrap/mpi": ("common/bootstrap", "common/base"),
    "common/backend_kit": ("common/plan", "common/memory", "common/bootstrap", "common/base"),
    "common/backends": ("common/backend_kit", "common/plan", "common/memory", "common/bootstrap", "common/base"),
    "patterns": ("common/plan", "common/sizes", "common/base"),
}

# Layers that may include everything that stands before them in this list.
STACK = ("common/backend_kit", "common/measure", "common/record", "common/trace", "common/tuning", "common/predict", "common/app", "benchmarks")
BELOW_THE_STACK = ("common/base", "common/json", "common/plan", "common/sizes", "common/memory", "common/bootstrap", "common/backend_kit")

# Layers above the stack's record that speak to patterns (through patterns/pattern.hpp and patterns/registry.hpp).
USES_PATTERNS = ("common/app", "benchmarks")

# A backend may share a handle and a check function with the bootstrap of its own library.
BACKEND_OF_BOOTSTRAP = {
    "common/backends/mpi": "common/bootstrap/mpi",
    "common/backends/in_process": "common/bootstrap/in_process",
}

# app chooses how ranks find each other, so it alone names the two ways.
USES_BOOTSTRAPS = ("common/app", "benchmarks")

# First part of an angle-bracket include -> path prefixes of the files that may have it.
THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "mpi.h": ("common/bootstrap/mpi/", "common/backends/mpi/", "common/tuning/consumers/verify/"),
    "mpi-ext.h": ("common/bootstrap/mpi/", "common/backends/mpi/"),
    "nccl.h": ("common/backends/nccl/",),
    "cuda_runtime_api.h": ("common/memory/cuda/", "common/backend_kit/cuda/", "common/backends/nccl/"),
    "cuda_bf16.h": ("common/backend_kit/cuda/",),
    "cuda_fp16.h": ("common/backend_kit/cuda/",),
    "cuda_fp8.h": ("common/backend_kit/cuda/",),
    "cublas_v2.h": ("common/backend_kit/cuda/",),
    "ucc": ("common/backends/ucc/",),
    "ucp": ("common/backends/ucx/",),
    "uct": ("common/backends/ucx/",),
    "ucs": ("common/backends/ucx/",),
    "hwloc.h": ("common/record/",),
    "hwloc": ("common/record/",),
    "archive.h": ("common/trace/input",),
    "archive_entry.h": ("common/trace/input",),
    "CLI": ("common/app/",),
    "openssl": ("common/tuning/provenance",),
    "Eigen": ("common/predict/",),
    "nlohmann": ("common/json/", "common/record/", "common/trace/", "common/tuning/", "common/predict/", "common/app/", "patterns/"),
    "gtest": (),
    "gmock": (),
    "benchmark": (),
}

# Headers that g++ 12 or clang 14 lack.
UNAVAILABLE_HEADERS = ("format", "expected", "source_location", "print", "generator", "flat_map", "mdspan")
UNAVAILABLE_NAMES = (
    r"\bstd::source_location\b",
    r"\bstd::format\b",
    r"\bstd::expected\b",
    r"\bstd::views\b",
    r"\bstd::ranges::views\b",
)

# Where the processor decides at compile time, and a header that C and C++ read.
CONDITIONAL_COMPILATION = ("common/base/idle.hpp", "common/tuning/c/dlmb_tuning.h")

# Reading the environment: for the record, and to notice which launcher started this process.
# A tuner plugin can be told something only through the environment.
READS_ENVIRONMENT = (
    "common/bootstrap/launch_guard",
    "common/tuning/consumers/nccl/tuner",
    "common/app/tune/consumers/run_program",
    "common/app/tune/consumers/verify_mpi",  # what is set there beats the file that is verified
    # NCCL loads the tuner that this variable names; the same file is opened to speak to it.
    "common/backends/nccl/tuner",
    # NCCL lets NCCL_COMM_BLOCKING win over what a program configures.
    "common/backends/nccl/communicators",
)
