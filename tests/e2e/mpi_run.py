# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launches with real MPI processes."""

import collections
import json
import pathlib
import tempfile
import unittest

from programs import BIN, COLLECTIVE, HAVE_UCX, MOE, PLAN, REPLAY, SMALL, cells, lines, mpirun, overlay, run, small, validate

BACKENDS = "mpi,ucx" if HAVE_UCX else "mpi"


class MpiRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.results = pathlib.Path(self.folder.name) / "moe.jsonl"

    def test_every_method_of_every_backend_validates_and_moves_the_same_bytes_on_1_2_and_7_ranks(self):
        traffic = collections.defaultdict(set)
        for ranks in (1, 2, 7):
            done = run(mpirun(ranks, MOE, *SMALL, "--backend", BACKENDS, "--method", "all", "--direction", "both",
                              "--results", str(self.results)))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count("DLMB_RESULT: PASS"), 1, "not once per rank")
        for cell in cells(self.results, "ok"):
            traffic[cell["world"]["ranks"]].add(str(cell["traffic"]))
        self.assertEqual([len(of) for of in traffic.values()], [1, 1, 1])
        declined = [cell["reason"] for cell in cells(self.results) if cell["status"] != "ok"]
        self.assertEqual([reason for reason in declined if "not applicable" not in reason], [])
        methods = {(cell["backend"], cell["method"]) for cell in cells(self.results)}
        for method in ("alltoallv", "isend_irecv", "pairwise", "neighbor", "persistent"):
            self.assertIn(("mpi", method), methods)
        launches = [line["environment"] for line in lines(self.results) if line["kind"] == "launch"]
        self.assertEqual([len(environment["ranks"]) for environment in launches], [1, 2, 7])
        self.assertTrue(all("mpi_library" in environment["identity"] for environment in launches))
        self.assertEqual(validate(self.results).returncode, 0)

    def test_work_beside_the_ranks_is_a_part_of_what_a_cell_is(self):
        # So many bytes that a load that shares the ranks' processors has its turn while samples are taken.
        command = [COLLECTIVE, "--operation", "allreduce", "-m", "1M:1M", "--backend", "mpi", "--calibration", "off", "--cache", "warm", "-i", "8", "-x", "1",
                   "--results", str(self.results)]
        done = run(mpirun(2, *command, "--beside", "none,compute,memory"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = {cell.get("beside", "none"): cell for cell in cells(self.results, "ok")}
        self.assertEqual(set(found), {"none", "compute", "memory"})
        self.assertEqual(len({cell["cell_id"] for cell in found.values()}), 3)
        self.assertIn("/beside=memory/", found["memory"]["cell_id"])
        self.assertNotIn("beside", found["none"]["cell_id"])
        for load, cell in found.items():
            figures = {figure["name"]: figure["value"] for figure in cell["figures"]}
            self.assertEqual([figures[name] > 0 for name in ("load_rate", "load_slowdown") if name in figures], [] if load == "none" else [True, True], cell)
        self.assertEqual(validate(self.results).returncode, 0)
        done = run(mpirun(2, *command, "--beside", "memory", "--resume"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(cells(self.results)), 3, "it is measured already")

    def test_the_traffic_of_other_launches_is_a_name_in_every_cell(self):
        done = run(mpirun(2, COLLECTIVE, "--operation", "allreduce", "-m", "1K:1K", "--backend", "mpi", "-i", "4", "-x", "1", "--beside", "traffic:moe.jsonl@01",
                          "--results", str(self.results)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (cell,) = cells(self.results, "ok")
        self.assertEqual(cell["beside"], "traffic:moe.jsonl@01")
        self.assertIn("/beside=traffic+3Amoe.jsonl+4001/", cell["cell_id"])
        self.assertNotIn("load_rate", {figure["name"] for figure in cell["figures"]})
        self.assertEqual(validate(self.results).returncode, 0)

    def test_an_exchange_in_place_is_a_call_of_mpi_whose_bytes_are_checked(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                self.results.unlink(missing_ok=True)
                done = run(mpirun(ranks, COLLECTIVE, "--operation", "alltoall,alltoallv", "-m", "1000:1000", "--element", "byte", "--in-place", "on", "--calibration", "off",
                                  "--backend", BACKENDS, "--method", "all", "-i", "4", "-x", "1", "--results", str(self.results)))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                found = cells(self.results, "ok")
                self.assertEqual({(cell["backend"], cell["validation"]["verdict"]) for cell in found}, {("mpi", "passed")})
                self.assertEqual({cell["method"] for cell in found}, {"alltoall", "alltoallv", "nonblocking"})
                self.assertTrue(all("in place" in cell["reason"] for cell in cells(self.results, "skipped")))

    def test_rows_are_moved_by_a_datatype_of_mpi_and_by_nothing_else(self):
        to_one_expert = [*small(experts="7", top_k="1"), "--skew", "zipf:8"]
        for ranks, traffic in ((1, SMALL), (2, SMALL), (7, small(tokens="0")), (7, to_one_expert)):
            done = run(mpirun(ranks, MOE, *traffic, "--pack", "fused", "--probs", "on", "--backend", BACKENDS, "--method",
                              "default,alltoallv", "--results", str(self.results)))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = cells(self.results, "ok")
        self.assertEqual({(cell["backend"], cell["method"], cell["validation"]["verdict"]) for cell in found},
                         {("mpi", "alltoallw", "passed")})
        self.assertEqual(len(found), 4)
        declined = cells(self.results, "skipped")
        self.assertEqual({cell["backend"] for cell in declined}, set(BACKENDS.split(",")))
        self.assertEqual({cell["reason"] for cell in declined},
                         {"--pack fused: only over mpi (method alltoallw) and in_process, in host memory"})

    def test_gathered_logits_are_put_in_order_by_the_host_or_by_a_datatype(self):
        done = run(mpirun(2, str(BIN / "dlmb_tp_allreduce"), "--phase", "decode", "--batch", "3", "--hidden", "8", "--layers", "1", "--vocabulary",
                          "504", "--pack", "host,fused", "--backend", "mpi", "-i", "2", "-x", "1", "--results", str(self.results)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({(cell["parameters"]["pack"], cell["status"], cell["validation"]["verdict"]) for cell in cells(self.results)},
                         {("host", "ok", "passed"), ("fused", "ok", "passed")})
        self.assertEqual({cell["parameters"]["tp"] for cell in cells(self.results)}, {2}, "what --tp 0 became")

    def test_an_error_comes_once_not_once_per_rank(self):
        done = run(mpirun(3, MOE, "--preset", "nothing"))
        self.assertEqual(done.returncode, 64, done.stderr)
        self.assertEqual(done.stderr.count("dlmb_moe_alltoall: error:"), 1, done.stderr)

    def test_what_cannot_run_under_this_launcher_is_skipped_beside_what_can(self):
        done = run(mpirun(2, MOE, *SMALL, "--backend", "mpi,nccl,in_process", "--memory", "host,cuda", "--results", str(self.results)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        skipped = cells(self.results, "skipped")
        self.assertTrue(all(cell["reason"] for cell in skipped))
        threads = {cell["reason"] for cell in skipped if cell["backend"] == "in_process"}
        self.assertTrue(threads and all("--ranks" in reason for reason in threads), threads)
        self.assertIn(("mpi", "host"), {(cell["backend"], cell["memory"]) for cell in cells(self.results, "ok")})

    @unittest.skipUnless(HAVE_UCX, "this build has no ucx backend")
    def test_an_exchange_beside_an_allreduce_on_another_backend_says_what_each_takes_alone(self):
        """The overlap scenario of MCR-DL."""
        moe, reduced, both = overlay(self.folder.name, 2)
        done = run(mpirun(2, REPLAY, "--plan", f"{moe},{reduced},{both}", "--backend", "mpi,ucx", "--beside-backend", "ucx", "--rounds-over", "sweep",
                          "-i", "6", "-x", "2", "--results", str(self.results)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = {(cell["backend"], cell["parameters"]["plan"]): cell for cell in cells(self.results)}
        self.assertEqual(set(found), {*((backend, plan) for backend in ("mpi", "ucx") for plan in (moe, reduced)), ("mpi+ucx", both), ("ucx", both)})
        self.assertEqual({cell["validation"]["verdict"] for cell in found.values()}, {"passed"})
        self.assertEqual(found["mpi", moe]["method"], "nonblocking", "the calls that are made beside the allreduce, too")
        self.assertEqual(set(found["ucx", both]["phases"]), {"beside", "count_exchange", "dispatch", "combine"})
        beside = found["ucx", reduced]["time_ns"]["median"] / 1000
        for backend in ("mpi", "ucx"):
            together = found["mpi+ucx" if backend == "mpi" else "ucx", both]
            main, both_us = found[backend, moe]["time_ns"]["median"] / 1000, together["time_ns"]["median"] / 1000
            (said,) = (line["statistics"] for line in lines(self.results) if line["kind"] == "derived" and line["cell_id"] == together["cell_id"])
            self.assertAlmostEqual(said["main_alone_us"], main, places=2)
            self.assertAlmostEqual(said["beside_alone_us"], beside, places=2)
            self.assertAlmostEqual(said["interference"], both_us / max(main, beside), places=3)
            self.assertAlmostEqual(said["overlap_share"], (main + beside - both_us) / min(main, beside), places=3)
            phases = together["phases"]
            last, alone = (max(phase["ended_ns"]["median"] for name, phase in of.items() if name != "beside") for of in (phases, found[backend, moe]["phases"]))
            self.assertAlmostEqual(said["main_slowdown"], last / alone, places=3)
            self.assertAlmostEqual(said["beside_slowdown"], phases["beside"]["ended_ns"]["median"] / 1000 / beside, places=3)
            self.assertIn(f"interference {said['interference']:.3f}, overlap share {said['overlap_share']:.3f}", done.stdout)
        self.assertEqual(validate(self.results).returncode, 0)

    def test_plans_come_through_a_pipe_to_rank_0(self):
        moe, reduced, _both = overlay(self.folder.name, 2)
        with open(moe, encoding="utf-8") as plans:
            joined = run([PLAN, "overlay", "-", reduced], stdin=plans)
        self.assertEqual(joined.returncode, 0, joined.stderr)
        for command in (mpirun(2, REPLAY, "--plan", "-", "--backend", "mpi"), [REPLAY, "--plan", "-", "--backend", "in_process", "--ranks", "2"]):
            self.results.unlink(missing_ok=True)
            done = run([*command, "-i", "6", "-x", "2", "--results", str(self.results)], input=joined.stdout)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            (cell,) = cells(self.results, "ok")
            self.assertEqual((cell["validation"]["verdict"], cell["parameters"]["overlay"]), ("passed", f"- + {reduced}"))

    def test_a_backend_for_what_runs_beside_needs_plans_that_have_it(self):
        moe, _reduced, _both = overlay(self.folder.name, 2)
        done = run(mpirun(2, REPLAY, "--plan", moe, "--backend", "mpi", "--beside-backend", "mpi"))
        self.assertEqual(done.returncode, 64, done.stdout)
        self.assertIn("make one with dlmb_plan overlay", done.stderr)

    def test_beside_a_computation_the_default_method_is_nonblocking(self):
        small = ["--operation", "allreduce", "-m", "64:64", "--backend", "mpi", "-i", "3", "-x", "1", "--results", str(self.results)]
        for more, methods in ((["--compute", "none,busy", "--compute-us", "20"], {"nonblocking"}),
                              (["--compute", "busy", "--compute-us", "20", "--method", "blocking"], {"blocking"}),
                              (["--compute", "none"], {"blocking"})):
            self.results.unlink(missing_ok=True)
            done = run(mpirun(2, COLLECTIVE, *small, *more))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual({cell["method"] for cell in cells(self.results, "ok")}, methods)

    def test_the_command_line_of_osu_latency_mt_runs_threads_or_says_why_not(self):
        done = run(mpirun(2, COLLECTIVE, "--cli", "osu", "osu_latency_mt", "-t", "2:2", "-m", "8:8", "-i", "3", "-x", "1",
                          "--backend", "mpi", "--results", str(self.results)))
        if done.returncode == 64:
            self.assertIn("this MPI library provides", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (cell,) = cells(self.results, "ok")
        self.assertEqual((cell["method"], cell["parameters"]["channels"]), ("threads", 2))
        self.assertEqual(cell["backend_facts"]["mpi_threads"], "2")
        self.assertEqual(cell["validation"]["verdict"], "passed")

    def test_fans_hypercubes_neighbourhoods_and_puts_run_as_programs_of_the_suites(self):
        for suite, program, column, count in (("osu", "osu_bw_fan_in", "Bandwidth (MB/s)", 1), ("osu", "osu_put_bw", "Bandwidth (MB/s)", 1), ("osu", "osu_bw_fan_out", "Bandwidth (MB/s)", 1),
                                              ("osu", "osu_neighbor_alltoall", "Avg Latency(us)", 1),
                                              ("osu", "osu_ineighbor_alltoallv", "Overlap(%)", 2), ("nccl", "hypercube_perf", "busbw", 1)):
            self.results.unlink(missing_ok=True)
            size = ["-m", "64:64", "-i", "3", "-x", "1"] if suite == "osu" else ["-b", "4K", "-e", "4K", "-n", "3", "-w", "1"]
            ranks = 2 if program == "osu_put_bw" else 4  # some libraries have windows of all ranks only
            done = run(mpirun(ranks, COLLECTIVE, "--cli", suite, program, *size, "--backend", "mpi", "--calibration", "off", "--results", str(self.results)))
            self.assertEqual(done.returncode, 0, f"{program}: {done.stdout}{done.stderr}")
            self.assertIn(column, done.stdout)
            self.assertEqual({cell["validation"]["verdict"] for cell in cells(self.results)}, {"passed"}, program)
            self.assertGreaterEqual(len(cells(self.results, "ok")), count)

    def test_the_start_of_mpi_is_told_over_ranks(self):
        done = run(mpirun(2, str(BIN / "dlmb_info"), "--startup", "--json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["ranks"], 2)
        self.assertTrue(0 < found["min_ms"] <= found["mean_ms"] <= found["max_ms"], found)

    def test_one_thread_per_rank_is_declined_with_the_option_that_helps(self):
        done = run(mpirun(2, COLLECTIVE, "--operation", "sendrecv", "-m", "8:8", "--backend", "mpi", "--method", "threads",
                          "--results", str(self.results)))
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("--mpi-thread multiple", cells(self.results, "skipped")[0]["reason"])


if __name__ == "__main__":
    unittest.main()
