# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""DLMB as ReFrame tests (ReFrame 4): one per program, each cell of its result file a performance variable.

    reframe -C launch/reframe/settings.py -c launch/reframe/dlmb_checks.py -S dlmb_bin=$PWD/build/release/bin -r

A test passes when every cell ran and every received byte was right. ReFrame's references compare one launch with a fixed
number; whether a build got slower is the question of dlmb_compare, for which each test keeps its results.jsonl.
"""

import hashlib
import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

RESULTS = "results.jsonl"
CASES = {
    "moe_alltoall": "--preset mixtral-8x7b --tokens 128",
    "dlrm_exchange": "--preset dlrm-small",
    "pipeline_p2p": "--preset quick",
    "tp_allreduce": "--preset llama-7b-decode",
    "dp_gradients": "--model flat --parameters 1000000",
    "sparse_allreduce": "--density 0.001",
    "sequence_parallel": "--sequence 4096 --heads 32 --head-dim 128",
    "kv_transfer": "--tokens 1024 --layers 4",
    "reshard": "--layers 4",
    "collective": "--operation allreduce,allgather,alltoall -m 1K:1M",
}


LONGEST_NAME = 64


def name_of(cell):
    """What people tell cells apart by, and a hash of the cell's id, which is too long for a name: allreduce.4096.mpi.default.host.1f2e3d4c."""
    parameters = cell["parameters"]
    words = [parameters.get("operation"), parameters.get("message-size"), cell["preset"], cell["backend"], cell["method"], cell["memory"]]
    ending = "." + hashlib.sha256(cell["cell_id"].encode()).hexdigest()[:8]
    return ".".join(str(word) for word in words if word)[: LONGEST_NAME - len(ending)] + ending


@rfm.simple_test
class DlmbCheck(rfm.RunOnlyRegressionTest):
    program = parameter(CASES)
    dlmb_bin = variable(str, value="")  # folder of the programs; empty: they are in PATH
    dlmb_options = variable(str, value="")  # of every program, behind its own: "--backend nccl --memory cuda"
    num_tasks = 4
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    keep_files = [RESULTS]

    @run_before("run")
    def name_the_program(self):
        name = f"dlmb_{self.program}"
        self.executable = str(Path(self.dlmb_bin).expanduser() / name) if self.dlmb_bin else name
        self.executable_opts = [CASES[self.program], self.dlmb_options, f"--results {RESULTS}"]

    @sanity_function
    def every_cell_ran_and_validated(self):
        return sn.assert_found(r"^(?:# )?DLMB_RESULT: PASS$", self.stdout)

    @run_before("performance")
    def read_cells(self):
        """Two variables per cell: its name is the time in us, its name and /busbw the bus bandwidth."""
        for text in (Path(self.stagedir) / RESULTS).read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["kind"] == "cell" and line["status"] == "ok":
                name = name_of(line)
                self.add_variable(name, line["time_ns"]["median"] / 1e3, "us")
                if line["bandwidth"]["busbw_GBps"] is not None:
                    self.add_variable(f"{name}/busbw", line["bandwidth"]["busbw_GBps"], "GB/s")

    def add_variable(self, name, value, unit):
        self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
