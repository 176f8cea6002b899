# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/gpu/run does, in order: what is known least comes first. Limits are about twice what a stage took on one H200."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from kit import Kit
from stage import Stage

SOURCE = Path(__file__).resolve().parents[2]
FEATURES = ("CUDA", "NCCL", "MPI", "UCX")
BACKENDS = ("nccl", "mpi", "ucx")
RANKS = (2, 4, 1)  # one shows least
LARGE = "64M"
CONFORMANCE_LIMITS_S = {("nccl", 4): 90, ("ucx", 4): 80}  # they took 55 and 50; others up to 20
USUAL_CONFORMANCE_LIMIT_S = 45
AGAINST_LARGEST = "1G"
AGAINST_S = 100  # no further round of programs begins after that
TORCH_SIZES_B = {4096, 65536, 131072, 1048576}  # of torch_allreduce.py
FACTS = """
uname -a; nproc; free -g; df -h . /tmp /dev/shm; ulimit -a; cat /proc/sys/kernel/yama/ptrace_scope; ip -brief address
g++ --version; cmake --version; ninja --version; nvcc --version; ldd --version; python3 --version; nvidia-smi; nvidia-smi topo -m
ldconfig -p | grep -E 'libcuda|libcudart|libcublas|libnccl|libnvidia-ml'; env | grep -E 'CUDA|NCCL|NVIDIA|LD_LIBRARY' | sort
"""


