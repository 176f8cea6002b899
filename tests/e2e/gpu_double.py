# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every measuring program on the test double of the CUDA runtime and NCCL (tests/fakes/gpu).

Nothing here is about a GPU: the double shows that the programs drive their libraries correctly, and the results say so."""

import os
import pathlib
import tempfile
import unittest

from every_program import METHODS, PROGRAMS
from programs import BIN, cells, lines, mpirun, run, validate

DOUBLE = os.environ["DLMB_FAKE_GPU"]


def on_double(ranks, *command, devices=8):
    """The ranks alone load the double, and none of them can touch device memory by itself."""
    return mpirun(ranks, "env", f"LD_PRELOAD={DOUBLE}", "DLMB_FAKE_GPU_PROTECT=1",
                  f"DLMB_FAKE_GPU_DEVICES={devices}", *command)


def four_digits(us):
    """As nccl-tests prints times."""
    return f"{us:.{0 if us >= 10000 else 1 if us >= 100 else 2}f}"


class GpuDouble(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name) / "results.jsonl"

    def expect_ok(self, ranks, name, *options, traffic=None):
        command = on_double(ranks, str(BIN / f"dlmb_{name}"), *(traffic or PROGRAMS[name]), *options, "--results", str(self.results))
        done = run(command, timeout=300)
        if done.returncode == 64:
            self.assertRegex(done.stderr, r"\d", "a layout that does not fit names its numbers")
            return
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")

    def expect_all_passed(self, skipped=frozenset()):
        """All cells but those that are skipped for one of the reasons `skipped`."""
        found = [cell for cell in cells(self.results) if cell.get("reason", "") not in skipped]
        self.assertTrue(found)
        self.assertEqual({(cell["status"], cell.get("reason", "")) for cell in found}, {("ok", "")})
        self.assertEqual({cell["validation"]["verdict"] for cell in found}, {"passed"})
        self.assertEqual(validate(self.results).returncode, 0)
        return found

    def test_every_program_over_nccl_and_in_every_kind_of_memory_over_mpi(self):
        kinds = ("host", "pinned", "managed", "cuda")
        for name in PROGRAMS:  # more ranks: the conformance tests
            self.expect_ok(2, name, "--backend", "nccl,mpi", "--memory", ",".join(kinds))
        found = self.expect_all_passed({"nccl has no barrier; another --backend has", *(f"nccl cannot use {kind} memory here" for kind in kinds[:3])})
        self.assertEqual({(cell["pattern"], cell["backend"], cell["memory"]) for cell in found},
                         {(name, *where) for name in PROGRAMS for where in (("nccl", "cuda"), *(("mpi", kind) for kind in kinds))})
        for cell in found:
            self.assertIs(cell["shared_gpu"], False)
            if cell["backend"] == "nccl":
                self.assertGreater(int(cell["backend_facts"]["init_ns"]), 0)
                self.assertGreater(cell["first_iteration_ns"], 0, "told apart from making communicators")
        launch = lines(self.results)[0]
        self.assertIn("DLMB test double", launch["environment"]["identity"]["gpus"])
        self.assertIs(launch["test_double"], True)

    def test_rows_are_moved_by_a_kernel_in_device_memory(self):
        self.expect_ok(2, "moe_alltoall", "--backend", "nccl", "--memory", "cuda", "--pack", "cuda", "--quantize", "none,mxfp8")
        found = self.expect_all_passed()
        self.assertEqual(len(found), 2)
        for cell in found:
            self.assertIn("pack_of_copy", cell["statistics"])
            self.assertEqual(cell["phases"]["unpack"]["plain_copy"]["by"], "device")

    def test_every_method_of_nccl_in_both_kinds_of_device_memory(self):
        self.expect_ok(4, "collective", "--backend", "nccl", "--memory", "cuda,nccl", traffic=METHODS)
        found = self.expect_all_passed()
        self.assertEqual({cell["memory"] for cell in found}, {"cuda", "nccl"})

    def test_algorithms_are_measured_where_the_tuner_plugin_is_told_and_skipped_where_nccl_forbids_them(self):
        done = run(on_double(2, "env", "NCCL_TUNER_PLUGIN=" + os.environ["DLMB_NCCL_TUNER"], str(BIN / "dlmb_collective"),
                             "--operation", "allreduce,allgather", "--backend", "nccl", "--memory", "cuda", "-m", "4K:4K", "-i", "4",
                             "-x", "1", "--cache", "warm", "--calibration", "off", "--method", "all", "--results", str(self.results)), timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        forced = {cell["method"]: cell for cell in cells(self.results) if cell["method"].startswith("algorithm:")}
        ran = {method for method, cell in forced.items() if cell["status"] == "ok"}
        self.assertEqual(ran, {f"algorithm:{pair}" for pair in (
            "allreduce=tree:protocol=ll", "allreduce=tree:protocol=simple", "allreduce=ring:protocol=ll",
            "allreduce=ring:protocol=simple", "allgather=ring:protocol=ll", "allgather=ring:protocol=simple",
            "allgather=pat:protocol=simple")})
        self.assertEqual({forced[method]["validation"]["verdict"] for method in ran}, {"passed"})
        self.assertEqual(forced["algorithm:allgather=pat:protocol=simple"]["backend_facts"]["nccl_algorithm.allgather"], "pat")
        for cell in forced.values():
            if cell["method"] not in ran:
                self.assertEqual((cell["status"], cell["reason"][:15]), ("skipped", "not applicable:"))
        self.assertEqual(validate(self.results).returncode, 0)

    def test_a_cell_says_whether_clocks_were_held_down_where_nvml_knows(self):
        # The test double of NVML holds down the GPU at PCI bus 04, which is device 3; that at bus 01, device 0, is idle.
        nvml = pathlib.Path(os.environ["DLMB_FAKE_NVML"]).parent
        program = [str(BIN / "dlmb_moe_alltoall"), *PROGRAMS["moe_alltoall"], "--backend", "nccl", "--memory", "cuda",
                   "--results", str(self.results)]
        for devices, throttled in (("0,1", False), ("0,3", True)):
            done = run(on_double(2, "env", f"LD_LIBRARY_PATH={nvml}:" + os.environ.get("LD_LIBRARY_PATH", ""), *program, "--device", devices))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual({cell.get("throttled") for cell in cells(self.results)}, {throttled})
            self.assertEqual("were held down" in done.stdout, throttled)
            self.results.unlink()
        self.expect_ok(2, "moe_alltoall", "--backend", "nccl", "--memory", "cuda", "--device", "0,3")
        self.assertFalse(any("throttled" in cell for cell in self.expect_all_passed()), "no NVML, no word")

    def test_options_of_nccl_tests_do_here_what_the_page_says(self):
        few = ["--cli", "nccl", "all_reduce_perf", "-b", "8", "-e", "64", "-f", "8", "-n", "3", "--backend", "nccl", "--calibration", "off"]
        for options, method, memory, mode in (
                (["--memory", "cuda", "-z", "0", "-R", "0", "-G", "0", "-m", "1", "-N", "1", "-D", "0", "-I", "0", "-K", "2"], "native", "cuda", "nccl"),
                (["--memory", "cuda", "-R", "1"], "registered", "cuda", "nccl"),
                (["-R", "2"], "registered", "nccl", "nccl"),
                (["--memory", "cuda", "-z", "3"], "native", "cuda", "osu")):
            self.expect_ok(2, "collective", *options, traffic=few)
            found = self.expect_all_passed()
            self.assertEqual(len(found), 4, f"{options}: two sizes, out of place and in place")
            for cell in found:
                self.assertEqual((cell["method"], cell["memory"], cell["mode"]), (method, memory, mode), options)
            self.results.unlink()
        for program, times in (("all_reduce_perf", ["-C", "1"]), ("alltoall_perf", ["-C", "0"])):
            done = run(on_double(2, str(BIN / "dlmb_collective"), "--cli", "nccl", program, *few[3:], "-b", "64", "--memory", "cuda", *times,
                                 "--results", str(self.results)))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            measured = [cell for cell in cells(self.results) if cell["status"] == "ok"]
            self.assertEqual({cell["method"] for cell in measured}, {"native"}, "nccl-tests calls ncclAlltoAll")
            self.assertEqual({cell["validation"]["verdict"] for cell in measured}, {"passed"})
            # As nccl-tests has it, NCCL's exchanges have no half in place.
            declined = [cell["reason"] for cell in cells(self.results, "skipped")]
            self.assertEqual(len(declined), len(measured) if program == "alltoall_perf" else 0)
            for reason in declined:
                self.assertIn("in place is a call of MPI alone", reason)
            self.assertEqual("cputime" in done.stdout, times[1] == "1")
            for cell in measured if times[1] == "1" else ():
                self.assertIn(f"  {four_digits(cell['queueing']['host_ns'] / 1000):>7}", done.stdout)
            self.results.unlink()
        for refused in (["-z", "1"], ["-z", "2"], ["-G", "1"], ["-m", "4"], ["-N", "0"], ["-D", "1"], ["-I", "1"], ["-R", "2", "--memory", "cuda"]):
            done = run([str(BIN / "dlmb_collective"), *few, *refused])
            self.assertEqual((done.returncode, done.stdout), (64, ""), refused)
            self.assertRegex(done.stderr, rf"^[^\n]*{refused[0]} {refused[1]}: [^\n]*\n$")

    def test_ranks_may_share_a_device_when_they_are_told_to(self):
        command = on_double(2, str(BIN / "dlmb_moe_alltoall"), *PROGRAMS["moe_alltoall"], "--backend", "nccl",
                            "--memory", "cuda", "--shared-gpu", "--results", str(self.results), devices=1)
        done = run(command)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({cell["shared_gpu"] for cell in self.expect_all_passed()}, {True})

    def test_a_gate_holds_back_only_what_needs_no_host(self):
        for timing in ("isolated", "stream"):
            self.expect_ok(4, "moe_alltoall", "--backend", "nccl,mpi", "--memory", "cuda", "--gpu-gate", "spin",
                           "--method", "default,graph", "--timing", timing)
        for cell in self.expect_all_passed():
            device = cell["device"]
            if cell["backend"] == "mpi" or cell["mode"] == "stream":
                self.assertIsNone(device)
            else:
                self.assertEqual(device["gpu_gate"], "spin")
                self.assertGreater(device["time_ns"]["median"], 0)

    def test_a_call_of_nccl_that_never_returns_ends_the_launch_with_rank_step_and_time(self):
        # In the group that connects the ranks first, in one in the middle of timing, and in the call that makes communicators.
        for call, step in (("ncclGroupEnd:1", "dispatch"), ("ncclGroupEnd:40", "(dispatch|combine)"), ("ncclCommInitRankConfig:1", None)):
            with self.subTest(call=call):
                program = [str(BIN / "dlmb_moe_alltoall"), *PROGRAMS["moe_alltoall"], "--backend", "nccl", "--memory", "cuda", "--timeout", "2"]
                done = run(on_double(2, "env", f"DLMB_FAKE_NCCL_HANGS={call}", *program, "--results", str(self.results)), timeout=120)
                self.assertNotEqual(done.returncode, 0, done.stdout)
                said = done.stdout + done.stderr
                self.assertRegex(said, r"rank [01]\b.*\d s", said)
                if step:
                    self.assertRegex(said, f'"{step}', said)

    def test_equal_blocks_are_measured_by_both_calls_that_programs_make(self):
        self.expect_ok(2, "collective", "--backend", "nccl", "--memory", "cuda", traffic=["--operation", "alltoall", "-m", "1K:1K", "-i", "6", "-x", "1"])
        self.assertEqual({cell["method"]: cell["is_default"] for cell in self.expect_all_passed()}, {"grouped": True, "native": False})

    def test_a_stream_is_queued_and_says_what_the_host_takes(self):
        self.expect_ok(2, "collective", "--backend", "nccl", "--memory", "cuda", "--timing", "stream", "--nccl-comm", "nonblocking",
                       traffic=["--operation", "allreduce", "-m", "1K:1K", "-i", "64", "-x", "1"])
        for cell in self.expect_all_passed():
            self.assertIn("waited for together", cell["definition"])
            self.assertGreater(cell["queueing"]["host_ns"], 0)
            self.assertEqual("host_bound" in cell["flags"], cell["queueing"]["host_bound"])
            self.assertEqual(cell["backend_facts"]["nccl_comm"], "nonblocking")

    def test_too_few_devices_are_a_reason_to_skip_beside_what_can_run(self):
        for devices, reason in ((0, "no CUDA-capable device"), (1, "GPU")):
            self.results.unlink(missing_ok=True)
            done = run(on_double(2, str(BIN / "dlmb_moe_alltoall"), *PROGRAMS["moe_alltoall"], "--backend", "nccl,mpi", "--memory", "host,cuda",
                                 "--results", str(self.results), devices=devices))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            skipped = [cell for cell in cells(self.results, "skipped") if (cell["backend"], cell["memory"]) == ("nccl", "cuda")]
            self.assertEqual(len(skipped), 1)
            self.assertIn(reason, skipped[0]["reason"])


if __name__ == "__main__":
    unittest.main()
