# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom, as tables. The meaning is in docs/design.md; check_layering.py applies them.

A layer is a folder. The longest matching prefix of a file's path decides which layer it is in.
"""

from __future__ import annotations

# Layer -> layers whose headers it may include besides its own. The four rules that no change may break:
#   1. tools never include bootstrap, memory, backend_kit, backends, measure, run or patterns;
#   2. the core (those folders) and the patterns never include tools;
#   3. formats include base only;
#   4. a cell never depends on another cell: tests/e2e/resume.py and stress.py kill launches with every option.
BASE = ("common/base",)
NAMES = "common/base/names"  # backends, methods and operations
STATISTICS = "common/base/statistics"
COMMAND_LINE = "common/base/command_line"
JSON, PLAN, RECORD, TABLE = "common/formats/json", "common/formats/plan", "common/formats/record", "common/formats/table"
FORMATS = (JSON, PLAN, RECORD, TABLE, "common/formats/input", "common/formats/plan_file", "common/formats/model_shape")
CORE = ("common/memory", "common/bootstrap", "common/backend_kit", "common/measure")
TOOL = (*BASE, NAMES, STATISTICS, COMMAND_LINE, *FORMATS)
LAYERS: dict[str, tuple[str, ...]] = {
    "common/base": (),
    NAMES: BASE,
    STATISTICS: BASE,
    COMMAND_LINE: BASE,
    JSON: BASE,
    PLAN: (*BASE, NAMES),
    "common/formats/input": BASE,
    RECORD: (*BASE, JSON, PLAN),
    "common/formats/plan_file": (*BASE, JSON, PLAN, "common/formats/input", RECORD),
    TABLE: (*BASE, NAMES, JSON, RECORD),
    "common/formats/model_shape": (*BASE, PLAN),
    "common/sizes": BASE,
    "common/memory": BASE,
    "common/bootstrap": BASE,
    "common/bootstrap/in_process": (*BASE, "common/bootstrap"),
    "common/bootstrap/mpi": (*BASE, "common/bootstrap"),
    "common/backend_kit": (*BASE, NAMES, PLAN, "common/memory", "common/bootstrap"),
    "common/backends": (*BASE, NAMES, PLAN, "common/backend_kit", "common/memory", "common/bootstrap"),
    "common/measure": (*BASE, NAMES, STATISTICS, PLAN, RECORD, "common/memory", "common/bootstrap", "common/backend_kit"),
    "common/run": (*BASE, NAMES, STATISTICS, COMMAND_LINE, *FORMATS, *CORE, "common/bootstrap/mpi", "common/bootstrap/in_process", "patterns"),
    "common/tools/plan": TOOL,
    "common/tools/tune": TOOL,
    "common/tools/predict": TOOL,
    "patterns": (*BASE, PLAN, "common/formats/model_shape", "common/sizes"),
    "benchmarks": ("common/run", "common/tools/plan", "common/tools/tune", "common/tools/predict", "patterns"),
}

# A backend may share a handle and a check function with the bootstrap of its own library. NCCL's shares with the tuner
# plug-in how they speak to each other; tuned asks by the key of tables.
BACKEND_ALSO = {
    "common/backends/mpi": "common/bootstrap/mpi",
    "common/backends/in_process": "common/bootstrap/in_process",
    "common/backends/nccl": TABLE,
    "common/backends/tuned": TABLE,
}

# First part of an angle-bracket include -> path prefixes of the files that may have it.
THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "mpi.h": ("common/bootstrap/mpi/", "common/backends/mpi/", "common/tools/tune/consumers/verify/"),
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
    "hwloc.h": ("common/measure/environment/",),
    "hwloc": ("common/measure/environment/",),
    "archive.h": ("common/formats/input/unpack",),
    "archive_entry.h": ("common/formats/input/unpack",),
    "CLI": ("common/base/command_line/", "common/run/", "common/tools/plan/commands/", "common/tools/tune/commands/", "common/tools/tune/verify/",
            "common/tools/predict/commands/"),
    "openssl": ("common/formats/table/provenance",),
    "Eigen": ("common/tools/predict/",),
    "nlohmann": ("common/formats/json/", "common/formats/input/", "common/formats/record/", "common/formats/table/", "common/formats/model_shape/",
                 "common/tools/", "common/run/", "patterns/"),
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
CONDITIONAL_COMPILATION = ("common/base/idle.hpp", "common/formats/table/c/dlmb_tuning.h")

# Reading the environment: for the record, and to notice which launcher started this process.
# A tuner plugin can be told something only through the environment.
READS_ENVIRONMENT = (
    "common/bootstrap/launch_guard",
    "common/tools/tune/consumers/nccl/tuner",
    "common/base/command_line/run_program",
    "common/tools/tune/verify/verify_mpi",  # what is set there beats the file that is verified
    # NCCL loads the tuner that this variable names; the same file is opened to speak to it.
    "common/backends/nccl/tuner",
    # NCCL lets NCCL_COMM_BLOCKING win over what a program configures.
    "common/backends/nccl/communicators",
)
