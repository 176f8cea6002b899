# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""DLMB as an application of Ramble, and so of Benchpark: a cell is a context, its time a figure of merit.

Goes to applications/dlmb/application.py of a repository of applications. Ramble itself never ran it in this project's tests.
"""

from ramble.appkit import *

CELL = r"^(?:# )?DLMB-FOM (?P<cell>\S+) median (?P<time>[0-9]+\.[0-9]+) us$"
WORKLOADS = {
    "moe_alltoall": "--preset mixtral-8x7b",
    "dlrm_exchange": "--preset dlrm-dcnv2",
    "pipeline_p2p": "--preset gpt-125m",
    "tp_allreduce": "--preset llama-7b-decode",
    "dp_gradients": "--preset gpt-125m",
    "sparse_allreduce": "--density 0.001",
    "sequence_parallel": "--preset ulysses-64k",
    "kv_transfer": "--preset llama3.1-8b --tokens 1024",
    "reshard": "--layers 4",
    "collective": "--operation allreduce,allgather,alltoall -m 1K:4M",
}


class Dlmb(ExecutableApplication):
    """Deep Learning communication Micro-Benchmarks"""

    name = "dlmb"

    tags("synthetic-benchmarks")

    with when("package_manager_family=spack"):
        software_spec("dlmb", pkg_spec="dlmb")
        required_package("dlmb")

    for pattern, options in WORKLOADS.items():
        executable(pattern, f"dlmb_{pattern} {{options}} --fom --results {{experiment_run_dir}}/results.jsonl", use_mpi=True)
        workload(pattern, executables=[pattern])
        workload_variable("options", default=options, description="what is measured", workloads=[pattern])

    figure_of_merit_context("cell", regex=CELL, output_format="{cell}")
    figure_of_merit("median time", fom_regex=CELL, group_name="time", units="us", contexts=["cell"])

    success_criteria("every cell ran and validated", mode="string", match=r"^(?:# )?DLMB_RESULT: PASS$", file="{log_file}")
