# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The whole chain over doubles that measure nothing: what is exported, what a kill costs, what a second run does, exit codes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import doubles

from dlmb_launch.autotune import tune_program

TUNE = Path(os.environ["DLMB_TUNE"])


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = doubles.make(Path(scratch.name), TUNE)
        cls.measured = cls.folder / "measured"
        cls.whole = cls.run_in(cls.measured, "--sizes", "2K:8K")

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(scratch.cleanup)
        self.output = Path(scratch.name) / "tuned"

    def begin_measured(self) -> None:
        """All is measured, and nothing verified: the files are made anew in another folder."""
        shutil.copytree(self.measured, self.output)

    @classmethod
    def environment(cls, **behaviour: str) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_MCA_"))}
        clean.pop("PYTHONDONTWRITEBYTECODE", None)
        compiled = {"PYTHONPYCACHEPREFIX": str(cls.folder / "compiled")}  # once for all runs
        return {**clean, **compiled, "PATH": f"{cls.folder / 'path'}:{os.environ['PATH']}", **behaviour}

    @classmethod
    def run_in(cls, output: Path, *more: str, **behaviour: str) -> subprocess.CompletedProcess:
        command, environment = cls.command_in(output, *more), cls.environment(**behaviour)
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    @classmethod
    def command_in(cls, output: Path, *more: str) -> list[str]:
        asked = ["--ranks", "2", "--operations", "allreduce", "--sizes", "4K:8K", "--budget", "5m", "--commutative", "-o", str(output)]
        return [sys.executable, "-m", "dlmb_launch", "autotune", "--build", str(cls.folder / "bin"), *asked, *more]

    def command(self, *more: str) -> list[str]:
        return self.command_in(self.output, *more)

    def tune(self, *more: str, **behaviour: str) -> subprocess.CompletedProcess:
        return self.run_in(self.output, *more, **behaviour)

    def tune_without(self, word: str, *more: str, **behaviour: str) -> subprocess.CompletedProcess:
        command = [each for each in self.command(*more) if each != word]
        return subprocess.run(command, env=self.environment(**behaviour), capture_output=True, text=True, timeout=300, check=False)

    def results(self) -> dict[str, bytes]:
        return {str(file.relative_to(self.output)): file.read_bytes() for file in self.output.glob("campaign/*/results/*.jsonl")}

    def assert_tuned(self, done: subprocess.CompletedProcess) -> None:
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rules = json.loads((self.output / "table.json").read_text(encoding="utf-8"))["rules"]
        chosen = [rule for rule in rules if rule["status"] == "chosen"]
        self.assertEqual([rule["choose"]["method"] for rule in chosen], ["algorithm:allreduce=ring"])
        self.assertEqual(chosen[0]["when"]["bytes"]["max"], 8192)
        self.assertGreater(chosen[0]["when"]["bytes"]["min"], 2048)
        self.assertGreaterEqual(chosen[0]["evidence"]["confirmed"], 6)
        self.assertIn("openmpi/env.sh", (self.output / "env.sh").read_text(encoding="utf-8"))
        shown = subprocess.run(["bash", "-c", f". {self.output}/env.sh && env"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(shown, r"OMPI_MCA_coll_tuned_dynamic_rules_filename=\S+/openmpi/dlmb_rules.conf")

    def test_a_faster_algorithm_becomes_a_file_and_a_report(self) -> None:
        self.output = self.measured
        self.assert_tuned(self.whole)
        self.assertIn("plain allreduce: 1.33 times as fast at the 2 sizes that the files change", self.whole.stdout)
        report = (self.output / "report.md").read_text(encoding="utf-8")
        self.assertRegex(report, r"\| 4096 \| 1\.00 \| 0\.75 \| 1\.33 \|")
        self.assertIn("| allreduce | 2048 |", report)

    def test_a_load_is_beside_every_launch_and_the_table_and_the_report_say_so(self) -> None:
        done = self.tune("--beside", "memory", "--", "--of-launcher")
        self.assert_tuned(done)
        self.assertIn("--beside memory", done.stdout)
        self.assertIn("--beside memory", (self.output / "report.md").read_text(encoding="utf-8"))
        found = [json.loads(line) for text in self.results().values() for line in text.splitlines()]
        self.assertEqual({entry["beside"] for entry in found if entry["kind"] == "cell"}, {"memory"})
        plain = [file.read_text(encoding="utf-8").splitlines()[0] for file in self.output.glob("campaign/plain/*/*.txt")]
        self.assertEqual(set(plain), {"beside memory"})
        self.assertEqual(json.loads((self.output / "table.json").read_text(encoding="utf-8"))["policy"]["beside"], "memory")
        self.assertIn("# This was measured beside a load on each rank (--beside memory).", (self.output / "openmpi" / "dlmb_rules.conf").read_text(encoding="utf-8"))
        (verified,) = self.output.glob("campaign/verify/*.json")
        self.assertIn("/mpirun --mpiexec=--of-launcher --ranks 2", json.loads(verified.read_text(encoding="utf-8"))["lines"][0])
        without = self.tune()
        self.assertEqual(without.returncode, 64, without.stdout + without.stderr)
        self.assertIn("was measured with beside 'memory', not 'none'", without.stderr)

    def traffic(self) -> tuple[Path, str]:
        """A plan, and what it is called."""
        plan = self.folder / "moe.jsonl"
        plan.write_text("a plan\n", encoding="utf-8")
        return plan, f"traffic:moe.jsonl@{hashlib.sha256(plan.read_bytes()).hexdigest()[:12]}"

    def test_the_traffic_of_a_plan_is_beside_all_launches_and_the_table_and_the_report_say_which(self) -> None:
        plan, name = self.traffic()
        done = self.tune("--beside", str(plan))
        self.assert_tuned(done)
        log = (self.output / "campaign" / "traffic.log").read_text(encoding="utf-8")
        self.assertEqual(log.count("--plan"), 1, "one launch, from the first to the last")
        self.assertIn(f"--plan {plan} --backend mpi", log)
        with self.assertRaises(ProcessLookupError, msg="it ends with the tuning"):
            os.kill(int((self.output / "campaign" / "traffic.jsonl").read_text(encoding="utf-8")), 0)
        self.assertIn(f"beside the traffic of {plan} (--beside {name})", (self.output / "report.md").read_text(encoding="utf-8"))
        found = [json.loads(line) for text in self.results().values() for line in text.splitlines()]
        self.assertEqual({entry["beside"] for entry in found if entry["kind"] == "cell"}, {name})
        self.assertEqual(json.loads((self.output / "table.json").read_text(encoding="utf-8"))["policy"]["beside"], name)
        self.assertIn(f"# This was measured beside other traffic (--beside {name}).", (self.output / "openmpi" / "dlmb_rules.conf").read_text(encoding="utf-8"))
        plan.write_text("another plan\n", encoding="utf-8")
        other = self.tune("--beside", str(plan))
        self.assertEqual(other.returncode, 64, other.stdout + other.stderr)
        self.assertIn(f"was measured with beside '{name}', not 'traffic:moe.jsonl@", other.stderr)

    def test_a_launch_whose_traffic_ended_does_not_count(self) -> None:
        plan, _ = self.traffic()
        done = self.tune("--beside", str(plan), DOUBLE_TRAFFIC="3", DOUBLE_SECONDS="0.3")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(f"the traffic of {plan} has ended", done.stderr)
        states = [json.loads(file.read_text(encoding="utf-8"))["state"] for file in self.output.glob("campaign/*/state/*/*.json")]
        self.assertEqual(states.count("interrupted"), 1, states)
        self.assertEqual(len(self.results()), len(states) - 1)
        self.assert_tuned(self.tune("--beside", str(plan)))

    def test_traffic_that_does_not_begin_ends_it_with_its_reason(self) -> None:
        plan, _ = self.traffic()
        done = self.tune("--beside", str(plan), DOUBLE_TRAFFIC="fail")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("dlmb_replay: error: it is of 4 ranks", done.stderr)
        self.assertEqual(self.results(), {})

    def test_what_cannot_win_is_measured_no_more(self) -> None:
        self.output = self.measured
        seen = {method: 0 for method in doubles.METHODS}
        for name, text in self.results().items():
            if "-search" in name:
                for line in text.splitlines():
                    entry = json.loads(line)
                    if entry["kind"] == "cell" and entry["parameters"]["message-size"] == 8192:
                        seen[entry["method"]] += 1
        self.assertEqual(seen["algorithm:allreduce=broken"], 0, "it failed when it was asked for")
        self.assertLessEqual(seen["algorithm:allreduce=basic_linear"], 3)
        self.assertEqual(seen["algorithm:allreduce=ring"], 8)
        self.assertEqual(seen["persistent"], 0)

    def test_a_second_run_launches_nothing_again(self) -> None:
        self.output = self.measured
        before = self.results()
        again = self.tune()
        self.assert_tuned(again)
        self.assertEqual(before, self.results())
        self.assertNotIn("search", again.stdout.replace("search and", ""))
        self.assertNotIn("verifying", again.stdout)

    def test_a_kill_at_any_moment_loses_nothing(self) -> None:
        seen: dict[str, bytes] = {}
        for moment in ("001-survey", "003-search", "006-search", "-confirm", "verifying", "plain allreduce, round 2"):
            with subprocess.Popen(
                self.command(), env=self.environment(DOUBLE_SECONDS="0.05"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            ) as child:
                for line in child.stdout:
                    if moment in line:
                        break
                child.send_signal(signal.SIGKILL)
            for name, text in seen.items():
                self.assertEqual(self.results()[name], text, f"{name} was measured again after the kill in {moment}")
            seen = {name: text for name, text in self.results().items() if self.is_done(name)}
        self.assert_tuned(self.tune())
        self.assertGreater(len(seen), 10)

    def is_done(self, name: str) -> bool:
        state = self.output / Path(name.replace("/results/", "/state/results/")).with_suffix(".json")
        return json.loads(state.read_text(encoding="utf-8"))["state"] == "done"

    def test_an_interruption_is_told_and_goes_on(self) -> None:
        with subprocess.Popen(
            self.command(), env=self.environment(DOUBLE_SECONDS="0.2"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as child:
            while "-search" not in child.stdout.readline():
                pass
            child.send_signal(signal.SIGTERM)
            rest = child.stdout.read()
        self.assertEqual(child.returncode, 128 + signal.SIGTERM, rest)
        self.assertIn("the same command goes on", rest)
        self.assert_tuned(self.tune())

    def assert_sets_nothing(self, why: str) -> None:
        """Scripts source env.sh whatever came out."""
        sourced = subprocess.run(["sh", "-euc", f"before=$(env); . {self.output}/env.sh; test \"$before\" = \"$(env)\""], capture_output=True, text=True, check=False)
        self.assertEqual(sourced.returncode, 0, sourced.stderr)
        self.assertIn(why, (self.output / "env.sh").read_text(encoding="utf-8"))

    def test_where_nothing_is_faster_nothing_is_exported(self) -> None:
        done = self.tune(DOUBLE_BEHAVIOUR="equal")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("nothing that its files can hold was shown to be faster", done.stdout)
        self.assert_sets_nothing("nothing that files can hold was shown to be faster")
        self.assertFalse((self.output / "openmpi").exists())

    def test_files_that_are_wrong_are_not_put_into_effect(self) -> None:
        self.begin_measured()
        done = self.tune(DOUBLE_VERIFY="1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG", done.stdout)
        self.assert_sets_nothing("not seen to act")

    def test_a_rule_without_which_a_plain_program_is_faster_is_withdrawn(self) -> None:
        self.begin_measured()
        done = self.tune(DOUBLE_PLAIN="1200")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("withdrawn, because a plain program is not faster with it: algorithm:allreduce=ring at ", done.stdout)
        self.assert_sets_nothing("nothing that files can hold was shown to be faster")
        self.assertNotIn('"chosen"', (self.output / "table.json").read_text(encoding="utf-8"))

    def test_what_could_not_be_seen_is_not_called_verified(self) -> None:
        self.begin_measured()
        done = self.tune(DOUBLE_VERIFY="77")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("not all of it could be seen", done.stdout)
        self.assertTrue((self.output / "env.sh").exists())
        self.assert_tuned(self.tune())  # looks again

    def test_files_whose_verification_failed_are_not_put_into_effect_and_are_verified_again(self) -> None:
        self.begin_measured()
        done = self.tune(DOUBLE_VERIFY="70")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("the verification returned 70; the files are not in env.sh", done.stdout)
        self.assertNotIn("to use it", done.stdout)
        self.assert_sets_nothing("not seen to act")
        self.assert_tuned(self.tune())

    def test_under_the_files_of_a_tuning_no_other_one_starts(self) -> None:
        command = ["bash", "-c", f'. {self.measured}/env.sh && exec "$@"', "bash", *self.command()]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"\Adlmb_autotune: .*: unset OMPI_MCA_coll_tuned_dynamic_rules_filename\n\Z")
        self.assertFalse(self.output.exists())

    def test_a_budget_that_ends_says_what_is_open_and_a_larger_one_goes_on(self) -> None:
        spent = self.output / "campaign" / "spent.json"
        spent.parent.mkdir(parents=True)
        spent.write_text('{"spent_s": 4.5}', encoding="utf-8")
        done = self.tune("--budget", "10s", DOUBLE_SECONDS="0.5")
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        self.assertTrue(re.search(r"undecided: |not measured: |nothing can be decided", done.stdout + done.stderr), done.stdout + done.stderr)
        self.assert_tuned(self.tune())

    def test_launches_that_fail_end_it_with_a_line(self) -> None:
        done = self.tune(DOUBLE_BEHAVIOUR="fail")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("measured nothing", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_dry_run_launches_and_writes_nothing(self) -> None:
        done = self.tune("--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("openmpi: allreduce, 2 sizes from 4 KiB to 8 KiB, about 3 methods", done.stdout)
        self.assertFalse(self.output.exists())

    def test_options_behind_two_dashes_are_the_launchers(self) -> None:
        done = self.tune("--dry-run", "--", "--mca", "btl", "self")
        self.assertIn("--mca btl self PROGRAM", done.stdout)

    def test_rings_of_open_mpi_become_no_file_unless_all_operations_commute(self) -> None:
        self.begin_measured()
        done = self.tune_without("--commutative", "--sizes", "2K:8K")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        reason = "(ring is wrong for operations that do not commute; give --commutative"
        self.assertEqual(done.stdout.count(f"openmpi: not exported: algorithm:allreduce=ring at 2 sizes from 4 KiB to 8 KiB {reason}"), 1, done.stdout)
        self.assert_sets_nothing("nothing that files can hold was shown to be faster")
        report = (self.output / "report.md").read_text(encoding="utf-8")
        self.assertIn(reason, report)
        self.assertIn("Nothing for openmpi.", report)

    def test_rings_that_become_no_file_are_not_called_slower_where_other_algorithms_become_one(self) -> None:
        done = self.tune_without("--commutative", "--sizes", "2K:8K", DOUBLE_BEHAVIOUR="linear")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("openmpi: not exported: algorithm:allreduce=ring at 2 sizes from 4 KiB to 8 KiB (ring is wrong", done.stdout)
        self.assertIn("openmpi: 1 rules (1 of allreduce)", done.stdout)
        self.assertNotIn("withdrawn", done.stdout)

    def test_another_request_does_not_mix_with_what_is_there(self) -> None:
        self.begin_measured()
        done = self.tune("--timing", "isolated")
        self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
        self.assertIn("was measured with timing 'stream'", done.stderr)

    def test_what_cannot_be_tuned_here_is_said(self) -> None:
        for consumer, reason in (("ucx", "no UCX in this double"), ("mpich", "were built with Open MPI v4.1.4")):
            options = ["--for", consumer, "--operations", "sendrecv" if consumer == "ucx" else "allreduce"]
            done = self.tune_without("--commutative", *options)
            self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
            self.assertIn(reason, done.stdout)

    def test_usage_errors_are_one_line(self) -> None:
        for more, says in (
            (["--budget", "soon"], "--budget: 'soon'"),
            (["--sizes", "8:x"], "--sizes: '8:x'"),
            (["--operations", "allreduce,nothing"], "'nothing'"),
            (["--for", "nobody"], "'nobody'"),
            (["--for", "mpich"], "--commutative: no export but openmpi depends on it; leave it out"),
            (["--ranks", "1"], "--ranks 1"),
            (["--beside", "disk"], "--beside"),
            (["--workload", "nothing:none"], "--workload nothing:none"),
            (["--build", "/nonexistent"], "no DLMB programs here"),
        ):
            with self.subTest(says):
                if more[0] == "--workload":
                    command = [word for word in self.command(*more) if word not in ("--sizes", "4K:8K")]
                else:
                    command = self.command(*more)
                done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Deciding(unittest.TestCase):
    def test_a_dlmb_tune_that_does_not_run_or_not_end_is_named_with_its_command(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = Path(scratch.name)
        program = folder / "dlmb_tune"
        program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
        for mode, says in ((0o644, "Permission denied"), (0o755, "it did not end in 0.1 s")):
            program.chmod(mode)
            with self.subTest(says), mock.patch.object(tune_program, "_SECONDS", 0.1):
                with self.assertRaisesRegex(tune_program.TuneFailed, f"{says}: {program} export --to openmpi"):
                    tune_program.TuneProgram(folder, {}).export("openmpi", folder / "table.json", folder)


if __name__ == "__main__":
    unittest.main()
