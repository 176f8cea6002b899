# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small outputs of other programs, in the layout that their sources print, with made-up numbers; and how tests convert them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import running
from running import run_main

from dlmb_launch.convert import command

PROGRAM = os.environ.get("DLMB_CONVERT", str(Path(__file__).resolve().parents[2] / "launch" / "dlmb_convert"))

OSU_ALLREDUCE = """
# OSU MPI Allreduce Latency Test v5.9
# Size       Avg Latency(us)
4                       1.98
1048576               104.30
"""

# What a log holds: lines of a library and of the launcher, -f, -c and the remark on the type since 7.2.
OSU_FULL = """[1678205653.808236] [node:903  :0]        ucc_coll.c:255  UCC_COLL INFO  coll_init: Barrier
# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations          Validation     P50 Tail Lat(us)     P99 Tail Lat(us)
1                       4.34              4.10              4.60        1000                Pass                 4.30                 9.10
[node:903] 3 more processes have sent a help message
64                      5.00              4.90              5.10        1000                Fail                 5.00                 6.00
"""

OSU_MANY = """
# OSU MPI Latency Test v7.1
# Size          Latency (us)
0                       1.42
8                       1.51
# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
4194304             27161.33
# OSU MPI Bi-Directional Bandwidth Test v7.4
# Size      Bandwidth (MB/s)
4194304             40000.00
# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 4 ] [ window size: 64 ]
# Datatype: MPI_CHAR.
# Size                  MB/s        Messages/s
1024                 8000.00        7812500.00
# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)
             1.41
# OSU MPI Non-blocking Allreduce Latency Test v5.6.3
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                       8.77              5.32              4.43             22.08
# OSU MPI_Put Latency Test v7.4
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Size          Latency (us)
8                       2.50
"""

NCCL_HEAD = """# nccl-tests version 2.17.1 nccl-headers=22809 nccl-library=22809
# Collective test starting: {program}
# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  14001 on     node-a device  0 [0000:0a:00] NVIDIA Example
#  Rank  1 Group  0 Pid  14002 on     node-a device  1 [0000:0b:00] NVIDIA Example
#  Rank  2 Group  0 Pid  14003 on     node-b device  0 [0000:0a:00] NVIDIA Example
#  Rank  3 Group  0 Pid  14004 on     node-b device  1 [0000:0b:00] NVIDIA Example
#
"""
NCCL_COLUMNS = """#                                                       out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
NCCL_END = """# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.0693
#
# Collective test concluded: {program}
"""
NCCL_ALLREDUCE = (NCCL_HEAD + NCCL_COLUMNS + """        1024           256     float     sum      -1    20.50    0.05    0.07       0    20.10    0.05    0.08       0
        2048           512     float     sum      -1    22.00    0.09    0.14       3    1.2e+06    0.00    0.00     N/A
""" + NCCL_END).replace("{program}", "all_reduce_perf")
NCCL_ALLGATHER = (NCCL_HEAD + NCCL_COLUMNS + """        2048           128     float    none      -1    22.00    0.09    0.07       0    21.00    0.10    0.07       0
""" + NCCL_END).replace("{program}", "all_gather_perf")

NCCL_DOCUMENT = {
    "version": 2, "start_time": "2026-01-31 12:00:00", "args": ["./build/alltoall_perf", "-b", "4096", "-J", "out.json"],
    "env": ["NCCL_ALGO=Ring", "NCCL_AUTH=hidden", "AWS_SECRET_ACCESS_KEY=hidden", "HOME=nowhere"], "nccl_version": 22809,
    "config": {
        "nthreads": 1, "ngpus": 2, "minimum_bytes": 4096, "maximum_bytes": 4096, "step_factor": 2, "warmup_iters": 1, "iterations": 20,
        "aggregated_iterations": 1, "validation": 1, "graph": 0, "blocking_collectives": "false", "parallel_init": "false",
        # Of each process only its first device is listed.
        "devices": [{"rank": 2 * process, "group": 0, "pid": 1, "hostname": host, "device": 0, "device_hex": "0000:0a:00", "device_info": "NVIDIA Example"}
                    for process, host in enumerate(("node-a", "node-b"))],
    },
    "results": [{
        "size": 4096, "count": 256, "type": "float", "redop": "none", "root": "    -1",
        "out_of_place": {"time": 31.25, "alg_bw": 0.131072, "bus_bw": 0.098304, "nwrong": 0.0},
        "out_of_place_per_iter": {"min_us": 30.0, "max_us": 40.0, "avg_us": 32.0, "p50_us": 31.0, "p95_us": 39.0, "p99_us": 40.0, "stdev_us": 1.0, "cv_pct": 3.0, "times_us": [30.0, 40.0]},
        "in_place": {"time": 30.5, "alg_bw": 0.134295, "bus_bw": 0.100721, "nwrong": None},
        "actual_iterations": 25, "experiment_name": "",
    }],
    "out_of_bounds": {"count": 0, "okay": "true"}, "average_bus_bandwidth": {"bandwidth": 0.1, "okay": "unchecked"}, "errors": [], "end_time": "2026-01-31 12:00:01",
}

# 4096 B of 4 ranks in 40 us: 0.1024 GB/s, 3/4 of it over the bus.
RCCL_RECORDS = [
    {"numCycle": cycle, "name": "AllGather", "nodes": 2, "ranks": 2, "ranksPerNode": 1, "gpusPerRank": 2, "size": 4096, "type": "float", "redop": "none",
     "inPlace": in_place, "time": time, "algBw": round(4.096 / time, 6), "busBw": round(3.072 / time, 6), "wrong": wrong}
    for cycle, in_place, time, wrong in ((0, 0, 40.0, "0"), (0, 1, 40.0, "12"), (1, 0, 41.0, "N/A"))
]
RCCL_CSV = "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong\n" + "".join(
    ",".join(map(str, record.values())) + "\n" for record in RCCL_RECORDS)
RCCL_JSON = json.dumps(RCCL_RECORDS, indent=1)

UCC_HEAD = """Collective:             {collective}
Memory type:            host
Datatype:               float32
Reduction:              {reduction}
Inplace:                0
Warmup:
  small                 100
  large                 20