def small_traffic(name: str) -> dict[str, list[str]] | list[str]:
    """PROGRAMS or METHODS of the end-to-end tests."""
    environment = {"DLMB_BIN": ".", "DLMB_SOURCE": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1", **os.environ}
    command = [sys.executable, "-c", f"import every_program, json; print(json.dumps(every_program.{name}))"]
    return json.loads(subprocess.check_output(command, cwd=SOURCE / "tests" / "e2e", env=environment, text=True))


def build_stages(kit: Kit, build: Path, limit_s: float) -> list[Stage]:
    """A library that is not found costs what needs it, and a file that does not compile the programs that hold it."""
    configure = ["cmake", "-S", str(SOURCE), "-B", str(build), "-G", kit.generator, "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8", *kit.cmake_options()]
    keep_going = ["-k", "0"] if kit.generator == "Ninja" else ["-k"]
    command = ["cmake", "--build", str(build), "--parallel", str(len(os.sched_getaffinity(0))), "--target", "gpu_run", "--", *keep_going]
    return [Stage("configure", configure, 90, everything_found), Stage("build", command, limit_s)]


def machine_stages(kit: Kit) -> list[Stage]:
    return [
        Stage("facts about the machine", ["sh", "-c", f"{FACTS}\ntrue"], 20),
        Stage("mpirun starts processes", [kit.mpirun, "-np", "2", "true"], 20),
    ]


def starts_without_gpu(build: Path) -> list[Stage]:
    """What a build can show where there is no GPU."""
    return [Stage("dlmb_info starts", [str(build / "bin" / "dlmb_info")], 60, figures=True)]


def everything_found(output: str) -> str:
    missing = [name for name in FEATURES if not re.search(rf"^-- +{name} +ON\b", output, re.MULTILINE)]
    return f"without {', '.join(missing)}" if missing else ""


def nothing_skipped(output: str) -> str:
    """But what NCCL does not have."""
    skipped = re.findall(r"^\[  SKIPPED \].*|^# .*: skipped: (?!nccl has no barrier|.*ncclReduceScatter takes equal parts only|nccl puts with ncclPutSignal, which came with NCCL).*", output, re.MULTILINE)
    return f"skipped: {skipped[0].strip()}" if skipped else ""


def no_memory_errors(output: str) -> str:
    return "" if "ERROR SUMMARY: 0 errors" in output else "compute-sanitizer reports errors, or did not run"


def final_line(output: str) -> str:
    return "" if re.search(r"^Final:", output, re.MULTILINE) else "no result"


def an_answer(output: str) -> str:
    return "" if "MPI takes device memory: " in output else "no answer"


def kernel_stages(build: Path) -> list[Stage]:
    return [
        Stage("kernels", [str(build / "bin" / "gpu_kernels_test")], 90, nothing_skipped),
        Stage("rates of the kernels", [str(build / "bin" / "gpu_kernel_rates")], 30, nothing_skipped, figures=True),
    ]


def memory_check_stages(build: Path) -> list[Stage]:
    few = "--gtest_filter=PayloadKernels.CheckNames*:Formats/*mxfp8:Formats/*int4*:Elements/*TakesOperandsAtAnyAddress*:Elements/DeviceReduction*Of.*"
    command = ["compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "9", str(build / "bin" / "gpu_kernels_test"), few]
    return [Stage("kernels under memcheck", command, 100, no_memory_errors)]


def overhead_stages(kit: Kit, build: Path) -> list[Stage]:
    """What a plan adds to the bare calls. Ranks that share a GPU take turns: of theirs only the ratio says something."""
    overhead = str(build / "bin" / "gpu_plan_overhead")
    return [
        Stage("plan against bare NCCL, 1 rank", [kit.mpirun, "-np", "1", overhead], 60, nothing_skipped, figures=True),
        Stage("plan against bare NCCL, 2 ranks on one GPU", [kit.mpirun, "-np", "2", overhead, "--shared-gpu"], 90, nothing_skipped, figures=True),
    ]


def against_stages(kit: Kit, build: Path, results: Path, nccl_tests: Path | None) -> list[Stage]:
    """NVIDIA's programs, where they are, and `--cli nccl` in turns."""
    if not nccl_tests:
        return []
    command = [sys.executable, "-B", str(SOURCE / "tests" / "gpu" / "against_nccl_tests.py"), str(nccl_tests), str(build / "bin" / "dlmb_collective"),
               "--launch", f"{kit.mpirun} -np 1", "--largest", AGAINST_LARGEST, "--seconds", str(AGAINST_S), "--results", str(results)]
    return [Stage("against nccl-tests, 1 rank", command, AGAINST_S + 60, figures=True)]


def benchmark_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    ping_pong = ["--operation", "sendrecv", "--route", "ping_pong", "--message-size", f"8:{LARGE}", "--element", "byte", "--time-limit", "0.5"]
    perftest = str(kit.ucx / "bin" / "ucx_perftest")
    options = f"-p 13470 -t tag_bw -m cuda -s {64 << 20} -n 200"
    return [
        Stage("puts of several steps at once over ucx, 2 processes",
              [kit.mpirun, "-np", "2", str(build / "bin" / "dlmb_pipeline_p2p"), "--preset", "quick", "--schedule", "interleaved", "--mode", "batched",
               "--backend", "ucx", "--method", "put,get", "-i", "10", "-x", "1", "--timeout", "10"], 40, nothing_skipped),
        Stage("ping-pong over ucx, 2 processes",
              [kit.mpirun, "-np", "2", str(build / "bin" / "dlmb_collective"), *ping_pong, "--backend", "ucx", "--memory", "cuda",
               "--results", str(results)], 60, nothing_skipped, figures=True),
        Stage(f"ucx_perftest, {LARGE}B, 2 processes", ["sh", "-c", f"{perftest} {options} & sleep 2; {perftest} 127.0.0.1 {options}; wait"], 30, final_line, figures=True),
    ]


def tuner_plugin(build: Path) -> Path:
    return next(build.rglob("libnccl-tuner-dlmb.so"), build / "libnccl-tuner-dlmb.so")


def forced_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    """NCCL loads our plugin and obeys it: each pair that it takes is a method of its own, one that it forbids has no cell."""
    command = [kit.mpirun, "-np", "2", "-x", f"NCCL_TUNER_PLUGIN={tuner_plugin(build)}", str(build / "bin" / "dlmb_collective"),
               "--operation", "allreduce,allgather", "--message-size", "1K:1M", "--backend", "nccl", "--method", "all", "--memory", "cuda",
               "--shared-gpu", "--time-limit", "0.05", "--timeout", "20", "--results", str(results)]
    return [Stage("algorithms forced on nccl, 2 ranks on one GPU", command, 60, an_algorithm, figures=True)]


def one_rank_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    """One rank has the GPU for itself, so that these times are a GPU's: what NCCL does with one rank, packing and quantizing."""
    def stage(name: str, limit_s: float, program: str, *options: str) -> Stage:
        command = [kit.mpirun, "-np", "1", str(build / "bin" / f"dlmb_{program}"), *options, "--backend", "nccl", "--results", str(results)]
        return Stage(f"{name}, 1 rank", command, limit_s, nothing_skipped, figures=True)

    sizes = ["--operation", "allreduce", "--element", "fp32"]
    exchange = ["--preset", "deepseek-v3", "--tokens", "256", "--memory", "cuda", "--time-limit", "0.3"]
    return [
        *(stage(f"exchange on {calls} communicators", 40, "moe_alltoall", *exchange, "--nccl-comm", calls) for calls in ("blocking", "nonblocking")),
        stage("packing and quantizing", 90, "moe_alltoall", *exchange, "--pack", "none,cuda", "--quantize", "none,mxfp8,int4:32:fp32"),
        stage("methods of nccl", 60, "collective", *small_traffic("METHODS"), "--memory", "cuda,nccl"),
        stage("puts to oneself", 40, "moe_alltoall", "--preset", "deepep-low-latency", "--wire", "low_latency", "--memory", "nccl", "--time-limit", "0.3"),
        stage("gates and timings", 40, "collective", *sizes, "-m", "8:64M", "--method", "default,graph", "--gpu-gate", "spin", "--timing",
              "isolated", "--memory", "cuda", "--time-limit", "0.1"),
        stage("options and timing of nccl-tests", 40, "collective", "--cli", "nccl", *sizes, "-b", "8", "-e", "1G", "-f", "8", "--memory", "cuda"),
        stage("more than 2^31 bytes", 60, "collective", *sizes, "-m", "3G:3G", "--memory", "cuda", "-i", "5", "-x", "1", "--cache", "warm"),
    ]


def packed_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    few = ["-i", "2", "-x", "1", "--cache", "warm", "--calibration", "off"]
    traffic = {
        "moe_alltoall": ["--tokens", "64", "--hidden", "256", "--quantize", "none,mxfp8,int4:32:fp32,fp4:32:e8m0"],
        "dlrm_exchange": ["--preset", "dlrm-small"],
        "tp_allreduce": ["--hidden", "48", "--layers", "2", "--sequence", "24", "--vocabulary", "480", "--phase", "decode", "--logits", "allgather",
                         "--sequence-parallel", "off"],
        "sequence_parallel": ["--kind", "ulysses", "--sequence", "240", "--heads", "24", "--head-dim", "8"],
    }
    return [
        Stage(f"{name} packed on the GPU, 2 ranks",
              [kit.mpirun, "-np", "2", str(build / "bin" / f"dlmb_{name}"), *options, *few, "--pack", "cuda", "--backend", "nccl,mpi", "--memory", "cuda",
               "--shared-gpu", "--timeout", "20", "--results", str(results)], 45, nothing_skipped)
        for name, options in traffic.items()
    ]


def table_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    """NCCL and a program that is not ours obey the rules of a table. The rules are made up: what is tried is that they act."""
    tune, table = str(build / "bin" / "dlmb_tune"), str(SOURCE / "tests" / "gpu" / "nccl_table.json")
    torch = str(SOURCE / "tests" / "gpu" / "torch_allreduce.py")
    folder = results.parent / "nccl_export"
    torch_command = (f"{tune} export {table} --to nccl -o {folder} && . {folder}/env.sh && "
                     f"NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING {kit.mpirun} -np 2 {sys.executable} {torch}")
    stages = [
        Stage("a table verified on NCCL, 2 ranks on one GPU",
              [tune, "verify", table, "--to", "nccl", "--ranks", "2", "--mpiexec", kit.mpirun], 90, figures=True),
    ]
    if importlib.util.find_spec("torch"):
        stages.append(Stage("a table in a PyTorch program, 2 ranks on one GPU", ["sh", "-c", torch_command], 90, torch_obeys))
    return stages


def torch_obeys(output: str) -> str:
    taken = re.findall(r"AllReduce: (\d+) Bytes -> Algo (\w+) proto (\w+)", output)
    wrong = [row for row in taken if row[1:] != (("TREE", "LL") if int(row[0]) <= 65536 else ("RING", "SIMPLE"))]
    if "all sums are right" not in output:
        return "the program did not end"
    if {int(row[0]) for row in taken} < TORCH_SIZES_B:
        return f"NCCL's log has {taken} only"
    return f"not as the table says: {wrong}" if wrong else ""


def an_algorithm(output: str) -> str:
    return "" if re.search(r"^# operation=.*, cuda memory, nccl algorithm:\w+=\w+:protocol=\w+$", output, re.MULTILINE) else "no algorithm was measured"


def conformance_stages(kit: Kit, build: Path) -> list[Stage]:
    program = str(build / "bin" / "conformance_mpi")
    return [
        Stage(f"conformance {backend}, {ranks} ranks",
              [kit.mpirun, "-np", str(ranks), "-x", "DLMB_CONFORMANCE_VERBOSE=1", program, f"--gtest_filter=*/{backend}_*"], CONFORMANCE_LIMITS_S.get((backend, ranks), USUAL_CONFORMANCE_LIMIT_S), nothing_skipped,
              alike=f"conformance {backend}")
        for ranks in RANKS for backend in BACKENDS
    ]


def program_stages(kit: Kit, build: Path, results: Path) -> list[Stage]:
    """nccl apart, which ranks on one GPU try hardest."""
    def stage(name: str, ranks: int, options: list[str], backends: str, more: str = "") -> Stage:
        command = [kit.mpirun, "-np", str(ranks), str(build / "bin" / f"dlmb_{name}"), *options, "--backend", backends,
                   "--memory", "cuda", "--shared-gpu", "--timeout", "20", "--results", str(results)]
        return Stage(f"{name}{more} over {backends}, {ranks} ranks", command, 45, nothing_skipped, may_not_fit=True, alike=f"programs over {backends}")

    gemm = ["--preset", "quick", "--schedule", "1f1b", "--mode", "separate", "--compute", "none,busy,gemm", "-i", "5", "-x", "1"]
    return [
        *(stage(name, ranks, options, backends) for ranks in RANKS for name, options in small_traffic("PROGRAMS").items() for backends in ("nccl", "mpi,ucx")),
        *(stage("pipeline_p2p", 2, gemm, backends, " with gemm") for backends in ("nccl", "mpi,ucx")),
    ]


def probe_stages(kit: Kit, build: Path) -> list[Stage]:
    """Either answer is right: what is tried is that there is one, and no hang."""
    command = f"{kit.mpirun} -np 2 {build / 'bin' / 'dlmb_info'} --probe-mpi-device; true"
    return [Stage("does MPI take device memory", ["sh", "-c", command], 70, an_answer, figures=True)]


def every_stage(kit: Kit, build: Path, results: Path, nccl_tests: Path | None) -> list[Stage]:
    """Behind the build, in order."""
    return [
        *starts_without_gpu(build),
        *against_stages(kit, build, results, nccl_tests),
        *overhead_stages(kit, build),
        *one_rank_stages(kit, build, results),
        *kernel_stages(build),
        *table_stages(kit, build, results),
        *packed_stages(kit, build, results),
        *forced_stages(kit, build, results),
        *benchmark_stages(kit, build, results),
        *program_stages(kit, build, results),
        *conformance_stages(kit, build),
        *probe_stages(kit, build),
        *memory_check_stages(build),
    ]
