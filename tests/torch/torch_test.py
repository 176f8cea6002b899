# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""launch/torch under mpirun: operations.py and training.py on 1 to 4 ranks, with a table, without, and with wrong ones.

usage: torch_test.py PYTHON PACKAGE_FOLDER MPIEXEC      PYTHON: the one whose PyTorch the package was built for
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PYTHON, PACKAGE, MPIEXEC = sys.argv[1:4]
HAVE_UCX = os.environ["DLMB_HAVE_UCX"] == "ON"
needs_ucx = unittest.skipUnless(HAVE_UCX, "UCX is not in this build")
EXAMPLE = ROOT / "results-schema" / "examples" / "tuning-table.json"


class Launches(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def table(self, choose: dict | None = None, mpi: dict | None = None) -> Path:
        """One rule, for allreduces from 1 KiB up. Open MPI's or MPICH's name and version are left open."""
        table = json.loads(EXAMPLE.read_text(encoding="utf-8"))
        rule = next(each for each in table["rules"] if each["id"] == "r002")
        rule["when"] = {"operation": "allreduce", "bytes": {"basis": "buffer", "min": 1024, "max": None}, "memory": "host"}
        rule["choose"] = choose or {"backend": "mpi", "method": "algorithm:allreduce=ring", "params": {}}
        del rule["evidence"]
        table["rules"] = [rule]
        if mpi:
            table["stack"]["mpi"] = mpi
        else:
            del table["stack"]["mpi"]
        path = self.folder / "table.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        return path

    def table_over_ucx(self, method: str, baseline: str, version: str = "") -> Path:
        """Allreduces from 1 KiB up over UCX by `method`; all that has no rule by the default method of `baseline`."""
        table = json.loads(self.table({"backend": "ucx", "method": method}).read_text(encoding="utf-8"))
        inside = table["rules"][0] | {"scope": "ucx"}
        table["rules"] = [inside | {"id": "r001", "scope": "select", "choose": {"backend": "ucx", "method": "default"}}, inside]
        table["policy"]["baseline"]["host"] = baseline
        if version:
            table["stack"]["versions"]["ucx"] = version
        else:
            del table["stack"]["versions"]["ucx"]
        path = self.folder / "over_ucx.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        return path

    def launch(self, ranks: int, program: str, *arguments: object, code: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [MPIEXEC, "-n", str(ranks), PYTHON, *(["-c", code] if code else [str(HERE / program)]), *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}", "OMP_NUM_THREADS": "1"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)

    def launch_well(self, ranks: int, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        done = self.launch(ranks, program, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_every_operation_gives_what_gloo_gives(self) -> None:
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.launch_well(ranks, "operations.py").stdout, "ok\n")

    def test_every_operation_gives_it_by_the_algorithm_of_a_table(self) -> None:
        self.assertEqual(self.launch_well(4, "operations.py", self.table(), "algorithm:allreduce=ring").stdout, "ok\n")

    @needs_ucx
    def test_every_operation_gives_it_over_ucx(self) -> None:
        for ranks, baseline in ((3, "ucx"), (4, "mpi")):  # all of them, or some among those of MPI
            with self.subTest(ranks=ranks, baseline=baseline):
                self.assertEqual(self.launch_well(ranks, "operations.py", self.table_over_ucx("ring:segment=8K", baseline), "ring:segment=8K").stdout, "ok\n")

    def test_ddp_and_fsdp_train_to_the_losses_of_gloo(self) -> None:
        over_ucx = self.table_over_ucx("knomial:radix=2:rndv_thresh=1", "mpi")
        for ranks, table in ((2, []), (4, [self.table()]), *([(4, [over_ucx])] if HAVE_UCX else [])):
            with self.subTest(ranks=ranks, table=table):
                said = self.launch_well(ranks, "training.py", *table).stdout
                self.assertRegex(said, r"ddp ok\nfsdp (ok\nfsdp2|skipped).*\n")

    SMALL = ("import dlmb_torch, sys, torch, torch.distributed as dist; dlmb_torch.init_process_group(sys.argv[1]); data = torch.ones(4096); "
             "dist.all_reduce(data); assert data.eq(dist.get_world_size()).all(); "
             "print(*(f\"{each['method']}|{each['rule']}|{each['why_not']}\" for each in dlmb_torch.report()), sep='\\n') "
             "if dist.get_rank() == 0 else None; dist.destroy_process_group()")

    def test_without_the_table_the_library_decides_and_one_line_says_so(self) -> None:
        done = self.launch(2, "", self.folder / "none.json", code=self.SMALL)
        self.assertEqual((done.returncode, done.stdout), (0, "default||\n"), done.stderr)
        self.assertEqual(done.stderr.count("none.json: cannot be read"), 1, done.stderr)
        self.assertEqual(done.stderr.count("the MPI library decides everything"), 1, done.stderr)

    def test_a_table_of_another_library_is_not_used(self) -> None:
        done = self.launch(2, "", self.table(mpi={"name": "Another MPI", "version": "9.9"}), code=self.SMALL)
        self.assertEqual((done.returncode, done.stdout), (0, "default||\n"), done.stderr)
        self.assertEqual(done.stderr.count("it was measured with Another MPI 9.9"), 1, done.stderr)

    @needs_ucx
    def test_a_table_of_another_ucx_runs_over_mpi(self) -> None:
        done = self.launch(2, "", self.table_over_ucx("ring", "mpi", "0.9.9"), code=self.SMALL)
        self.assertEqual((done.returncode, done.stdout.partition("|")[0]), (0, "default"), done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("nothing runs over UCX: it was measured with UCX 0.9.9, and this is "), 1, done.stderr)

    @unittest.skipIf(HAVE_UCX, "UCX is in this build")
    def test_a_table_over_ucx_runs_over_mpi_in_a_build_without_it(self) -> None:
        done = self.launch(2, "", self.table_over_ucx("ring", "mpi"), code=self.SMALL)
        self.assertEqual((done.returncode, done.stdout.partition("|")[0]), (0, "default"), done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("nothing runs over UCX: UCX is not in this build"), 1, done.stderr)

    def test_a_choice_that_cannot_be_had_is_reported_and_the_default_runs(self) -> None:
        done = self.launch(2, "", self.table({"backend": "mpi", "method": "persistent", "params": {}}), code=self.SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^default\|r002\|mpi: persistent: ")

    @needs_ucx
    def test_what_ucx_cannot_do_here_runs_over_mpi_and_the_report_says_why(self) -> None:
        done = self.launch(2, "", self.table_over_ucx("bruck_allgather", "mpi"), code=self.SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^default\|\|ucx: ")

    def test_a_table_that_is_not_valid_is_refused(self) -> None:
        path = self.folder / "wrong.json"
        path.write_text("{}", encoding="utf-8")
        done = self.launch(2, "", path, code=self.SMALL)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"ValueError: \S*wrong\.json: ")

    def test_an_exception_on_one_rank_ends_the_launch(self) -> None:
        done = self.launch(2, "", code="import dlmb_torch, torch, torch.distributed as dist; dlmb_torch.init_process_group(); "
                           "data = torch.ones(9); dist.all_reduce(data); 1 / (1 - dist.get_rank()); dist.all_reduce(data)")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ZeroDivisionError", done.stderr)

    LATE = """
import atexit, pathlib, sys, time
import dlmb_torch, torch, torch.distributed as dist

def after_dlmb():
    if dist.get_rank() == 0:
        pathlib.Path(sys.argv[1]).touch()
        limit = time.monotonic() + 60
        while not works[0].is_completed() and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(0.3)  # a thread that goes on has come to the next one
        print("still here", flush=True)

atexit.register(after_dlmb)  # before dlmb_torch has its own, so it is called after that
dlmb_torch.init_process_group()
if dist.get_rank() == 0:
    works = [dist.all_reduce(torch.ones(9), async_op=True) for _ in range(4)] + [dist.isend(torch.ones(9), 1)]
    time.sleep(0.3)  # the thread is in the first one
    1 / 0
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
dist.all_reduce(torch.ones(9))
"""

    def test_what_was_submitted_before_an_exception_is_not_begun_after_it(self) -> None:
        done = self.launch(2, "", self.folder / "left", code=self.LATE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertEqual(done.stdout, "still here\n", done.stderr)

    def test_processes_that_are_no_ranks_are_told_how_to_start(self) -> None:
        code = ("import os, subprocess, sys, torch.distributed as dist; import dlmb_torch; "
                "dist.init_process_group('dlmb', init_method='file://' + sys.argv[1], rank=int(sys.argv[2]), world_size=2)")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_COMM", "PMI"))}
        environment = {**clean, "PYTHONPATH": f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}"}
        both = [subprocess.Popen([PYTHON, "-c", code, str(self.folder / "store"), str(rank)], env=environment, stderr=subprocess.PIPE, text=True)
                for rank in range(2)]
        for each in both:
            error = each.communicate(timeout=120)[1]
            self.assertNotEqual(each.returncode, 0)
            self.assertIn("start the program with mpirun -np 2", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