Iterations:
  small                 1000
  large                 200

"""
UCC_ALLREDUCE = UCC_HEAD.format(collective="Allreduce", reduction="sum") + """       Count        Size                Time, us
                                 avg         min         max
         128         512        3.25        3.10        3.40
         256        1024        3.50        3.30        3.75
Total time: 0.00715 ms
"""
# 4 ranks, 1024 B from each rank to all in 4 us: bus bandwidth 1024 * 3/4 / 4 us = 0.192 GB/s.
UCC_ALLTOALL = UCC_HEAD.format(collective="Alltoall", reduction="N/A") + """       Count        Size                Time, us                       Bus Bandwidth, GB/s
                                 avg         min         max         avg         max         min
{count:>12}{size:>12}        4.00        3.90        4.10        0.19        0.20        0.19
Total time: 0.0041 ms
"""

PICO_COLUMNS = "system,nodes,ranks_per_node,mpi,mpi_version,gpu,collective,algorithm,bytes,iterations,median_us,p10_us,p90_us,campaign,test"
PICO = PICO_COLUMNS + """
fugaku,2x2x2,1,FJMPI,4.0.1,no,allgather,BINE-VEC_DOUBLING_BLOCKS-UTOFU-0-1,32,100,29.605,29.238,30.191,2025_03_26___19_49_06,2
leonardo,4,4,OMPI,4.1.6,yes,allreduce,default_ompi,1024,200,12.5,12.0,14.25,2025_04_06___23_05_13,0
leonardo,4,4,OMPI,4.1.6,yes,allreduce,ring_ompi,1024,200,25,24,26,2025_04_06___23_05_13,0
leonardo,4,4,OMPI,4.1.6,no,allgather,ring_over,100,200,25,24,26,2025_04_06___23_05_13,1
"""

COMMS_LOGGER = """{"all_reduce": {"4096": [2, [0.5, 0.25], [0.1, 0.2], [0.2, 0.4]]},
 "all_to_all_single | [Caller Func: dispatch]": {"8192": [1, [1.0], [0.065536], [0.049152]]},
 "reduce_scatter_tensor": {"1024": [1, [0.01], [3.2768], [2.4576]]}, "barrier": {"0": [1, [0.01], [0.0], [0.0]]}}
"""


def main(arguments: list[str]) -> tuple[int, str, str]:
    return run_main(command.main, *arguments)


class WithFolder(running.WithFolder):
    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def converted(self, text: str, *options: str, name: str = "output.txt") -> Path:
        result = self.folder / (name.partition(".")[0] + ".jsonl")
        code, _, error = main([str(self.file(name, text)), "-o", str(result), *options])
        self.assertEqual(code, 0, error)
        return result

    def lines(self, text: str, *options: str, name: str = "output.txt") -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.converted(text, *options, name=name).read_text(encoding="utf-8").splitlines()]

    def cells(self, text: str, *options: str, name: str = "output.txt") -> list[dict[str, Any]]:
        return [line for line in self.lines(text, *options, name=name) if line["kind"] == "cell"]

    def run_program(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120)
