# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""tests/gpu/run --prebuilt as on a GPU machine: from a folder that was copied there, without a compiler. The GPU is the test double
(tests/fakes/gpu), and programs of nccl-tests are scripts that print what those print."""

import contextlib
import importlib.util
import io
import os
import shutil
import stat
import sys
import tarfile
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path
from unittest import mock

import against_nccl_tests
import machine
import pack
import stages
from kit import ARCHITECTURE_FILE, PROGRAMS, unpack_programs
from machine import Driver

HERE = Path(__file__).resolve().parent
BIN = Path(os.environ["DLMB_BIN"])
DOUBLE = os.environ["DLMB_FAKE_GPU"]
MPIRUN = shutil.which("mpirun.openmpi")

loader = SourceFileLoader("gpu_run", str(HERE / "run"))
gpu_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_run", loader))
loader.exec_module(gpu_run)

# Of nccl-tests 2.19: three sizes, the second of them out of place alone.
ROWS = """#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
           8             2     float     sum      -1     6.00    0.00    0.00      0     0.50    0.00    0.00      0
          64            16     float     sum      -1     5.00    0.00    0.00      0      N/A     N/A     N/A    N/A
  1073741824     268435456     float     sum      -1    500.0    0.00    0.00      0     0.30    0.00    0.00      0
# Out of bounds values : 0 OK
"""


def script(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


class Prebuilt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = Path(folder.name)
        self.folder = self.base / "copied"
        self.out = self.base / "out"

    def run_main(self, *words, gpus=1, capability="90", **variables):
        """Exit code and what was printed. No program of a toolchain is on the PATH."""
        tools = self.base / "tools"
        tools.mkdir(exist_ok=True)
        for name in ("sh", "env", "uname", "true", "sleep", "cat", Path(sys.executable).name):
            if not (tools / name).exists():
                (tools / name).symlink_to(shutil.which(name) or sys.executable)
        environment = os.environ | {"OUT": str(self.out), "PATH": str(tools)} | variables
        environment.pop("CUDACXX", None)
        said, complained = io.StringIO(), io.StringIO()
        with mock.patch.dict(os.environ, environment, clear=True), mock.patch.object(sys, "argv", ["run", *map(str, words)]), \
                mock.patch.object(gpu_run, "find_driver", lambda: Driver(gpus, capability)), mock.patch.object(machine, "find_nvcc", lambda: None), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            try:
                code = gpu_run.main()
            except SystemExit as left:
                code = left.code
        return code, said.getvalue() + complained.getvalue()

    def fill(self):
        """What prepare --build-only leaves, of this build and this machine's Open MPI; the double comes in by preloading."""
        usr = self.folder / "root" / "usr"
        (usr / "bin").mkdir(parents=True)
        for name in ("lib", "share"):
            (usr / name).symlink_to(f"/usr/{name}")
        (self.folder / "root" / "etc").symlink_to("/etc")
        (usr / "bin" / "orted").symlink_to(shutil.which("orted"))  # of a program without mpirun
        # The ranks alone load the double.
        script(usr / "bin" / "mpirun.openmpi", f'n=$2; shift 2; exec {MPIRUN} -np "$n" {shutil.which("env")} LD_PRELOAD={DOUBLE} "$@"')
        (self.folder / "ucx" / "bin").mkdir(parents=True)
        with tarfile.open(self.folder / PROGRAMS, "w:xz", preset=0) as archive:
            for program in ("dlmb_info", "dlmb_collective"):
                archive.add(BIN / program, f"bin/{program}")
        (self.folder / ARCHITECTURE_FILE).write_text("90\n", encoding="utf-8")

    def test_without_a_gpu_it_is_skipped(self):
        code, text = self.run_main("--prebuilt", self.folder, gpus=0)
        self.assertEqual((code, text), (77, "run: no GPU: the driver is absent or reports none\n"))

    def test_what_is_missing_is_one_line(self):
        (self.folder / "root").mkdir(parents=True)
        self.assertRegex(self.run_main("--prebuilt", self.folder)[1], r"^run: error: .* holds no programs: make it by tests/gpu/prepare --build-only .*\n$")
        self.assertEqual(self.run_main("--prebuilt", self.folder)[0], 69)
        (self.folder / PROGRAMS).touch()
        self.assertRegex(self.run_main(self.folder)[1], r"^run: error: .* or is one of --build-only: give --prebuilt\n$")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "dlmb_info").touch()
        (self.folder / ARCHITECTURE_FILE).write_text("80\n", encoding="utf-8")
        self.assertRegex(self.run_main("--prebuilt", self.folder)[1],
                         r"^run: error: .* was built for compute capability 80, the GPU here has 90: make it by .* --architecture 90\n$")
        self.assertRegex(self.run_main("--prebuilt", self.folder, NCCL_TESTS=str(self.base))[1], r"^run: error: NCCL_TESTS=.* holds no program like .*\n$")
        self.assertEqual(self.run_main("--prebuilt", "--build-only", self.folder)[0], 64)
        self.assertEqual(self.run_main("--prebuilt", "--architecture", "90", self.folder)[0], 64)
        self.assertFalse(self.out.exists())

    @unittest.skipUnless(MPIRUN, "not with Open MPI of this system")
    def test_programs_run_from_a_copied_folder_without_a_compiler(self):
        self.fill()
        nccl_tests = self.base / "nccl-tests"
        script(nccl_tests / "all_reduce_perf_mpi", f"cat <<'TEXT'\n{ROWS}TEXT")
        script(nccl_tests / "alltoall_perf", "echo broken >&2; exit 3")
        with mock.patch.object(stages, "AGAINST_LARGEST", "64"):
            code, text = self.run_main("--prebuilt", self.folder, "--only", "against nccl-tests|dlmb_info", NCCL_TESTS=str(nccl_tests))
        log = (self.out / "log.txt").read_text(encoding="utf-8")
        self.assertEqual(code, 0, text + log)
        self.assertRegex(text, r"(?m)^ +8 +6\.00 +[\d.]+ +[\d.]+\*? +0\.50 +[\d.]+ +[\d.]+")
        self.assertRegex(text, r"(?m)^ +all_reduce 3 rounds  out of place [\d.]+  in place [\d.]+$")
        self.assertIn("alltoall_perf -b 8 -e 64 -f 8 -g 1: exit code 3: broken", text)
        self.assertIn("without: alltoall, sendrecv", text)
        self.assertNotIn("NCCL_TESTS", (self.out / "results.jsonl").read_text(encoding="utf-8"), "it is no setting of a library")

    @unittest.skipUnless(MPIRUN, "not with Open MPI of this system")
    def test_a_stage_that_fails_does_not_stop_the_others(self):
        self.fill()
        unpack_programs(self.folder)
        script(self.folder / "bin" / "dlmb_info", "exit 5")
        code, text = self.run_main("--prebuilt", self.folder, "--only", "dlmb_info|rates|methods of nccl")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"(?m)^dlmb_info starts +[\d.]+  exit code 5$")
        self.assertRegex(text, r"(?m)^rates of the kernels +[\d.]+  does not start: ")
        self.assertRegex(text, r"(?m)^methods of nccl, 1 rank +[\d.]+  passed$")

    def test_the_packed_programs_are_those_that_the_stages_start(self):
        kit = mock.Mock(mpirun="mpirun", ucx=Path("/kit/ucx"))
        names = {program.name for program in pack.programs(kit, self.base / "build")}
        for name in ("dlmb_info", "dlmb_tune", "dlmb_collective", "dlmb_moe_alltoall", "conformance_mpi", "gpu_kernels_test", "gpu_plan_overhead"):
            self.assertIn(name, names)
        self.assertFalse(names & {"dlmb_predict", "dlmb_replay"}, "no stage starts it, and what travels is limited")


