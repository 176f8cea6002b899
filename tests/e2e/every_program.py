# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every measuring program, on every number of ranks that its layout allows, over every backend of this build."""

import os
import pathlib
import tempfile
import unittest

from programs import BIN, HAVE_UCX, MPIEXEC, SMALL, SOURCE, cells, mpirun, run, validate

# Under a sanitizer a launch costs many times as much, and what it looks for does not depend on every count.
RANKS = (1, 3, 4) if os.environ.get("DLMB_SANITIZE") else (1, 3, 8)  # two and four: the conformance tests
RANKS_OF_PROCESSES = (1, 3)
BACKENDS = "mpi,ucx" if HAVE_UCX else "mpi"
# One set of buffers, no noise floor: programs and methods are the matter here.
FEW = ["-i", "2", "-x", "1", "--cache", "warm", "--calibration", "off"]

# A list of values is a sweep; small enough for milliseconds, with each operation of the pattern.
PROGRAMS = {
    "moe_alltoall": SMALL,
    "dlrm_exchange": ["--preset", "dlrm-small", "--sharding", "table,row,mixed", *FEW],
    "pipeline_p2p": ["--preset", "quick", "--schedule", "gpipe,1f1b,zb_h1", "--mode", "batched,meta_data", *FEW],
    "tp_allreduce": ["--hidden", "48", "--layers", "2", "--sequence", "24", "--vocabulary", "480",
                     "--phase", "training,decode", "--sequence-parallel", "off", *FEW],
    "dp_gradients": ["--model", "flat", "--parameters", "5000", "--scheme", "ddp,zero1,fsdp", *FEW],
    "sequence_parallel": ["--kind", "ulysses,ring", "--sequence", "240", "--heads", "24", "--head-dim", "8", *FEW],
    "reshard": ["--wire", "p2p,striped,bucketed,broadcast", "--hidden", "48", "--heads", "6", "--head-dim", "8", "--mlp", "96", "--experts", "4",
                "--expert-mlp", "24", "--vocabulary", "240", "--bucket", "20K", *FEW],
    "kv_transfer": ["--layers", "3", "--tokens", "100", "--kv-heads", "3", "--head-dim", "8", "--attention", "gqa,mla", "--granularity", "layer,block",
                    "--cache-layout", "paged,contiguous", *FEW],
    "sparse_allreduce": ["--algorithm", "dense,topk_allgather,gtopk,recursive_sparse,oktopk", "--elements", "20000",
                         "--no-balance", "off,on", "--balance-above", "1", "--draws", "3", *FEW],
    "collective": ["--operation", "allreduce,reduce,reduce_scatter_block,reduce_scatter,allgather,allgatherv,gather,gatherv,scatter,"
                   "scatterv,broadcast,barrier,alltoall,alltoallv,sendrecv",
                   "--message-size", "0:0,4000:4000", "--element", "fp32", *FEW],
}
KV_WRITES = ["--layers", "3", "--tokens", "100", "--kv-heads", "3", "--head-dim", "8", "--granularity", "layer,block", "--op-type", "write,read",
             "--requests", "2", "--arrivals", "together,alone,poisson:2000", *FEW]
IN_HOST_MEMORY = [*PROGRAMS.items(), ("moe_alltoall", [*SMALL, "--wire", "low_latency"]), ("kv_transfer", KV_WRITES)]
METHODS = ["--operation", "allreduce,reduce_scatter_block,allgather,broadcast,alltoall,alltoallv", "-m", "64:64,64K:64K",
           "--element", "bf16", "--method", "all", *FEW]

