# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A whole run with threads as ranks: measuring, validation, results, resume, tables, without MPI or a GPU."""

import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

from programs import BIN, COLLECTIVE, MOE, SMALL, cells, lines, run, small, traffic, validate


class InProcessRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.results = pathlib.Path(self.folder.name) / "moe.jsonl"

    def measure(self, *arguments, ranks=4, **changed):
        done = run([MOE, *small(**changed), "--backend", "in_process", "--ranks", str(ranks),
                    "--results", str(self.results), *arguments])
        self.assertIn(done.returncode, (0, 77), done.stderr)
        return done

    def test_a_run_leaves_a_valid_file_with_launch_cells_and_end(self):
        done = self.measure()
        self.assertEqual([line["kind"] for line in lines(self.results)], ["launch", "cell", "end"])
        self.assertEqual(validate(self.results).returncode, 0, validate(self.results).stdout)
        (cell,) = cells(self.results, "ok")
        self.assertEqual(cell["time_ns"]["samples"], 6)
        self.assertEqual(list(cell["phases"]), ["count_exchange", "dispatch", "combine"])
        self.assertEqual(cell["validation"]["verdict"], "passed")
        self.assertIn(f"DLMB-FOM {cell['cell_id']} median ", done.stdout)
        self.assertTrue(done.stdout.endswith("DLMB_RESULT: PASS\n"), done.stdout)

    def shown_on_a_terminal(self, *arguments):
        ours, theirs = pty.openpty()
        with subprocess.Popen([MOE, *SMALL, "--ranks", "2", "--backend", "in_process", *arguments], stdout=theirs,
                              stderr=subprocess.DEVNULL) as program:
            os.close(theirs)
            shown = b""
            try:
                while data := os.read(ours, 65536):
                    shown += data
            except OSError:  # the other end is closed
                pass
            program.wait(timeout=60)
        os.close(ours)
        return shown.decode()

    def test_a_terminal_shows_figures_of_merit_on_request_only(self):
        self.assertIn("DLMB_RESULT: PASS", self.shown_on_a_terminal())
        self.assertNotIn("DLMB-FOM", self.shown_on_a_terminal())
        self.assertIn("DLMB-FOM", self.shown_on_a_terminal("--fom"))

    def test_a_command_line_of_osu_gives_its_table(self):
        done = run([COLLECTIVE, "--cli", "osu", "osu_alltoall", "-m", ":16", "-T", "mpi_int", "-i", "3", "-x", "1", "-z90",
                    "--backend", "in_process", "--ranks", "3", "--results", str(self.results)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# left out: 2 sizes that --element int32 does not divide\n", done.stdout)
        rows = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
        self.assertEqual([row[0] for row in rows], ["4", "8", "16"])
        self.assertEqual({(len(row), row[4]) for row in rows}, {(6, "3")})
        self.assertIn("P90 Tail Lat(us)", done.stdout)
        self.assertEqual([cell["parameters"]["element"] for cell in cells(self.results, "ok")], ["int32"] * 3)

    def test_points_beyond_the_buffer_limit_are_skipped_with_what_they_need(self):
        done = run([COLLECTIVE, "--operation", "alltoall", "-m", "64K:1M", "-i", "3", "--buffer-limit", "1M",
                    "--backend", "in_process", "--ranks", "2", "--results", str(self.results)])
        self.assertEqual(done.returncode, 0, done.stderr)
        reasons = {cell["reason"] for cell in cells(self.results, "skipped")}
        self.assertTrue(reasons and all("more than --buffer-limit allows" in reason for reason in reasons), reasons)

    def test_resume_runs_only_what_is_missing(self):
        self.measure(tokens="64")
        done = self.measure("--resume", tokens="64,96")
        self.assertEqual(len(cells(self.results)), 2)
        self.assertIn("1 already in the results file", done.stdout)
        self.measure("--resume", tokens="64,96")
        self.assertEqual(len(cells(self.results)), 2)

    def test_cache_modes_are_cells_of_their_own(self):
        for mode in ("rotate", "warm", "flush"):
            self.measure("--cache", mode, "--resume", ranks=2)
        rotate, warm, flush = cells(self.results, "ok")
        self.assertEqual([cell["cache"]["mode"] for cell in (rotate, warm, flush)], ["rotate", "warm", "flush"])
        self.assertEqual(len({cell["cell_id"] for cell in (rotate, warm, flush)}), 3)
        self.assertGreater(rotate["cache"]["slots"], 1)
        self.assertEqual(rotate["validation"]["slots_checked"], list(range(rotate["cache"]["slots"])))
        self.assertEqual((warm["cache"]["slots"], flush["cache"]["slots"]), (1, 1))
        self.assertGreater(flush["cache"]["flush_bytes"], 0)
        self.assertEqual(validate(self.results).returncode, 0, validate(self.results).stdout)

    def test_zeros_are_recorded_and_payload_is_checked_all_the_same(self):
        self.measure("--fill", "zeros")
        (cell,) = cells(self.results, "ok")
        self.assertEqual((cell["fill"], cell["validation"]["verdict"]), ("zeros", "passed"))
        self.assertIn("/fill=zeros/", cell["cell_id"])

    def test_every_wire_model_direction_and_rank_count_validates(self):
        for ranks in (1, 2, 3, 7, 8):
            per_node = ["--ranks-per-node", "4"] if ranks == 8 else []
            done = self.measure("--wire", "expanded,rank_dedup,node_dedup,padded", "--direction", "both", "--layers", "2", *per_node,
                                ranks=ranks)
            self.assertEqual(done.returncode, 0, f"{ranks} ranks: {done.stderr}{done.stdout}")
            self.assertEqual(len({cell["cell_id"] for cell in cells(self.results, "ok")}), 4)
            self.results.unlink()

    def test_rows_that_are_moved_are_checked_and_timed_beside_plain_copies(self):
        for ranks in (1, 2, 7):
            self.measure("--pack", "none,host", ranks=ranks)
        self.measure("--pack", "host,cuda", ranks=2, tokens="0")
        self.assertEqual(validate(self.results).returncode, 0, validate(self.results).stdout)
        packed = [cell for cell in cells(self.results, "ok") if cell["parameters"]["pack"] == "host"]
        self.assertEqual({cell["validation"]["verdict"] for cell in packed}, {"passed"})
        self.assertEqual(list(packed[0]["phases"]), ["count_exchange", "pack", "dispatch", "unpack", "combine"])
        for cell in packed[:3]:
            self.assertLessEqual({"time_pack_us", "time_wire_us", "time_unpack_us", "pack_of_copy", "unpack_of_copy"},
                                 set(cell["statistics"]))
            self.assertGreater(cell["phases"]["pack"]["plain_copy"]["bytes"], 0)
        self.assertNotIn("plain_copy", packed[0]["phases"]["dispatch"])
        (skipped,) = cells(self.results, "skipped")
        self.assertEqual(skipped["reason"], '"pack.dispatch" is done by the GPU (--pack cuda), and steps in host memory are the '
                                            "host's; use --memory cuda or --pack host")

    def test_an_exchange_that_moves_rows_has_no_phase_of_its_own_for_it(self):
        for ranks in (1, 2, 7):
            self.measure("--pack", "host,fused", ranks=ranks)
        self.measure("--pack", "fused", ranks=7, tokens="0")
        self.measure("--pack", "fused", "--skew", "zipf:8", ranks=7, experts="7", top_k="1")  # nearly all to one expert
        found = cells(self.results)
        self.assertEqual({(cell["status"], cell["validation"]["verdict"]) for cell in found}, {("ok", "passed")})
        host, fused = found[4:6]
        self.assertEqual(list(fused["phases"]), ["count_exchange", "dispatch", "combine"])
        self.assertNotIn("time_pack_us", fused["statistics"])
        self.assertEqual(fused["traffic"], host["traffic"])

    def test_pooled_rows_transposes_and_logits_are_moved_on_any_number_of_ranks(self):
        for name, options in (("dlrm_exchange", ["--preset", "dlrm-small"]),
                              ("tp_allreduce", ["--phase", "prefill,decode", "--batch", "3", "--sequence", "4", "--hidden", "8", "--layers", "1",
                                                "--vocabulary", "504", "--steps", "2"]),
                              ("sequence_parallel", ["--batch", "1,2", "--sequence", "84", "--heads", "14", "--head-dim", "8"])):
            for ranks in ("1", "2", "7"):
                done = run([str(BIN / f"dlmb_{name}"), *options, "--pack", "host,fused", "--backend", "in_process", "--ranks", ranks, "-i", "2",
                            "-x", "1", "--cache", "warm", "--calibration", "off", "--results", str(self.results)])
                self.assertEqual(done.returncode, 0, done.stderr)
        found = cells(self.results)
        self.assertEqual({(cell["status"], cell["validation"]["verdict"]) for cell in found}, {("ok", "passed")})
        self.assertEqual({"unpack_of_copy" in cell["statistics"] for cell in found if cell["parameters"]["pack"] == "host"}, {True})

    def test_fewer_rows_than_peers_is_normal(self):
        done = self.measure(tokens="1", experts="64", top_k="1", ranks=8)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_rounds_over_a_sweep_measure_the_same_cells_in_another_order(self):
        tokens = "32,64,96,128"
        self.measure("--rounds-over", "point", "--order-seed", "1", tokens=tokens)
        one_by_one = [cell["cell_id"] for cell in cells(self.results, "ok")]
        self.results.unlink()
        done = self.measure("--rounds-over", "sweep", "--order-seed", "1", tokens=tokens)
        together = [cell["cell_id"] for cell in cells(self.results, "ok")]
        self.assertEqual(sorted(together), sorted(one_by_one))
        self.assertNotEqual(together, one_by_one)
        self.assertEqual(lines(self.results)[0]["order_seed"], 1)
        self.assertIn("DLMB_RESULT: PASS", done.stdout)

    def test_each_launch_visits_its_cells_in_an_order_of_its_own(self):
        seeds = set()
        for _ in range(2):
            self.results.unlink(missing_ok=True)
            self.measure(tokens="32")
            seeds.add(lines(self.results)[0]["order_seed"])
        self.assertEqual(len(seeds), 2)  # one in 2^32 that they agree

    def test_what_hides_behind_computation_is_told_by_the_cell_without_it(self):
        for rounds_over in ("point", "sweep"):
            with self.subTest(rounds_over):
                self.results.unlink(missing_ok=True)
                self.hide_behind_computation("--rounds-over", rounds_over)

    def hide_behind_computation(self, *arguments):
        done = run([str(BIN / "dlmb_sequence_parallel"), "--kind", "ring", "--sequence", "240", "--heads", "24", "--head-dim", "8",
                    "--compute-ns", "0,500000", "-i", "3", "-x", "1", "--backend", "in_process", "--ranks", "2", "--results", str(self.results),
                    *arguments])
        self.assertEqual(done.returncode, 0, done.stderr)
        alone, computing = cells(self.results, "ok")
        self.assertNotIn("compute_us", alone["statistics"])
        statistics = computing["statistics"]
        # Two blocks forward and two backward.
        self.assertEqual(statistics["compute_us"], 4 * 500)
        self.assertAlmostEqual(statistics["communication_us"], alone["time_ns"]["median"] / 1000)
        exposed = computing["time_ns"]["median"] / 1000 - 2000
        self.assertAlmostEqual(statistics["exposed_us"], exposed)
        self.assertAlmostEqual(statistics["overlap_ratio"], 1 - exposed / statistics["communication_us"])
        self.assertIn(f"overlap ratio {statistics['overlap_ratio']:.3f}", done.stdout)

    def test_stream_mode_and_no_validation_are_recorded(self):
        self.measure("--timing", "stream", "-c", "off")
        (cell,) = cells(self.results)
        self.assertEqual((cell["mode"], cell["validation"]["verdict"]), ("stream", "off"))

    def test_adaptive_stopping_ends_within_its_limits(self):
        done = run([MOE, *traffic(), "--backend", "in_process", "--ranks", "2", "--time-limit", "1", "--results", str(self.results)])
        self.assertEqual(done.returncode, 0, done.stderr)
        (cell,) = cells(self.results, "ok")
        self.assertIn(cell["stop_reason"], ("precision", "time", "cap"))

    def test_layouts_of_osu_and_nccl_tests(self):
        self.assertRegex(self.measure("--layout", "osu").stdout, r"(?m)^\d+ +\d+\.\d+ ")
        self.assertIn("busbw", self.measure("--layout", "nccl").stdout)

    def test_what_cannot_run_is_skipped_with_the_reason(self):
        done = run([MOE, *small(), "--backend", "mpi", "--ranks", "2", "--results", str(self.results)])
        self.assertEqual(done.returncode, 77, done.stdout)
        (cell,) = cells(self.results, "skipped")
        self.assertRegex(cell["reason"], "mpi|DLMB_WITH_MPI=ON")  # the latter: of a build without it
        self.assertTrue(done.stdout.endswith("# cells: 1 skipped\nDLMB_RESULT: SKIPPED\n"), done.stdout)
        self.assertEqual(lines(self.results)[-1]["status"], "skipped")
        self.assertEqual(validate(self.results).returncode, 0, validate(self.results).stdout)

    def test_too_few_samples_have_no_interval_and_a_line_says_so(self):
        for count, known in ((5, False), (6, True)):
            self.results.unlink(missing_ok=True)
            done = run([MOE, *traffic(), "-i", str(count), "-x", "2", "--backend", "in_process", "--ranks", "2",
                        "--results", str(self.results)])
            (cell,) = cells(self.results, "ok")
            intervals = [cell["time_ns"][name] is not None for name in ("median_low", "median_high", "p90", "p95")]
            self.assertEqual(intervals, [known, known, False, False])
            self.assertEqual("fewer than 6 samples, so no interval" in done.stdout, not known)
            self.assertEqual(validate(self.results).returncode, 0, validate(self.results).stdout)

    def test_samples_of_a_stream_are_fitted_to_iterations_in_a_stream(self):
        for fixed in ([], ["-i", "160"]):
            self.results.unlink(missing_ok=True)
            run([COLLECTIVE, "--operation", "allreduce", "-m", "64:64", "--timing", "stream", "-x", "0", *fixed, "--time-limit", "0.1",
                 "--backend", "in_process", "--ranks", "2", "--calibration", "off", "--results", str(self.results)])
            (cell,) = cells(self.results, "ok")
            self.assertEqual(cell["warmup_iterations"] > 0, not fixed, "the iterations that show how long a sample has to be")
            if fixed:
                self.assertEqual(cell["time_ns"]["samples"] * cell["iterations_per_sample"], 160)

    def test_lines_for_scripts_are_comments_in_the_layouts_of_the_suites(self):
        for layout in ("osu", "nccl"):
            done = self.measure("--layout", layout)
            self.assertTrue(done.stdout.endswith("# DLMB_RESULT: PASS\n"), done.stdout)
            self.assertIn("\n# DLMB-FOM ", done.stdout)

    def test_a_row_has_at_most_80_characters_and_no_time_more_than_four_digits(self):
        done = self.measure()
        rows = [line for line in done.stdout.splitlines() if line[:1] not in "#D"]
        self.assertGreater(len(rows), 1)
        for row in rows:
            self.assertLessEqual(len(row), 80)
            for figure in row.split()[3:7]:
                self.assertLessEqual(len(figure.replace(".", "").strip("0")), 4, row)

    def test_more_memory_than_the_machine_has_is_skipped_not_killed(self):
        done = self.measure(hidden="1048576", tokens="65536")
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertIn("memory", cells(self.results, "skipped")[-1]["reason"])


if __name__ == "__main__":
    unittest.main()
