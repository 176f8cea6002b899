# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Options, printouts and plans: everything that needs neither MPI nor a GPU."""

import json
import os
import subprocess
import tempfile
import unittest

from dlmb_results.plans import one_plan
from programs import BIN, MOE, SMALL, lines, run, small


def plan(*arguments):
    done = run([MOE, "--plan", "jsonl", *arguments])
    assert done.returncode == 0, done.stderr
    return one_plan(done.stdout)


def step(document, rank, label):
    return next(step for step in document["plans"][rank]["steps"] if step["label"] == label)


class CommandLine(unittest.TestCase):
    def refused(self, arguments, *texts):
        done = run([MOE, *arguments])
        self.assertEqual(done.returncode, 64, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("dlmb_moe_alltoall: error: "), done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def test_plans_as_one_object_are_those_of_the_lines(self):
        for pattern, *options in (["moe_alltoall", *SMALL], ["pipeline_p2p", "--preset", "quick"], ["collective", "--operation", "bandwidth", "-m", "8:8"]):
            command = [BIN / f"dlmb_{pattern}", *options, "--ranks", "4", "--plan"]
            whole, by_line = (run([*command, form]).stdout for form in ("json", "jsonl"))
            self.assertEqual({**json.loads(whole), "schema": "dlmb.plan/2.0"}, one_plan(by_line))
            self.assertEqual(json.loads(whole)["schema"], "dlmb.plan/1.2")

    def test_wrong_input_is_refused_in_one_line_that_names_the_nearest(self):
        self.refused(["--preset", "deepseek-v4", "--plan", "json"], "deepseek-v4", "deepseek-v3")
        self.refused(["--presett", "x"], "--presett", "--preset")
        self.refused(["--backend", "mpj", "--ranks", "2"], "mpj", "mpi")
        self.refused(["--memory", "gpu"], "gpu", "cuda")
        self.refused(["--wire", "dedup", "--plan", "json"], "wire", "rank_dedup")
        self.refused(["--top-k", "9", "--experts", "8", "--plan", "json"], "top-k", "9", "8")
        self.refused(["--ep", "3", "--ranks", "8", "--plan", "json"], "ep", "3", "8")
        self.refused(["--skew", "lognormal:2", "--plan", "json"], "lognormal")
        self.refused(["--skew", "file:nowhere.txt", "--plan", "json"], "nowhere.txt")
        self.refused(["--plan", "yaml"], "yaml", "json")
        self.refused(["--skew", "file:/dev/zero", "--plan", "json"], "/dev/zero", "larger than 256 MiB")
        self.refused([*SMALL, "--ranks", "1", "--backend", "in_process", "--results", "/dev/zero", "--resume"], "/dev/zero:1: a line is longer")
        self.refused(["--resume"], "--results")
        self.refused(["--backend", "in_process", "--ranks", "2", "--method", "alltoalw"], "alltoalw")
        self.refused(["--plan", "json", "--tokens", "1,2"], "one point")

    def test_a_plan_in_words_says_what_follows_from_a_model_and_what_does_not_fit(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as model:
            json.dump({"hidden_size": 64, "num_hidden_layers": 1, "num_experts": 10, "num_experts_per_tok": 2}, model)
            model.flush()
            done = run([MOE, "--plan", "text", "--model", model.name, "--parallel", "ep=4", "--ranks", "4", "--tokens", "4"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" --ep 4", done.stdout)
        self.assertIn(" --hidden 64", done.stdout)
        self.assertIn("note: 10 experts on --ep 4 are 2 or 3 per rank", done.stdout)

    def test_an_output_that_cannot_be_opened_has_its_own_exit_code(self):
        done = run([MOE, *SMALL, "--ranks", "2", "--results", "/proc/nowhere/results.jsonl"])
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn("/proc/nowhere", done.stderr)

    def test_what_cannot_be_printed_has_its_own_exit_code_and_costs_no_result(self):
        info = str(BIN / "dlmb_info")
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w", encoding="utf-8") as full:
            results = f"{folder}/results.jsonl"
            measured = [MOE, *SMALL, "--ranks", "2", "--backend", "in_process", "--results", results]
            for command in (measured, [MOE, "--help"], [MOE, "--plan", "text", *SMALL], [info], [info, "--json"], [info, "--help"]):
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 74, command)
                self.assertIn("standard output cannot be written: No space left on device", done.stderr)
            self.assertEqual([line["kind"] for line in lines(results)], ["launch", "cell", "end"])
            self.assertEqual(lines(results)[-1]["status"], "ok")

    def test_a_model_that_a_rank_of_many_reads_is_the_first_ranks(self):
        command = [str(BIN / "dlmb_info"), "--lint-model", "/nowhere"]
        for rank, code, said in (("0", 64, "/nowhere"), ("1", 0, "")):
            done = run(command, env={**os.environ, "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "2"})
            self.assertEqual((done.returncode, said in done.stderr, bool(done.stderr)), (code, True, bool(said)), done.stderr)
        self.assertIn("--preset: its value is empty", run([*command[:2], "--preset="]).stderr)

    def test_results_on_standard_output_stand_between_the_rows(self):
        done = run([MOE, *SMALL, "--ranks", "2", "--backend", "in_process", "--results", "-"])
        self.assertEqual(done.returncode, 0, done.stderr)
        kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual(kinds, ["launch", "cell", "end"])
        self.assertIn("DLMB_RESULT: PASS", done.stdout)

    def test_what_is_named_twice_is_measured_once(self):
        done = run([MOE, *small(tokens="64,64"), "--ranks", "2", "--backend", "in_process,in_process", "--method", "default,default", "--memory", "host,host"])
        self.assertIn("# cells: 1 ok", done.stdout, done.stdout + done.stderr)

    def test_messages_hold_no_raw_bytes_and_have_an_end(self):
        for wrong in (b"\x1b[31m\xff\n", b"x" * 100_000):
            done = subprocess.run([MOE.encode(), b"--preset", wrong, b"--plan", b"text"], capture_output=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 64)
            message = done.stderr.decode("ascii")
            self.assertEqual((message.count("\n"), "\x1b" in message), (1, False), message[:200])
            self.assertLess(len(message), 1100)

    def test_help_version_and_presets_say_what_they_should(self):
        shown = run([MOE, "--help"])
        self.assertEqual(shown.returncode, 0)
        for option in ("--backend", "--hidden", "--top-k", "--time-limit", "--results"):
            self.assertIn(option, shown.stdout)
        self.assertRegex(run([MOE, "--version"]).stdout, r"^dlmb_moe_alltoall \d+\.\d+\.\d+ \(")
        self.assertIn("deepseek-v3", run([MOE, "--list-presets"]).stdout)

    def test_letters_of_nccl_tests_are_understood_on_request(self):
        sized = ["--hidden", "64", "--experts", "16", "--tokens", "16", "--ranks", "2"]
        self.assertEqual(run([MOE, "--cli", "nccl", "-n", "5", "-w", "1", "-c", "1", *sized]).returncode, 0)
        done = run([MOE, "--cli", "nccl", "-b", "8", *sized])
        self.assertEqual(done.returncode, 64)
        self.assertIn("-b", done.stderr)


class PlanAsLines(unittest.TestCase):
    def test_mixtral_on_8_ranks_has_the_documented_lines(self):
        document = plan("--preset", "mixtral-8x7b", "--ranks", "8", "--skew", "balanced")
        self.assertTrue(document["schema"].startswith("dlmb.plan/2."))
        self.assertEqual(document["pattern"], "moe_alltoall")
        self.assertEqual(document["preset"], "mixtral-8x7b")
        self.assertEqual(document["world"]["ranks"], 8)
        self.assertEqual([entry["rank"] for entry in document["plans"]], list(range(8)))
        labels = [entry["label"] for entry in document["plans"][0]["steps"]]
        self.assertEqual(labels, ["count_exchange", "dispatch", "combine"])
        # balanced EP8, 4096 tokens: 8,388,608 B per peer, 67,108,864 B in all, self included
        dispatch = step(document, 0, "dispatch")
        self.assertEqual([block["bytes"] for block in dispatch["send"]], [8_388_608] * 8)
        # E int64 per rank, 64 B for Mixtral; bytes is the gathered size
        self.assertEqual(step(document, 0, "count_exchange")["bytes"], 64 * 8)

    def test_combine_is_the_transpose_of_dispatch_and_sends_meet_receives(self):
        document = plan("--preset", "deepseek-v3", "--ranks", "8", "--tokens", "256")
        sent = {(r, b["peer"]): b["bytes"] for r in range(8) for b in step(document, r, "dispatch")["send"]}
        received = {(b["peer"], r): b["bytes"] for r in range(8) for b in step(document, r, "dispatch")["recv"]}
        back = {(b["peer"], r): b["bytes"] for r in range(8) for b in step(document, r, "combine")["send"]}
        self.assertEqual(sent, received)
        self.assertEqual(sent, back)
        for rank in range(8):  # expanded, dropless: tokens x top-k rows of 2 x 7168 B
            self.assertEqual(sum(size for (source, _), size in sent.items() if source == rank), 256 * 8 * 14336)

    def test_the_same_seed_gives_the_same_text_and_another_seed_another(self):
        def text(seed):
            return run([MOE, "--plan", "jsonl", *SMALL, "--ranks", "4", "--seed", seed]).stdout

        self.assertEqual(text("5"), text("5"))
        self.assertNotEqual(text("5"), text("6"))

    def test_text_and_goal_are_printed_too(self):
        self.assertIn("dispatch", run([MOE, "--plan", "text", *SMALL, "--ranks", "4"]).stdout)
        self.assertTrue(run([MOE, "--plan", "goal", *SMALL, "--ranks", "4"]).stdout.startswith("num_ranks 4"))

    def test_plans_of_many_ranks_are_printed_in_the_memory_of_one(self):
        # All plans at once are 16384 groups of 16384 members of 4 B: 1 GiB. A sanitizer holds some 256 MiB of its own.
        command = [str(BIN / "dlmb_collective"), "--operation", "allreduce", "-m", "65536:65536", "--ranks", "16384", "--plan", "text"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            text = program.stdout.read()
            _, status, usage = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(program.returncode, 0)
        self.assertIn("ranks 0 to 16383", text)
        self.assertLess(usage.ru_maxrss, 700_000)  # KiB


if __name__ == "__main__":
    unittest.main()