# Layouts that a program refuses, with part of the reason. The programs above take every number of ranks: there a refusal
# is a failure.
REFUSED = [
    ("pipeline_p2p", ["--schedule", "dualpipe"], 3, "--pp 3: --schedule dualpipe needs an even number of pipeline ranks"),
    ("tp_allreduce", ["--preset", "llama-7b", "--tp", "2"], 3, "--tp 2: does not divide 3 ranks"),
    ("dp_gradients", ["--model", "flat", "--dp", "2"], 3, "--dp 2: does not divide 3 ranks"),
    ("sequence_parallel", ["--kind", "ulysses", "--sequence", "240", "--heads", "8"], 3, "--heads 8 do not divide over 3"),
    ("reshard", ["--to-tp", "2"], 3, "--to-tp 2 --to-pp 1 --to-ep 1: together do not divide the 3 ranks"),
    ("kv_transfer", ["--prefill-tp", "1", "--decode-tp", "1"], 3, "are 2 ranks, which do not divide the 3 ranks"),
    ("moe_alltoall", ["--ep", "2"], 3, "--ep 2: does not divide 3 ranks"),
    ("sparse_allreduce", ["--elements", "1000", "--k", "40"], 3, "at most a quarter of the gradients anywhere are picked"),
    ("collective", ["--operation", "sendrecv", "--route", "ping_pong"], 3, "3 ranks do not divide into pairs"),
    ("collective", ["--operation", "bandwidth"], 1, "needs pairs of ranks, and there is one rank"),
]


# Of libraries: what a cell may be skipped for.
LIMITS = ("not applicable", "MPI_Accumulate takes its own operations only", "issue 9492")


class EveryProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name) / "results.jsonl"

    def expect_ok(self, command, ranks):
        done = run([*command, "--results", str(self.results)], timeout=300)
        self.assertEqual(done.returncode, 0, f"{ranks} ranks: {command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        skipped = [cell["reason"] for cell in cells(self.results, "skipped")]
        self.assertEqual([reason for reason in skipped if not any(limit in reason for limit in LIMITS)], [])
        found = [cell for cell in cells(self.results) if cell["status"] != "skipped"]
        self.assertEqual({cell["status"] for cell in found}, {"ok"})
        self.assertEqual({cell["validation"]["verdict"] for cell in found}, {"passed"})

    def test_the_list_is_complete(self):
        measuring = {path.stem for path in (SOURCE / "benchmarks").glob("*.cpp")} - {"info", "plan", "predict", "replay", "tune"}
        self.assertEqual(measuring, set(PROGRAMS))
        self.assertEqual([name for name in measuring if not (BIN / f"dlmb_{name}").exists()], [])

    def test_help_and_presets_of_every_program(self):
        for name in PROGRAMS:
            for option in ("--help", "--version", "--list-presets"):
                done = run([str(BIN / f"dlmb_{name}"), option])
                self.assertEqual((done.returncode, done.stderr), (0, ""), f"{name} {option}")
                self.assertTrue(done.stdout.strip())

    def test_layouts_that_do_not_fit_are_refused_for_the_expected_reason(self):
        for name, options, ranks, reason in REFUSED:
            done = run([str(BIN / f"dlmb_{name}"), *options, *FEW, "--backend", "in_process", "--ranks", str(ranks)])
            self.assertEqual(done.returncode, 64, f"{name} {options} at {ranks} ranks\n{done.stdout[-1000:]}")
            self.assertIn(reason, done.stderr)

    def test_in_process(self):
        for name, options in IN_HOST_MEMORY:
            for ranks in RANKS:
                self.expect_ok([str(BIN / f"dlmb_{name}"), *options, "--backend", "in_process", "--ranks", str(ranks)], ranks)
        self.assertEqual(validate(self.results).returncode, 0)

    @unittest.skipIf(not MPIEXEC, "no MPI in this build")
    def test_over_processes(self):
        for name, options in IN_HOST_MEMORY:
            for ranks in RANKS_OF_PROCESSES:
                self.expect_ok(mpirun(ranks, str(BIN / f"dlmb_{name}"), *options, "--backend", BACKENDS), ranks)

    @unittest.skipIf(not MPIEXEC, "no MPI in this build")
    def test_every_method_of_every_plain_operation(self):
        self.expect_ok(mpirun(3, str(BIN / "dlmb_collective"), *METHODS, "--backend", BACKENDS), 3)


if __name__ == "__main__":
    unittest.main()