class Against(unittest.TestCase):
    def test_rows_of_both_programs_are_read_alike(self):
        times = against_nccl_tests.times_in(ROWS)
        self.assertEqual(times, {("out of place", 8): 6.0, ("in place", 8): 0.5, ("out of place", 64): 5.0,
                                 ("out of place", 1 << 30): 500.0, ("in place", 1 << 30): 0.3})

    def test_figures_ratios_and_the_geometric_mean_are_shown(self):
        theirs = {("out of place", 8): [6.0, 100.0, 5.0], ("out of place", 64): [10.0], ("in place", 8): [0.5]}
        ours = {("out of place", 8): [12.0], ("out of place", 64): [5.0], ("in place", 8): [0.7], ("out of place", 512): [1.0]}
        text, means = against_nccl_tests.table_of("all_reduce", theirs, ours)
        rows = {line.split()[0]: line for line in text.splitlines()[3:]}
        self.assertRegex(rows["8"], r"6\.00 +12\.00 +2\.000\* +0\.50 +0\.70 +1\.400 ")  # 0.2 us is no difference
        self.assertRegex(rows["64"], r"10\.00 +5\.00 +0\.500\* +- +- +-")
        self.assertNotIn("512", rows, "one of both has no figure")
        self.assertAlmostEqual(means["out of place"], 1.0)  # of 2 and 1/2
        self.assertAlmostEqual(means["in place"], 1.4)


class Order(unittest.TestCase):
    def test_what_is_known_least_comes_first_and_all_limits_are_those_of_a_short_run(self):
        kit = mock.Mock(mpirun="mpirun", ucx=Path("/kit/ucx"))
        found = [stage.name for stage in stages.every_stage(kit, Path("/kit"), Path("/out/results.jsonl"), Path("/nccl-tests"))]
        places = [next(i for i, name in enumerate(found) if name.startswith(start)) for start in
                  ("dlmb_info", "against nccl-tests", "plan against bare NCCL", "exchange on", "packing", "kernels", "a table", "moe_alltoall over", "conformance", "kernels under")]
        self.assertEqual(places, sorted(places))
        without = [stage.name for stage in stages.every_stage(kit, Path("/kit"), Path("/out/results.jsonl"), None)]
        self.assertEqual([name for name in found if name not in without], ["against nccl-tests, 1 rank"])


if __name__ == "__main__":
    unittest.main()
